"""Faults planted into plans and loop programs, and runs of the result under the race checker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from tests.plan.harness import to_words
from tilec.driver import build_kernel, parse_file
from tilec.facts import Facts
from tilec.loop import interp, ir
from tilec.loop.lower import lower
from tilec.options import Options
from tilec.plan.ir import ForItem, IfItem, Item, Phase, Plan, Round, WhileItem
from tilec.plan.make import make_plan
from tilec.source import Source
from tilec.tile import ir as tile
from tilec.tile.passes import PASSES
from tilec.types import DTYPES

Statements = tuple[ir.Statement, ...]


def planned(
    text: str,
    dtypes: Mapping[str, str] | None = None,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
) -> tuple[tile.Kernel, Plan]:
    """The only kernel of the text, after the passes, and its plan."""
    program = parse_file(Source("planted.ph", text)).program
    chosen = {name: DTYPES[dtype] for name, dtype in (dtypes or {}).items()}
    kernel = build_kernel(program, next(iter(program.kernels)), chosen).kernel
    for one in PASSES:
        kernel = one(kernel)
    return kernel, make_plan(kernel, Facts(dims), options or Options())


def execute(
    program: ir.Program, kernel: tile.Kernel, tensors: Mapping[str, np.ndarray], dims: Mapping[str, int]
) -> None:
    """Runs the program on copies. Raises what the loop interpreter complains of."""
    words = {one.name: to_words(tensors[one.name], one.dtype) for one in kernel.tensors}
    words["scratch"] = interp.make_scratch(program, dims, {})
    interp.run(program, words, interp.evaluate_uniforms(program, dims, {}))


def lowered(kernel: tile.Kernel, plan: Plan) -> ir.Program:
    return lower(kernel, plan)


# --- plans ---------------------------------------------------------------------------------------------------


def items_of(plan: Plan) -> Iterator[Item]:
    """Every item of the plan, outermost first."""
    stack: list[Item] = [item for dispatch in plan.dispatches for item in dispatch.items]
    while stack:
        item = stack.pop(0)
        yield item
        match item:
            case Phase(items=items):
                stack += items
            case IfItem():
                stack += item.then + item.otherwise
            case ForItem():
                stack += item.body
            case WhileItem():
                stack += item.condition + item.body


def rounds_of(plan: Plan) -> list[Round]:
    return [item for item in items_of(plan) if isinstance(item, Round)]


# --- loop programs -------------------------------------------------------------------------------------------


def with_body(program: ir.Program, change: Callable[[Statements], Statements]) -> ir.Program:
    """The program with every dispatch's body changed."""
    return replace(program, dispatches=tuple(replace(one, body=change(one.body)) for one in program.dispatches))


def barriers_of(body: Statements) -> Iterator[ir.Barrier]:
    """Every barrier in the statements, in order."""
    for statement in body:
        match statement:
            case ir.Barrier():
                yield statement
            case ir.If():
                yield from barriers_of(statement.then)
                yield from barriers_of(statement.otherwise)
            case ir.Loop():
                yield from barriers_of(statement.body)
            case ir.While():
                yield from barriers_of(statement.prelude)
                yield from barriers_of(statement.body)


def without(body: Statements, dropped: ir.Statement, instead: Statements = ()) -> Statements:
    """The statements without one of them, wherever it stands."""
    result: list[ir.Statement] = []
    for statement in body:
        if statement is dropped:
            result += instead
            continue
        match statement:
            case ir.If(condition, then, otherwise):
                statement = ir.If(condition, without(then, dropped, instead), without(otherwise, dropped, instead))
            case ir.Loop():
                statement = replace(statement, body=without(statement.body, dropped, instead))
            case ir.While():
                inner = without(statement.prelude, dropped, instead), without(statement.body, dropped, instead)
                statement = ir.While(inner[0], statement.condition, inner[1], statement.bound)
        result.append(statement)
    return tuple(result)


def clamped(body: Statements, lengths: Mapping[str, int]) -> Statements:
    """Every `if` around accesses of those buffers taken without asking, and the accesses clamped to their lengths: what
    a generator would write that clamps a ragged row instead of predicating it."""
    result: list[ir.Statement] = []
    for statement in body:
        match statement:
            case ir.If(then=then, otherwise=()) if _touches(then, lengths) and not list(barriers_of(then)):
                result += clamped(then, lengths)
            case ir.If(condition, then, otherwise):
                result.append(ir.If(condition, clamped(then, lengths), clamped(otherwise, lengths)))
            case ir.Loop():
                result.append(replace(statement, body=clamped(statement.body, lengths)))
            case _:
                result.append(_clamped_accesses(statement, lengths))
    return tuple(result)


def _touches(node: Any, names: Mapping[str, int]) -> bool:
    """Whether one of the buffers is read or written anywhere in it."""
    if isinstance(node, tuple):
        return any(_touches(part, names) for part in node)
    if not is_dataclass(node) or isinstance(node, (ir.Local, ir.SharedArray, ir.UniformField)):
        return False
    if isinstance(node, ir.Buffer):
        return node.name in names
    return any(_touches(getattr(node, one.name), names) for one in fields(node))


def _clamped_accesses(node: Any, lengths: Mapping[str, int]) -> Any:
    """The statement or expression with the indices of its accesses clamped."""
    if isinstance(node, tuple):
        return tuple(_clamped_accesses(part, lengths) for part in node)
    if not is_dataclass(node) or isinstance(node, (ir.Buffer, ir.Local, ir.SharedArray, ir.UniformField)):
        return node
    changes = {}
    for one in fields(node):
        if one.init and isinstance(getattr(node, one.name), (tuple, ir.Load, ir.Op, ir.Bits, ir.Select, ir.Component)):
            changes[one.name] = _clamped_accesses(getattr(node, one.name), lengths)
    if isinstance(node, (ir.Load, ir.StoreElement)) and node.buffer.name in lengths:
        last = ir.Const(node.index.dtype, lengths[node.buffer.name] - 1)
        changes["index"] = ir.Op("min", (changes.get("index", node.index), last), node.index.dtype)
    return replace(node, **changes) if changes else node
