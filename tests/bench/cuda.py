"""tilec beside Liger-Kernel, torch.compile, eager PyTorch and a copy on a CUDA machine, in one run on the same numbers.

`python -m tests.bench.cuda` times the training loss (loss and gradient of the logits); `--topic forward` other kernels.
It needs torch with CUDA; Liger-Kernel (its wheel needs torch and triton only) and tilec's own device (wgpu, Vulkan)
are columns that stay empty where they are missing. For each contender: `kernel ms` is the time of its kernels on the
device, by the profiler's records (tilec: by timestamps), `whole ms` a call with all that the host does for it, many
calls in a row. Results are checked against float64. `--device cpu` only tries the script itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.cases import FORWARD, SAMPLE_ROWS, Case, storage, train_error, worst_error
from tests.bench.cuda_peers import ROTATED_BYTES, Clock, Peers
from tests.bench.measure import Table, print_table

SHAPES = ((8192, 512), (8192, 2048), (8192, 32768), (8192, 50257), (4000, 131072), (2000, 262144), (4, 262144))
COMPILED = {
    "torch.compile": {},
    "compile static": {"dynamic": False},
    "compile max-autotune": {"mode": "max-autotune-no-cudagraphs", "dynamic": False},
}
"""CUDA graphs are left out of max-autotune: they would copy inputs that rotate, and `kernel ms` has no launches in."""


# --- the training loss ---------------------------------------------------------------------------------------


def training_cell(peers: Peers, rows: int, columns: int, dtype: str, only: Sequence[str]) -> dict[str, Any]:
    """Every contender on one shape and type: the sum of the losses, and its gradient."""
    torch = peers.torch
    rng = np.random.default_rng(rows + columns)
    few = min(rows, SAMPLE_ROWS)
    sample = (rng.standard_normal((few, columns)) * 3.0).astype(storage(dtype))
    targets = rng.integers(0, columns, rows).astype(np.int32)
    nbytes = rows * columns * sample.itemsize
    count = max(1, min(64, -(-ROTATED_BYTES // nbytes)))
    row: dict[str, Any] = {"rows": rows, "columns": columns, "dtype": dtype, "copy kernel ms": peers.copy(nbytes)}
    target = peers.tensor(targets, (rows,))

    def contender(loss_of: Callable[[Any], Any]) -> tuple[list[Any], float]:
        def call(x: Any) -> Any:
            return torch.autograd.grad(loss_of(x), x)[0]

        logits = [peers.tensor(sample, (rows, columns)).requires_grad_() for _ in range(count)]
        gradient = peers.host(call(logits[0]), sample.size)
        error = train_error(None, gradient, sample, targets[:few], 0.0, 0.0, dtype)
        return [lambda x=x: call(x) for x in logits], error

    def plain(x: Any) -> Any:
        return torch.nn.functional.cross_entropy(x, target, reduction="sum")

    def liger(x: Any) -> Any:
        return peers.liger.LigerCrossEntropyFunction.apply(x, target, None, -100, 0.0, 0.0, "sum")[0]

    if "tilec" in only:
        row |= tilec_training(rows, columns, dtype)
    if "liger" in only:
        peers.attempt("liger", row, lambda: contender(liger), peers.liger_problem)
    if "compile" in only:
        for name, options in COMPILED.items():
            torch._dynamo.reset()
            peers.attempt(name, row, lambda options=options: contender(torch.compile(plain, **options)))
    if "eager" in only:
        peers.attempt("eager", row, lambda: contender(plain))
    return _with_ratios(row)


def tilec_training(rows: int, columns: int, dtype: str) -> dict[str, Any]:
    """tilec's columns: the best of the workgroup sizes, by timestamps; nothing where there is no device for it."""
    return _tilec(lambda gpu, opened, timer: _best_training(gpu, opened, timer, rows, columns, dtype))


def _best_training(gpu: Any, opened: Any, timer: Any, rows: int, columns: int, dtype: str) -> dict[str, Any]:
    cell = gpu.Cell(opened, timer, rows, columns, dtype)
    try:
        found = [(*cell.tilec_ms(options), cell.whole_ms(options)) for options in gpu.thread_options(opened, THREADS)]
    finally:
        cell.free()
    ms, error, _, whole = min(found)
    return {"tilec kernel ms": ms, "tilec whole ms": whole, "tilec error": error}


