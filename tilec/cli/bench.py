"""`tilec bench`: what a kernel's launches take on a device, beside a copy of as many bytes, and other plans."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilec.cli.options import add_json_option, command_parser
from tilec.cli.progress import Progress
from tilec.cli.target import Target, add_target_options, distinct
from tilec.cli.terminal import Failure, print_json

if TYPE_CHECKING:
    from tilec.plan.cost import PlanCost
    from tilec.runtime.prepared import Prepared
    from tilec.runtime.workload import Timings


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "bench",
        "Times a kernel on drawn numbers: by timestamps where the adapter has them, warm, with buffers rotated beyond\n"
        "the cache; medians, and the tenth and ninetieth percentile. `of copy` compares with a copy, in the same run,\n"
        "of the bytes that have to be read and written once.",
        [
            "tilec bench token_loss.ph --dim M=8192 --dim V=512",
            "tilec bench train.ph --kernel train_loss --dim M=8192 --dim V=32768 --dtype T=f16 --plans",
            "tilec bench token_loss.ph --dim M=8192 --dim V=512 --device 0 --seconds 5 --json",
            "tilec bench token_loss.ph --dim M=8192 --dim V=512 --plot roofline.svg",
        ],
    )
    add_target_options(result)
    result.add_argument("--seconds", type=float, default=2.0, help="how long to measure (default 2)")
    result.add_argument("--plans", action="store_true", help="other workgroup sizes and the naive plan too")
    result.add_argument("--plot", metavar="FILE.svg", help="draw the roofline with every plan")
    add_json_option(result)
    return result


def main(options: argparse.Namespace) -> int:
    try:
        import numpy as np  # noqa: F401
    except ImportError:
        raise Failure('`tilec bench` needs NumPy and wgpu: pip install "tilec[gpu]"', 1) from None
    if not 0 < options.seconds <= 3600:
        raise Failure("--seconds takes a number from 0 to 3600")
    from tilec.plan.alternatives import alternatives, naive
    from tilec.runtime.launch import options_for
    from tilec.runtime.tuned import tuned_options
    from tilec.runtime.workload import Workload, time_contenders

    target = Target(options)
    base = options_for(target.device)
    tuned = tuned_options(target.kernel, target.device, target.dims, base)
    plans = {"default": base} if tuned == base else {"default": base, "tuned": tuned}
    if options.plans:
        plans |= {**alternatives(base), "naive": naive(base)}
    with Progress(None if options.json else sys.stderr) as progress:
        contenders, refused = distinct(target, plans, lambda name, at, of: progress.show(f"compiling {name}", at / of))
        progress.show("filling tensors", 0.0)
        workload = Workload(target.device, target.kernel, target.dims, target.samples())
        try:
            costs = {name: cost_of(target, prepared) for name, prepared in contenders.items()}
            checks = check(workload, contenders)
            progress.show("measuring", 0.5)
            ideal = next((cost.ideal_bytes for cost in costs.values() if cost is not None), 0)
            timings = time_contenders(workload, contenders, options.seconds, ideal)
        finally:
            workload.free()
    rows = _rows(contenders, costs, checks, timings)
    if options.plot is not None:
        _plot(options.plot, target, timings, costs, ideal)
    if options.json:
        print_json(_json(target, rows, refused, timings, ideal))
    else:
        _print(target, rows, refused, timings, ideal)
    return 0 if all(row["agrees"] for row in rows) else 1


def cost_of(target: Target, prepared: Prepared) -> PlanCost | None:
    """The costs of the plan on the device, None where only a launch knows a size."""
    from tilec.driver import Compiled
    from tilec.loop.count import count_lowered
    from tilec.plan.cost import UnknownSize
    from tilec.plan.estimate import estimate
    from tilec.runtime.profile import measure_profile

    compiled = prepared.compiled
    assert isinstance(compiled, Compiled), "what is measured was compiled here"
    try:
        return estimate(
            compiled.kernel, compiled.plan, target.dims, measure_profile(target.device),
            count_lowered(compiled.program), compiled.options.trusted,
        )  # fmt: skip
    except UnknownSize:
        return None


def check(workload: Any, contenders: dict[str, Prepared]) -> dict[str, float]:
    """How far the results are from the first contender's, as a multiple of what rounding may do."""
    from tilec.cli.data import compare

    types = {tensor.name: tensor.dtype for tensor in workload.kernel.tensors}
    expected: dict[str, Any] = {}
    found: dict[str, float] = {}
    for name, prepared in contenders.items():
        results = workload.results(prepared)
        expected = expected or results
        worst = 0.0
        for tensor, array in results.items():
            difference = compare(array, expected[tensor], types[tensor])
            largest = float(difference["largest"])
            worst = max(worst, largest / difference["allowed"] if difference["allowed"] else float(largest > 0))
        found[name] = worst
    return found


