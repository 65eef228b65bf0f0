"""tilec on a GPU: kernel time by timestamp queries, beside a copy of as much, each result checked against float64.

`python -m tests.bench.gpu` times the training loss with its gradient in place under several workgroup sizes;
`--topic forward` other kernels. Buffers are rotated so that no launch finds its rows in the cache; the clock is warmed
before each cell.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.cases import FORWARD, ROOT, SAMPLE_ROWS, Case, storage, train_error, worst_error
from tests.bench.measure import Row, Table, print_table
from tilec import driver
from tilec.options import Options
from tilec.runtime.compute import Device
from tilec.runtime.device import device
from tilec.runtime.launch import options_for
from tilec.runtime.memory import Buffer, Launch
from tilec.runtime.prepared import Prepared
from tilec.runtime.timing import Timer, copy_launch
from tilec.runtime.workload import Workload
from tilec.types import DTYPES

SHAPES = ((8192, 512), (8192, 2048), (8192, 32768), (8192, 50257), (4000, 131072), (2000, 262144), (4, 262144))
GOALS_MS = {
    (8192, 512): (0.0075, 0.0055, 0.0060), (8192, 2048): (0.038, 0.0155, 0.018), (8192, 32768): (0.53, 0.30, 0.32),
    (8192, 50257): (0.85, 0.50, 0.55), (4000, 131072): (1.26, 0.62, 0.66), (2000, 262144): (1.40, 0.69, 0.72),
    (4, 262144): (0.02, 0.02, 0.02),
}  # fmt: skip
"""For f32, f16 and bf16, on an NVIDIA H200."""
SHARE_GOALS = {"sum_losses": 0.85, "batch_loss": 0.85}
SHARE_GOAL = 0.90
"""What share of the bandwidth of a copy, or of a read-only sweep for the kernels that hardly write, by kernel."""
READERS = ("mse_rows", "kl_rows", "bce_rows", "sum_losses")
WEIGHTS = (0.1, 1e-4)
"""alpha and beta where they are not 0."""
ROTATED_BYTES = 256 << 20
READ = """
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(256)
fn sweep(
  @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32,
  @builtin(num_workgroups) groups: vec3<u32>
) {
  let size = arrayLength(&source);
  let stride = groups.x * 256u;
  var all = vec4<u32>();
  for (var at = group.x * 256u + i; at < size; at += stride) {
    all |= source[at];
  }
  if ((all.x & all.y & all.z & all.w) == 0x12345678u) {
    found[0] = i;
  }
}
"""


def open_gpu(name: str | None) -> Device:
    """The device with the limits that a GPU's plans use."""
    wanted = {
        "max-compute-invocations-per-workgroup": 1024,
        "max-compute-workgroup-size-x": 1024,
        "max-compute-workgroup-storage-size": 32768,
    }
    return device(int(name) if name is not None and name.isdecimal() else name, limits=wanted)


