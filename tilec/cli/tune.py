"""`tilec tune`: times the plans that the cost model cannot tell apart, and remembers the fastest for later compiles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tilec.cli.bench import check, cost_of
from tilec.cli.options import add_json_option, command_parser
from tilec.cli.progress import Progress
from tilec.cli.target import Target, add_target_options, distinct
from tilec.cli.terminal import Failure, print_json

if TYPE_CHECKING:
    from tilec.options import Options
    from tilec.runtime.prepared import Prepared

_INSEPARABLE = 1.5
"""A plan that the model holds to be so many times slower than the best is not tried."""
_HOPELESS = 1.15
"""A plan that was measured to be so many times slower than the best gets no second round."""
_WORTH_IT = 1.03
"""How many times as fast as the default a plan must be to be remembered: less is noise."""


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "tune",
        "Times a kernel under several plans on drawn numbers and remembers the fastest in a text file, keyed by the\n"
        "kernel, the device and the kind of sizes. Later compiles for that device use it. The file lies in\n"
        "$TILEC_CACHE, or among the user's caches.",
        [
            "tilec tune token_loss.ph --dim M=8192 --dim V=512",
            "tilec tune train.ph --kernel train_loss --dim M=8192 --dim V=32768 --dtype T=f16 --seconds 30",
            "tilec tune token_loss.ph --dim M=8192 --dim V=512 --forget",
        ],
    )
    add_target_options(result)
    result.add_argument("--seconds", type=float, default=10.0, help="how long to measure (default 10)")
    result.add_argument("--forget", action="store_true", help="remember nothing for these sizes any more")
    add_json_option(result)
    return result


def main(options: argparse.Namespace) -> int:
    try:
        import numpy as np  # noqa: F401
    except ImportError:
        raise Failure('`tilec tune` needs NumPy and wgpu: pip install "tilec[gpu]"', 1) from None
    if not 0 < options.seconds <= 3600:
        raise Failure("--seconds takes a number from 0 to 3600")
    from tilec.plan.alternatives import alternatives
    from tilec.runtime.directory import cache_directory
    from tilec.runtime.launch import options_for

    if cache_directory() is None:
        raise Failure("nothing can be remembered: TILEC_CACHE is empty, or there is no home directory", 1)
    target = Target(options)
    if target.kernel.threads is not None:
        raise Failure(f"@threads({target.kernel.threads}) on {target.kernel.name} decides already")
    base = options_for(target.device)
    if options.forget:
        path = _remember(target, base, base, {})
        print(f"forgotten for {target.title}" if path is not None else "nothing was remembered")
        return 0
    plans = alternatives(base)
    with Progress(None if options.json else sys.stderr) as progress:
        contenders, refused = distinct(
            target, plans, lambda name, at, of: progress.show(f"compiling {name}", 0.2 * at / of)
        )
        rows = _measure(target, contenders, options.seconds, progress)
    default = rows[0]["ms"]
    right = [row for row in rows if row["agrees"]]
    best = min(right, key=lambda row: row["ms"], default=rows[0])
    chosen = plans[best["plan"]] if default / best["ms"] >= _WORTH_IT else base
    about = {"plan": best["plan"], "milliseconds": best["ms"], "default_milliseconds": default, "sizes": target.dims}
    path = _remember(target, base, chosen, about if chosen is not base else {})
    kept = best["plan"] if chosen is not base else None
    if options.json:
        print_json(
            {
                "ok": len(right) == len(rows), "kernel": target.kernel.name, "dims": target.dims,
                "device": str(target.device.info), "plans": rows, "refused": refused, "remembered": kept,
                "file": str(path) if path is not None else None,
            }
        )  # fmt: skip
    else:
        _print(target, rows, kept, str(path))
    return 0 if len(right) == len(rows) else 1


def _measure(
    target: Target, contenders: dict[str, Prepared], seconds: float, progress: Progress
) -> list[dict[str, Any]]:
    """A row a plan, the default first: half of the time for all that the model cannot separate, half for the best."""
    from tilec.runtime.workload import Workload, time_contenders

    costs = {name: cost_of(target, prepared) for name, prepared in contenders.items()}
    predicted = {name: cost.seconds or 0.0 for name, cost in costs.items() if cost is not None}
    tried = _inseparable(contenders, predicted)
    workload = Workload(target.device, target.kernel, target.dims, target.samples())
    try:
        progress.show("checking results", 0.25)
        agreement = check(workload, tried)
        what = f"timing {len(tried)} plans"
        times = time_contenders(
            workload, tried, seconds / 2, report=lambda share: progress.show(what, 0.3 + share / 3)
        ).kernels
        best = min(one.median for one in times.values())
        final = {
            name: prepared for place, (name, prepared) in enumerate(tried.items())
            if not place or times[name].median <= _HOPELESS * best
        }  # fmt: skip
        if len(final) > 1:
            times |= time_contenders(
                workload, final, seconds / 2, report=lambda share: progress.show("timing the best", 0.65 + share / 3)
            ).kernels
    finally:
        workload.free()
    return [
        {
            "plan": name,
            "ms": 1e3 * times[name].median,
            "predicted_ms": 1e3 * predicted[name] if name in predicted else None,
            "agrees": agreement[name] <= 1.0,
        }
        for name in tried
    ]


def _inseparable(contenders: dict[str, Prepared], predicted: Mapping[str, float]) -> dict[str, Prepared]:
    """The default, and what the model does not hold to be much slower than the best."""
    if len(predicted) < len(contenders):
        return contenders
    limit = _INSEPARABLE * min(predicted.values())
    return {
        name: prepared
        for place, (name, prepared) in enumerate(contenders.items())
        if not place or predicted[name] <= limit
    }


def _remember(target: Target, base: Options, chosen: Options, about: Mapping[str, Any]) -> Any:
    from tilec.runtime.tuned import remember

    return remember(target.kernel, target.device, target.dims, base, chosen, about)


def _print(target: Target, rows: list[dict[str, Any]], kept: str | None, path: str) -> None:
    print(f"{target.title} on {target.device.name}")
    for row in rows:
        predicted = f"  predicted {row['predicted_ms']:.3g} ms" if row["predicted_ms"] is not None else ""
        wrong = "" if row["agrees"] else "  DIFFERS from the default: not taken"
        print(f"  {row['plan']:14} {row['ms']:.3g} ms{predicted}{wrong}")
    if kept is None:
        print("the default is as fast as any: nothing is remembered")
        return
    best = next(row["ms"] for row in rows if row["plan"] == kept)
    print(f"remembered: {kept}, {rows[0]['ms'] / best:.2f} times as fast as the default, in {path}")
