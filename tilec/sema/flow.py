"""Jumps and loops: `break`, `continue` and `return` become flags that later statements ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.context import Binding, Loop
from tilec.source import Span
from tilec.syntax import ast

if TYPE_CHECKING:
    from tilec.sema.expand import Expander


def guarded(expander: Expander, span: Span, flags: list[core.Cell], rest: Sequence[ast.Statement]) -> None:
    """The statements that follow one that may have jumped."""
    span = expander.at(span)
    condition = none_of(expander, span, flags)
    block = core.Block()
    previous = expander.inside(block)
    expander.statements(rest)
    expander.outside(previous)
    expander.emit(core.Branch(span, condition, block, core.Block(), "flag"))


def none_of(expander: Expander, span: Span, flags: list[core.Cell]) -> core.Node:
    jumped = expander.emit(core.CellRead(span, flags[0]))
    for flag in flags[1:]:
        other = expander.emit(core.CellRead(span, flag))
        jumped = expander.emit(core.Elementwise(span, "or", (jumped, other), "||"))
    return expander.emit(core.Elementwise(span, "not", (jumped,), "!"))


def flags_set_by(expander: Expander, statement: ast.Statement) -> list[core.Cell]:
    """The flags by which a statement may leave the block that it stands in."""
    breaks, continues, returns = _jumps((statement,))
    flags: list[core.Cell | None] = []
    if expander.context.loops:
        loop = expander.context.loops[-1]
        flags.append(loop.broke if breaks or returns else None)
        flags.append(loop.continued if continues else None)
    elif returns:
        flags.append(expander.context.returned)
    return [flag for flag in flags if flag is not None]


def jump(expander: Expander, node: ast.Break | ast.Continue | ast.Return, span: Span) -> None:
    loops = expander.context.loops
    match node:
        case ast.Continue():
            flags = [loops[-1].continued] if loops else []
        case ast.Break():
            flags = [loops[-1].broke] if loops else []
        case _:
            flags = [expander.context.returned, *(loop.broke for loop in loops)]
    for flag in flags:
        if flag is not None:
            expander.write(span, flag, expander.emit(core.Literal(span, True)))


def for_loop(expander: Expander, node: ast.For) -> None:
    span = expander.at(node.span)
    arguments = node.iterable.arguments if isinstance(node.iterable, ast.Call) else ()
    is_range = isinstance(node.iterable, ast.Call) and node.iterable.function == "range"
    if not is_range or not 2 <= len(arguments) <= 3 or any(argument.name for argument in arguments):
        if is_range:
            problem = "takes its arguments by position" if any(a.name for a in arguments) else (
                f"takes a start, a stop and perhaps a step, and {len(arguments)} "
                f"{'is' if len(arguments) == 1 else 'are'} given"
            )  # fmt: skip
            expander.faults.error(catalog.RANGE_MISUSE, expander.at(node.iterable.span), problem=problem)
        expander.nested(node.body, {node.name.name: expander.poison(span)})
        return
    bounds = [expander.expression(argument.value) for argument in arguments]
    index = core.LoopIndex(expander.at(node.name.span), name=node.name.name)
    breaks, continues, returns = _jumps(node.body)
    loop = Loop(expander.flag(span, "broke") if breaks or returns else None, None)
    body = core.Block()
    previous = expander.inside(body)
    loop_body(expander, node.body, loop, continues, span, {node.name.name: index})
    expander.outside(previous)
    step = bounds[2] if len(bounds) == 3 else None
    expander.emit(core.ForLoop(span, index, bounds[0], bounds[1], step, body, loop.broke))


def while_loop(expander: Expander, node: ast.While) -> None:
    span = expander.at(node.span)
    breaks, continues, returns = _jumps(node.body)
    loop = Loop(expander.flag(span, "broke") if breaks or returns else None, None)
    test = core.Block()
    previous = expander.inside(test)
    condition = expander.expression(node.condition)
    if loop.broke is not None:
        going = none_of(expander, span, [loop.broke])
        condition = expander.emit(core.Elementwise(expander.at(node.condition.span), "and", (condition, going), "&&"))
    expander.outside(previous)
    body = core.Block()
    previous = expander.inside(body)
    loop_body(expander, node.body, loop, continues, span, {})
    expander.outside(previous)
    expander.emit(core.WhileLoop(expander.at(node.condition.span), test, condition, body))


def loop_body(
    expander: Expander,
    body: Sequence[ast.Statement],
    loop: Loop,
    continues: bool,
    span: Span,
    names: dict[str, Binding],
) -> None:
    if continues:
        loop.continued = expander.flag(span, "continued")
    expander.context.loops.append(loop)
    expander.context.frames += [names, {}]
    expander.statements(body)
    del expander.context.frames[-2:]
    expander.context.loops.pop()


def _jumps(statements: Sequence[ast.Statement]) -> tuple[bool, bool, bool]:
    """Whether the statements may break or continue the loop around them, or return."""
    breaks = continues = returns = False
    for statement in statements:
        match statement:
            case ast.Break():
                breaks = True
            case ast.Continue():
                continues = True
            case ast.Return():
                returns = True
            case ast.If():
                inner = _jumps((*statement.then, *(statement.otherwise or ())))
                breaks, continues, returns = breaks or inner[0], continues or inner[1], returns or inner[2]
            case ast.For() | ast.While():
                returns = returns or _jumps(statement.body)[2]
    return breaks, continues, returns
