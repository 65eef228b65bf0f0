"""What limits the training loss on a GPU: its time without a part, beside its own and a copy's.

`python -m tests.bench.ablate --shapes 8192x32768` takes one thing after the other out of the kernel's text. What is
left computes something else (the column `right` says so); what its time falls by is what the part costs where it
stands, beside everything that goes on meanwhile. `kept N` are right: so many values of a row stay in a lane's
registers.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace

from tests.bench.gpu import Cell, Memory, open_gpu
from tests.bench.measure import Row, Table, print_table
from tilec import driver
from tilec.options import Options
from tilec.runtime.compute import Device
from tilec.runtime.launch import options_for
from tilec.runtime.timing import Timer

PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "barriers": ((r"workgroupBarrier\(\);", ""),),
    "exponentials": ((r"(?<!fn )\bexp_f32\(", "("), (r"= exp\(", "= (")),
    "waiting for the target": ((r"let (and\w*) = and\w* & lt\w*;", r"let \1 = true;"),),
    "looking for NaN before bf16 is rounded": ((r"if \(may_be_nan\w*\)", "if (false)"),),
    "asking for the target's block": ((r"if \(meets\w*\)", "if (false)"),),
}
"""By what is left out: patterns in the text and what stands for them."""


def without(compiled: driver.Compiled, changes: Sequence[tuple[str, str]]) -> driver.Compiled | None:
    """The same with another text; None if it has nothing of the kind."""
    text = compiled.wgsl
    for pattern, instead in changes:
        text = re.sub(pattern, instead, text)
    if text == compiled.wgsl:
        return None
    changed = replace(compiled)
    changed.__dict__["emitted"] = replace(compiled.emitted, text=text)
    return changed


def times(cell: Cell, opened: Device, timer: Timer, kept: Sequence[int]) -> list[Row]:
    """A line for the kernel as it is, without each part, and with so many values kept."""

    def compiled(options: Options) -> driver.Compiled:
        return driver.compile_built(cell.kernel, cell.dims, options)

    own = compiled(options_for(opened))
    variants: list[tuple[str, driver.Compiled | None, bool]] = [("", own, True)]
    variants += [(f"without {part}", without(own, changes), False) for part, changes in PARTS.items()]
    variants += [(f"kept {count}", compiled(replace(options_for(opened), kept=count)), True) for count in kept]
    lines: list[Row] = []
    for name, variant, is_right in variants:
        if variant is None:
            continue
        launches = cell.workload.launches(cell.prepare(variant))
        lines.append({"variant": name, "ms": 1e3 * timer.median(launches), "right": "yes" if is_right else "no"})
        cell.workload.restore()
    return lines


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ablate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default=None)
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--shapes", default="8192x32768,8192x50257")
    parser.add_argument("--kept", default="", help="values of a row in a lane's registers, such as 0,16,32")
    arguments = parser.parse_args(given)
    opened = open_gpu(arguments.device)
    timer = Timer(opened)
    memory = Memory(opened, timer)
    for shape in arguments.shapes.split(","):
        rows, columns = map(int, shape.split("x"))
        for dtype in arguments.dtypes.split(","):
            cell = Cell(opened, timer, rows, columns, dtype)
            copy = memory.copy_ms(cell.nbytes)
            kept = [int(one) for one in arguments.kept.split(",") if one]
            lines = [{**line, "of copy": copy / line["ms"]} for line in times(cell, opened, timer, kept)]
            print_table(Table(f"{shape} {dtype}, {copy:.4g} ms for a copy", lines, []))
            cell.free()
    return 0


if __name__ == "__main__":
    sys.exit(main())
