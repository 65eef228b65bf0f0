"""The training loss with its gradient in place on a GPU: kernel time by timestamp queries, beside a copy of as much.

`python -m tests.bench.gpu` times every cell of the table under several workgroup sizes, checks each against float64,
and prints medians. Buffers are rotated so that no launch finds its rows in the cache; the clock is warmed before each
cell.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilec import driver
from tilec.options import Limits, Options
from tilec.runtime.adapters import load_wgpu
from tilec.runtime.compute import Device
from tilec.runtime.device import device
from tilec.runtime.memory import Buffer, Pipeline
from tilec.types import DTYPES
from tilec.wgsl.layout import dispatch_bindings, fold, pack_uniforms

ROOT = Path(__file__).resolve().parents[2]
SHAPES = ((8192, 512), (8192, 2048), (8192, 32768), (8192, 50257), (4000, 131072), (2000, 262144), (4, 262144))
ROTATED_BYTES = 256 << 20
COPY = """
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<f32>>;
@compute @workgroup_size(256)
fn copy(
  @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32,
  @builtin(num_workgroups) n: vec3<u32>
) {
  let size = arrayLength(&target_);
  let stride = n.x * 256u;
  for (var at = group.x * 256u + i; at < size; at += stride) {
    target_[at] = source[at];
  }
}
"""


@dataclass
class Step:
    pipeline: Pipeline
    group: Any
    grid: tuple[int, int, int]


class Timer:
    """Times dispatches by the timestamps of one compute pass over many of them."""

    def __init__(self, opened: Device) -> None:
        self.device = opened
        self.wgpu = load_wgpu()
        handle = opened.handle
        self.queries = handle.create_query_set(type="timestamp", count=2)
        usage = self.wgpu.BufferUsage
        self.resolved = handle.create_buffer(size=16, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    def once(self, launches: list[list[Step]]) -> float:
        """Milliseconds a launch, over one pass that holds them all."""
        handle = self.device.handle
        encoder = handle.create_command_encoder()
        writes = {"query_set": self.queries, "beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
        work = encoder.begin_compute_pass(timestamp_writes=writes)
        for launch in launches:
            for step in launch:
                work.set_pipeline(step.pipeline.handle)
                work.set_bind_group(0, step.group)
                work.dispatch_workgroups(*step.grid)
        work.end()
        encoder.resolve_query_set(self.queries, 0, 2, self.resolved, 0)
        handle.queue.submit([encoder.finish()])
        begin, end = np.frombuffer(handle.queue.read_buffer(self.resolved), np.uint64)
        return float(end - begin) * 1e-6 / len(launches)

    def median(self, launches: list[list[Step]], seconds: float = 0.4) -> float:
        rounds = launches * max(1, 64 // len(launches))
        end = time.perf_counter() + 0.25
        while time.perf_counter() < end:
            self.once(rounds)
        samples: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(samples) < 5:
            samples.append(self.once(rounds))
        return statistics.median(samples)


def bind(opened: Device, pipeline: Pipeline, buffers: list[Buffer | None]) -> Any:
    entries = [
        {"binding": number, "resource": {"buffer": buffer.handle, "offset": 0, "size": buffer.size}}
        for number, buffer in enumerate(buffers)
        if buffer is not None
    ]
    return opened.handle.create_bind_group(layout=pipeline.layout, entries=entries)


def storage(dtype: str) -> np.dtype:
    if dtype == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f32": np.float32, "f16": np.float16}[dtype])


def expected(x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype(np.float64)
    peak = wide.max(1, keepdims=True)
    e = np.exp(wide - peak)
    total = e.sum(1, keepdims=True)
    rows = np.arange(len(t))
    loss = (peak + np.log(total))[:, 0] - wide[rows, t]
    gradient = e / total
    gradient[rows, t] -= 1.0
    return loss, gradient


class Cell:
    """One shape and dtype: inputs on the device, in as many copies as outrun the cache."""

    def __init__(self, opened: Device, timer: Timer, rows: int, columns: int, dtype: str) -> None:
        self.device, self.timer = opened, timer
        self.rows, self.columns, self.dtype = rows, columns, dtype
        rng = np.random.default_rng(rows + columns)
        few = min(rows, 64)
        self.sample = (rng.standard_normal((few, columns)) * 3.0).astype(storage(dtype))
        self.nbytes = rows * columns * self.sample.itemsize
        self.targets = rng.integers(0, columns, rows).astype(np.int32)
        self.copies = max(1, min(64, -(-ROTATED_BYTES // self.nbytes)))
        self.logits = [opened.create_buffer(self.nbytes) for _ in range(self.copies)]
        self.target = opened.create_buffer(4 * rows)
        opened.write(self.target, self.targets.tobytes())
        self.loss = opened.create_buffer(4 * rows)

    def fill(self) -> None:
        raw = self.sample.tobytes()
        for start in range(0, self.nbytes, len(raw)):
            self.device.write(self.logits[0], raw[: self.nbytes - start], start)

    def free(self) -> None:
        for buffer in (*self.logits, self.target, self.loss):
            buffer.free()

    def copy_ms(self) -> float:
        """The time to read and write as many bytes as the logits have, from one buffer to another."""
        pipeline = self.device.compute_pipeline(COPY, "copy", ("read", "read_write"))
        other = self.device.create_buffer(self.nbytes)
        groups = min(65535, max(1, self.nbytes // 4096))
        size = (groups, 1, 1)
        launches = [[Step(pipeline, bind(self.device, pipeline, [each, other]), size)] for each in self.logits]
        result = self.timer.median(launches)
        other.free()
        return result

    def tilec_ms(self, threads: int | None, invocations: int, alpha: float = 0.0) -> tuple[float, float, int]:
        """Median milliseconds, worst error against float64 relative to the bound of the dtype, and dispatches."""
        program = driver.parse_file(ROOT / "examples" / "train_loss.ph").program
        dims = {"M": self.rows, "V": self.columns}
        options = Options(threads=threads, limits=Limits(invocations=invocations), features=())
        compiled = driver.compile_kernel(program, "train_loss", {"T": DTYPES[self.dtype]}, {}, dims, options)
        scalars = {"alpha": alpha, "beta": 0.0, "inv_norm": 1.0, "ignore_index": -100}
        integers = {**dims, "ignore_index": -100}
        uniform = self.device.create_buffer(256, uniform=True)
        self.device.write(uniform, pack_uniforms(compiled.program, integers, scalars))
        words = compiled.program.scratch_words.evaluate(integers)
        scratch = self.device.create_buffer(4 * words)
        launches = [self._steps(compiled, uniform, scratch, each, integers) for each in self.logits]
        self.fill()
        self.timer.once(launches[:1])
        error = self._error()
        time_ms = self.timer.median(launches)
        uniform.free()
        scratch.free()
        return time_ms, error, len(compiled.program.dispatches)

    def _steps(self, compiled: Any, uniform: Buffer, scratch: Buffer, logits: Buffer, integers: dict) -> list[Step]:
        held = {"Logits": logits, "Target": self.target, "Loss": self.loss, None: scratch}
        steps: list[Step] = []
        for dispatch, entry in zip(compiled.program.dispatches, compiled.emitted.entries, strict=True):
            kinds: list[Any] = []
            buffers: list[Buffer | None] = []
            for binding in dispatch_bindings(compiled.program, dispatch):
                while len(kinds) < binding.number:
                    kinds.append(None)
                    buffers.append(None)
                kinds.append(binding.kind)
                buffers.append(uniform if binding.kind == "uniform" else held[binding.tensor])
            pipeline = self.device.compute_pipeline(compiled.wgsl, entry, tuple(kinds))
            grid = fold(dispatch.workgroups.evaluate(integers))
            steps.append(Step(pipeline, bind(self.device, pipeline, buffers), grid))
        return steps

    def _error(self) -> float:
        few = len(self.sample)
        loss, gradient = expected(self.sample, self.targets[:few])
        got = np.frombuffer(self.device.read(self.loss, 4 * few), np.float32)
        raw = np.frombuffer(self.device.read(self.logits[0], self.sample.nbytes), self.sample.dtype)
        worst = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}[self.dtype]
        errors = np.abs(raw.reshape(self.sample.shape).astype(np.float64) - gradient)
        return float(max(errors.max() / worst, np.abs(got - loss).max() / 2e-5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default=None)
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--threads", default="256,512,1024", help="workgroup sizes to try; 0: the plan's own")
    parser.add_argument("--shapes", default="", help="such as 8192x512,4x262144")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    shapes = [tuple(map(int, s.split("x"))) for s in arguments.shapes.split(",") if s] or SHAPES
    opened = device(arguments.device, limits={"max-compute-invocations-per-workgroup": 1024,
                                              "max-compute-workgroup-size-x": 1024,
                                              "max-compute-workgroup-storage-size": 32768})  # fmt: skip
    timer = Timer(opened)
    print(f"device {opened.info}", flush=True)
    rows: list[dict[str, Any]] = []
    for m, v in shapes:
        for dtype in arguments.dtypes.split(","):
            cell = Cell(opened, timer, m, v, dtype)
            copy = cell.copy_ms()
            found: dict[str, Any] = {"rows": m, "columns": v, "dtype": dtype, "copy": copy}
            for threads in map(int, arguments.threads.split(",")):
                try:
                    ms, error, dispatches = cell.tilec_ms(threads or None, 1024)
                    found[f"t{threads}"] = ms
                    found[f"error{threads}"] = error
                    found["dispatches"] = dispatches
                except Exception as problem:  # a cell that fails must not lose the others
                    found[f"problem{threads}"] = repr(problem)[:300]
            cell.free()
            rows.append(found)
            texts = (f"{k}={x:.4f}" if isinstance(x, float) else f"{k}={x}" for k, x in found.items())
            print(" ".join(texts), flush=True)
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