def _tilec(measure: Callable[[Any, Any, Any], dict[str, Any]]) -> dict[str, Any]:
    try:
        from tests.bench import gpu
        from tilec.runtime.timing import Timer

        opened = gpu.open_gpu(DEVICE)
        return measure(gpu, opened, Timer(opened))
    except Exception as problem:  # no wgpu, no Vulkan: the peers still have their columns
        return {"tilec problem": f"{type(problem).__name__}: {problem}"[:300]}


# --- forward kernels -----------------------------------------------------------------------------------------


def forward_cell(
    peers: Peers, case: Case, rows: int, columns: int, dtype: str, only: Sequence[str]
) -> dict[str, Any]:
    """Every contender on one kernel, shape and type."""
    torch = peers.torch
    sample = case.sample(rows, columns, dtype)
    shapes = {name: _whole(array, rows, columns) for name, array in sample.items()}
    nbytes = sum(int(np.prod(shapes[name])) * array.itemsize for name, array in sample.items())
    count = max(1, min(64, -(-ROTATED_BYTES // nbytes)))
    expected = case.expected(sample, rows)
    key = "X" if "X" in expected else next(iter(expected))
    row: dict[str, Any] = {"kernel": case.kernel, "rows": rows, "columns": columns, "dtype": dtype}
    few = next(iter(sample.values())).shape[0]
    written = sum(one.size * rows // few * _output_size(one, dtype) for one in expected.values() if one.size > 1)
    row["copy kernel ms"] = peers.copy(max(16, (nbytes + written) // 2))

    def contender(function: Callable[[dict[str, Any]], Any]) -> tuple[list[Any], float]:
        sets = [{name: peers.tensor(array, shapes[name]) for name, array in sample.items()} for _ in range(count)]
        if case.kernel == "batch_loss":
            for one in sets:
                one["X"].requires_grad_()
        result = peers.host(function(sets[0]), expected[key].size)
        return [lambda one=one: function(one) for one in sets], worst_error({key: result}, {key: expected[key]}, dtype)

    def plain(tensors: dict[str, Any]) -> Any:
        return case.torch(torch, tensors)

    if "tilec" in only:
        row |= _tilec(lambda gpu, opened, timer: gpu.best_forward(opened, timer, case, rows, columns, dtype, THREADS))
    with torch.set_grad_enabled(case.kernel == "batch_loss"):
        if "liger" in only and case.liger is not None:
            liger = case.liger
            peers.attempt("liger", row, lambda: contender(lambda one: liger(peers.liger, one)), peers.liger_problem)
        if "compile" in only and case.kernel != "batch_loss":
            for name, options in COMPILED.items():
                torch._dynamo.reset()
                peers.attempt(name, row, lambda options=options: contender(torch.compile(plain, **options)))
        if "eager" in only:
            peers.attempt("eager", row, lambda: contender(plain))
    return _with_ratios(row)


def _output_size(expected: np.ndarray, dtype: str) -> int:
    """Bytes of an element of an output: of rows the storage type's, of losses f32's."""
    return storage(dtype).itemsize if expected.ndim == 2 else 4


def _whole(array: np.ndarray, rows: int, columns: int) -> tuple[int, ...]:
    """The shape of the tensor that a sample stands for: rows of a matrix, a gain for all rows, or a number a row."""
    if array.ndim == 2:
        return rows, columns
    return (columns,) if array.size == columns and columns > 1 and array.dtype.kind != "i" else (rows,)


def _with_ratios(row: dict[str, Any]) -> dict[str, Any]:
    """How many times tilec's kernel time the others take, and how near to the copy's bandwidth it is."""
    ours = row.get("tilec kernel ms")
    if ours:
        row["copy / tilec"] = row["copy kernel ms"] / ours
        compiled = [row[f"{name} kernel ms"] for name in COMPILED if f"{name} kernel ms" in row]
        for name, times in (("liger", [row.get("liger kernel ms")]), ("best compile", compiled)):
            known = [one for one in times if one]
            if known:
                row[f"{name} x"] = min(known) / ours
    errors = {name: error for name, error in row.items() if name.endswith(" error")}
    row["check"] = "ok" if all(error <= 1.0 for error in errors.values()) else "WRONG"
    return row


# --- the command ---------------------------------------------------------------------------------------------

THREADS = (64, 256)
DEVICE: str | None = None
CONTENDERS = ("tilec", "liger", "compile", "eager")


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--topic", choices=("training", "forward"), default="training")
    parser.add_argument("--device", default="cuda", help="torch's device (default cuda; cpu tries the script)")
    parser.add_argument("--adapter", help="tilec's device: a name or an index")
    parser.add_argument("--shapes", default="", help="such as 8192x512,4x262144")
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--threads", default="64,256", help="workgroup sizes of tilec to try; 0: the plan's own")
    parser.add_argument("--kernels", default="", help="with --topic forward: only these")
    parser.add_argument("--only", default=",".join(CONTENDERS), help=f"contenders: {', '.join(CONTENDERS)}")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each contender of each cell")
    parser.add_argument("--out", default="", help="write the rows as JSON, after every cell")
    return parser.parse_args(given)


def measure(arguments: argparse.Namespace) -> Table:
    """The table of a topic; every cell is printed when it is done."""
    import torch

    global THREADS, DEVICE
    THREADS, DEVICE = tuple(map(int, arguments.threads.split(","))), arguments.adapter
    peers = Peers(torch, arguments.device, Clock(torch, arguments.device, arguments.seconds))
    print(_about(torch, peers), flush=True)
    given = [tuple(map(int, text.split("x"))) for text in arguments.shapes.split(",") if text]
    only = arguments.only.split(",")
    rows: list[dict[str, Any]] = []
    for make in _cells(arguments, peers, given, only):
        row = make()
        rows.append(row)
        print(" ".join(f"{k}={x:.4g}" if isinstance(x, float) else f"{k}={x}" for k, x in row.items()), flush=True)
        if arguments.out:
            Path(arguments.out).write_text(json.dumps(rows, indent=1))
    columns = list(dict.fromkeys(name for row in rows for name in row if not name.endswith((" error", " problem"))))
    return Table(
        f"{arguments.topic}, milliseconds, and how many times tilec's kernel time the others take",
        [{name: row.get(name) for name in columns} for row in rows],
        _goals(rows),
    )


def _goals(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool, str]]:
    """The training loss: 1.5 times as fast as Liger's kernel and torch.compile up to 65536 columns, 1.2 times above."""
    goals = []
    for row in rows:
        wanted = 1.5 if row["columns"] <= 65536 else 1.2
        for peer in ("liger", "best compile"):
            if "kernel" not in row and f"{peer} x" in row:
                what = f"{row['rows']} x {row['columns']} {row['dtype']}: {wanted:g} times as fast as {peer}"
                goals.append((what, row[f"{peer} x"] >= wanted, f"{row[f'{peer} x']:.2f} times"))
    return goals


def main() -> int:
    """1 if a result is wrong."""
    table = measure(parse())
    print_table(table)
    return 0 if table.is_right else 1


def _cells(
    arguments: argparse.Namespace, peers: Peers, given: list[tuple[int, ...]], only: Sequence[str]
) -> list[Callable[[], dict[str, Any]]]:
    dtypes = arguments.dtypes.split(",")
    if arguments.topic == "training":
        return [
            lambda m=m, v=v, dtype=dtype: training_cell(peers, m, v, dtype, only)
            for m, v in given or SHAPES
            for dtype in dtypes
        ]
    wanted = arguments.kernels.split(",") if arguments.kernels else [case.kernel for case in FORWARD]
    return [
        lambda case=case, m=m, v=v, dtype=dtype: forward_cell(peers, case, m, v, dtype, only)
        for case in FORWARD
        if case.kernel in wanted
        for m, v in given or case.shapes
        for dtype in dtypes
        if dtype in case.dtypes
    ]


def _about(torch: Any, peers: Peers) -> str:
    name = torch.cuda.get_device_name() if peers.clock.is_cuda else "the processor"
    versions = [f"torch {torch.__version__} on {name}"]
    for package in ("triton", "liger_kernel", "wgpu"):
        try:
            from importlib.metadata import version

            versions.append(f"{package} {version(package)}")
        except ImportError:
            versions.append(f"{package} missing")
    return ", ".join(versions)


if __name__ == "__main__":
    sys.exit(main())