def _rows(
    contenders: dict[str, Prepared], costs: dict[str, PlanCost | None], checks: dict[str, float], timings: Timings
) -> list[dict[str, Any]]:
    rows = []
    for name, prepared in contenders.items():
        measured, cost = timings.kernels[name], costs[name]
        row: dict[str, Any] = {
            "plan": name,
            "ms": 1e3 * measured.median,
            "low_ms": 1e3 * measured.low,
            "high_ms": 1e3 * measured.high,
            "samples": measured.samples,
            "wall_ms": 1e3 * timings.walls[name],
            "dispatches": len(prepared.compiled.program.dispatches),
            "agrees": checks[name] <= 1.0,
        }
        if cost is not None and timings.copy is not None:
            row |= {
                "bytes_per_second": cost.ideal_bytes / measured.median,
                "of_copy": timings.copy.median / measured.median,
                "moved_bytes": cost.moved,
                "predicted_ms": 1e3 * (cost.seconds or 0.0),
            }
        rows.append(row)
    return rows


def _json(
    target: Target, rows: list[dict[str, Any]], refused: dict[str, str], timings: Timings, ideal: int
) -> dict[str, Any]:
    return {
        "ok": all(row["agrees"] for row in rows),
        "kernel": target.kernel.name,
        "dims": target.dims,
        "device": str(target.device.info),
        "clock": "timestamps" if timings.by_timestamps else "wall",
        "ideal_bytes": ideal,
        "copy_ms": 1e3 * timings.copy.median if timings.copy is not None else None,
        "plans": rows,
        "refused": refused,
    }


def _print(
    target: Target, rows: list[dict[str, Any]], refused: dict[str, str], timings: Timings, ideal: int
) -> None:
    from tilec.plan.cost_text import bytes_text

    clock = "timestamps of the device" if timings.by_timestamps else "the wall's clock: the adapter has no timestamps"
    print(f"{target.title} on {target.device.name}")
    print(f"kernel time by {clock}; wall: one launch from the call to its end")
    if timings.copy is not None:
        speed = ideal / timings.copy.median
        print(f"copy of {bytes_text(ideal)}: {_ms(1e3 * timings.copy.median)} ms, {bytes_text(speed)}/s")
    heads = ["plan", "ms", "10 to 90 %", "GB/s", "of copy", "predicted ms", "wall ms", "dispatches", "result"]
    cells = [heads]
    for row in rows:
        has_cost = "of_copy" in row
        cells.append(
            [
                row["plan"],
                _ms(row["ms"]),
                f"{_ms(row['low_ms'])} to {_ms(row['high_ms'])}",
                f"{row['bytes_per_second'] / 1e9:.3g}" if has_cost else "-",
                f"{row['of_copy']:.2f}" if has_cost else "-",
                _ms(row["predicted_ms"]) if has_cost else "-",
                _ms(row["wall_ms"]),
                str(row["dispatches"]),
                "ok" if row["agrees"] else "DIFFERS",
            ]
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    for line in cells:
        first, *others = zip(line, widths, strict=True)
        print("  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]))
    for name, reason in refused.items():
        print(f"{name} is refused: {reason}")


def _ms(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _plot(path: str, target: Target, timings: Timings, costs: dict[str, PlanCost | None], ideal: int) -> None:
    from tilec.cli.roofline import Point, draw_roofline
    from tilec.runtime.profile import measure_profile

    if timings.copy is None:
        raise Failure("--plot: how much the kernel moves is only known at a launch", 1)
    points = [
        Point(name, sum(one.operations for one in cost.dispatches), cost.moved, timings.kernels[name].median)
        for name, cost in costs.items()
        if cost is not None
    ]
    profile = measure_profile(target.device)
    text = draw_roofline(target.title, target.device.name, points, ideal / timings.copy.median, profile.operations)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"--plot {path}: {(error.strerror or 'not writable').lower()}", 1) from None