class Memory:
    """What moving bytes takes: by a copy that reads half and writes half of them, and by a sweep that only reads."""

    def __init__(self, opened: Device, timer: Timer) -> None:
        self.device, self.timer = opened, timer

    def copy_ms(self, nbytes: int) -> float:
        """Milliseconds to read and write `nbytes` each."""
        bound = self._bound(nbytes)
        pairs = [tuple(self.device.create_buffer(bound) for _ in "ab") for _ in range(_sets(2 * bound))]
        seconds = self.timer.median([[copy_launch(self.device, *pair)] for pair in pairs])
        _free([buffer for pair in pairs for buffer in pair])
        return 1e3 * seconds * nbytes / bound

    def read_ms(self, nbytes: int) -> float:
        """Milliseconds to read `nbytes`."""
        bound = self._bound(nbytes)
        found, buffers = self.device.create_buffer(4), [self.device.create_buffer(bound) for _ in range(_sets(bound))]
        pipeline = self.device.compute_pipeline(READ, "sweep", ("read", "read_write"))
        groups = (min(65535, max(1, bound // 16384)), 1, 1)
        seconds = self.timer.median([[Launch(pipeline, (buffer, found), groups)] for buffer in buffers])
        _free([found, *buffers])
        return 1e3 * seconds * nbytes / bound

    def _bound(self, nbytes: int) -> int:
        """As many bytes as one binding may have: more take as long in proportion."""
        limits = self.device.limits
        most = min(limits["max-storage-buffer-binding-size"], limits["max-buffer-size"]) // 16 * 16
        return min(max(16, nbytes), most)


def _sets(nbytes: int) -> int:
    return max(1, min(64, -(-ROTATED_BYTES // nbytes)))


def _free(buffers: list[Buffer]) -> None:
    for buffer in buffers:
        buffer.free()


class Cell:
    """The training loss of one shape and dtype: inputs on the device, in as many copies as outrun the cache."""

    def __init__(self, opened: Device, timer: Timer, rows: int, columns: int, dtype: str) -> None:
        self.device, self.timer = opened, timer
        self.rows, self.columns, self.dtype = rows, columns, dtype
        rng = np.random.default_rng(rows + columns)
        few = min(rows, SAMPLE_ROWS)
        self.sample = (rng.standard_normal((few, columns)) * 3.0).astype(storage(dtype))
        self.targets = rng.integers(0, columns, rows).astype(np.int32)
        program = driver.parse_file(ROOT / "examples" / "train_loss.ph").program
        self.kernel = driver.build_kernel(program, "train_loss", {"T": DTYPES[dtype]}).kernel
        self.dims = {"M": rows, "V": columns}
        self.nbytes = rows * columns * self.sample.itemsize
        self.workload = Workload(opened, self.kernel, self.dims, {"Logits": self.sample, "Target": self.targets})

    def free(self) -> None:
        self.workload.free()

    def prepare(self, compiled: driver.Compiled, alpha: float = 0.0, beta: float = 0.0) -> Prepared:
        scalars = {"alpha": alpha, "beta": beta, "inv_norm": 1.0, "ignore_index": -100}
        return Prepared(compiled, self.device, self.dims, scalars)

    def tilec_ms(self, options: Options, alpha: float = 0.0, beta: float = 0.0) -> tuple[float, float, int]:
        """Median milliseconds, worst error over the bound, and dispatches."""
        compiled = driver.compile_built(self.kernel, self.dims, options)
        prepared = self.prepare(compiled, alpha, beta)
        results = self.workload.results(prepared, self.sample.nbytes)
        few = len(self.sample)
        gradient = results["Logits"][: self.sample.size]
        error = train_error(results["Loss"][:few], gradient, self.sample, self.targets[:few], alpha, beta, self.dtype)
        self.workload.restore()
        return 1e3 * self.timer.median(self.workload.launches(prepared)), error, len(compiled.program.dispatches)

    def whole_ms(self, options: Options, launches: int = 64) -> float:
        """Milliseconds of a prepared launch with all that the host does for it, many in a row."""
        compiled = driver.compile_built(self.kernel, self.dims, options)
        return whole_ms(self.workload, self.prepare(compiled), launches)


def whole_ms(workload: Workload, prepared: Prepared, launches: int = 64) -> float:
    """Milliseconds of a prepared launch with all that the host does for it, many in a row."""
    samples = []
    for _ in range(5):
        workload.device.synchronize()
        start = time.perf_counter()
        for number in range(launches):
            prepared.run(workload.sets[number % len(workload.sets)])
        workload.device.synchronize()
        samples.append(1e3 * (time.perf_counter() - start) / launches)
    return statistics.median(samples)


def thread_options(opened: Device, threads: Sequence[int]) -> list[Options]:
    """The device's options with workgroups of each size; 0 is the plan's own."""
    return [replace(options_for(opened), threads=one or None) for one in threads]


def training(opened: Device, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Every cell of the table; a cell that fails must not lose the others."""
    timer = Timer(opened)
    memory = Memory(opened, timer)
    shapes = [tuple(map(int, s.split("x"))) for s in arguments.shapes.split(",") if s] or SHAPES
    rows: list[dict[str, Any]] = []
    for m, v in shapes:
        for dtype in arguments.dtypes.split(","):
            cell = Cell(opened, timer, m, v, dtype)
            found: dict[str, Any] = {"rows": m, "columns": v, "dtype": dtype, "copy": memory.copy_ms(cell.nbytes)}
            for threads in map(int, arguments.threads.split(",")):
                options = replace(options_for(opened), threads=threads or None)
                try:
                    ms, error, dispatches = cell.tilec_ms(options)
                    found |= {f"t{threads}": ms, f"error{threads}": error, "dispatches": dispatches}
                    if arguments.weights:
                        ms, error, _ = cell.tilec_ms(options, *WEIGHTS)
                        found |= {f"weighted{threads}": ms, f"weighted_error{threads}": error}
                except Exception as problem:
                    found[f"problem{threads}"] = repr(problem)[:300]
            cell.free()
            rows.append(_show(found))
    return rows


def forward(opened: Device, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Other kernels, against what their ideal bytes take in a copy and in a sweep that only reads."""
    timer = Timer(opened)
    memory = Memory(opened, timer)
    only = arguments.kernels.split(",") if arguments.kernels else None
    given = [tuple(map(int, s.split("x"))) for s in arguments.shapes.split(",") if s]
    rows: list[dict[str, Any]] = []
    for case in FORWARD:
        if only is not None and case.kernel not in only:
            continue
        for m, v in given or case.shapes:
            for dtype in [one for one in arguments.dtypes.split(",") if one in case.dtypes]:
                cell = ForwardCell(opened, timer, case, m, v, dtype)
                threads = [int(one) for one in arguments.threads.split(",")]
                rows.append(_show(forward_row(cell, memory, m, v, threads)))
                cell.workload.free()
    return rows


class ForwardCell:
    """One kernel at one size and type: its tensors on the device."""

    def __init__(self, opened: Device, timer: Timer, case: Case, rows: int, columns: int, dtype: str) -> None:
        self.device, self.timer, self.case, self.dtype = opened, timer, case, dtype
        self.kernel, self.dims = case.build(dtype), case.dims(rows, columns)
        sample = case.sample(rows, columns, dtype)
        self.expected = case.expected(sample, rows)
        self.workload = Workload(opened, self.kernel, self.dims, sample)

    def ideal_bytes(self) -> int:
        cost = driver.explain(self.kernel, self.dims, options_for(self.device)).cost
        assert cost is not None
        return cost.ideal_bytes

    def prepare(self, options: Options) -> Prepared:
        return Prepared(driver.compile_built(self.kernel, self.dims, options), self.device, self.dims, {})

    def tilec_ms(self, prepared: Prepared) -> tuple[float, float]:
        """Median milliseconds, and the worst error over the bound."""
        error = worst_error(self.workload.results(prepared), self.expected, self.dtype)
        self.workload.restore()
        return 1e3 * self.timer.median(self.workload.launches(prepared)), error


def forward_row(
    cell: ForwardCell, memory: Memory, rows: int, columns: int, threads: Sequence[int]
) -> dict[str, Any]:
    """The line of a cell; a workgroup size that fails must not lose the others."""
    ideal = cell.ideal_bytes()
    found: dict[str, Any] = {"kernel": cell.case.kernel, "rows": rows, "columns": columns, "dtype": cell.dtype}
    found |= {"ideal_bytes": ideal, "copy": memory.copy_ms(ideal // 2), "read": memory.read_ms(ideal)}
    times: list[float] = []
    for count, options in zip(threads, thread_options(cell.device, threads), strict=True):
        try:
            ms, error = cell.tilec_ms(cell.prepare(options))
            found |= {f"t{count}": ms, f"error{count}": error}
            times.append(ms)
        except Exception as problem:
            found[f"problem{count}"] = repr(problem)[:300]
    if times:
        found |= {"of_copy": found["copy"] / min(times), "of_read": found["read"] / min(times)}
    return found


def best_forward(
    opened: Device, timer: Timer, case: Case, rows: int, columns: int, dtype: str, threads: Sequence[int]
) -> dict[str, Any]:
    """The best of the workgroup sizes: kernel and whole time, and the error."""
    cell = ForwardCell(opened, timer, case, rows, columns, dtype)
    found = []
    try:
        for options in thread_options(opened, threads):
            prepared = cell.prepare(options)
            found.append((*cell.tilec_ms(prepared), whole_ms(cell.workload, prepared)))
    finally:
        cell.workload.free()
    ms, error, whole = min(found)
    return {"tilec kernel ms": ms, "tilec whole ms": whole, "tilec error": error}


def training_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The best of each cell beside the copy, and how it stands to its goal."""
    lines: list[Row] = []
    goals: list[tuple[str, bool, str]] = []
    for row in rows:
        size = f"{row['rows']} x {row['columns']} {row['dtype']}"
        times = [value for name, value in row.items() if name[:1] == "t" and name[1:].isdecimal()]
        best = min(times, default=None)
        line = {name: row[name] for name in ("rows", "columns", "dtype", "copy")}
        lines.append(line | {"tilec": best, "of copy": best and row["copy"] / best, "check": _check(row)})
        wanted = GOALS_MS.get((row["rows"], row["columns"]))
        if wanted is not None and best is not None:
            goal = wanted[("f32", "f16", "bf16").index(row["dtype"])]
            goals.append((f"{size} in {goal:g} ms", best <= goal, f"{best:.4f} ms"))
    return Table("the training loss with its gradient in place, milliseconds", lines, goals)


def forward_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The best of each kernel, and its share of the bandwidth of a copy and of a read-only sweep."""
    lines: list[Row] = []
    goals: list[tuple[str, bool, str]] = []
    for row in rows:
        shown = ("kernel", "rows", "columns", "dtype", "copy", "read", "of_copy", "of_read")
        lines.append({name: row.get(name) for name in shown} | {"check": _check(row)})
        if "of_copy" in row:
            goal = SHARE_GOALS.get(row["kernel"], SHARE_GOAL)
            of = "of_read" if row["kernel"] in READERS else "of_copy"
            share = row[of]
            size = f"{row['rows']} x {row['columns']} {row['dtype']}"
            what = f"{row['kernel']} {size} at {goal:g} of the bandwidth of a {of.removeprefix('of_')}"
            goals.append((what, share >= goal, f"{share:.2f}"))
    return Table("forward kernels: share of the bandwidth that their bytes need", lines, goals)


def _check(row: dict[str, Any]) -> str:
    problems = [value for name, value in row.items() if name.startswith("problem")]
    errors = [value for name, value in row.items() if "error" in name]
    if problems:
        return f"FAILED {problems[0]}"
    return "ok" if all(error <= 1.0 for error in errors) else f"WRONG {errors}"


def _show(found: dict[str, Any]) -> dict[str, Any]:
    texts = (f"{k}={x:.4f}" if isinstance(x, float) else f"{k}={x}" for k, x in found.items())
    print(" ".join(texts), flush=True)
    return found


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gpu", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default=None)
    parser.add_argument("--topic", choices=("training", "forward"), default="training")
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--threads", default="256,512,1024", help="workgroup sizes to try; 0: the plan's own")
    parser.add_argument("--shapes", default="", help="such as 8192x512,4x262144")
    parser.add_argument("--kernels", default="", help="with --topic forward: only these, such as softmax_rows,kl_rows")
    parser.add_argument("--weights", action="store_true", help="alpha and beta that are not 0 too")
    parser.add_argument("--out", default="")
    return parser.parse_args(given)


def main() -> int:
    """1 if a result is wrong."""
    arguments = parse()
    opened = open_gpu(arguments.device)
    print(f"device {opened.info}", flush=True)
    rows = (training if arguments.topic == "training" else forward)(opened, arguments)
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(rows, indent=1))
    table = (training_table if arguments.topic == "training" else forward_table)(rows)
    print_table(table)
    return 0 if table.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
