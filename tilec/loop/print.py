"""A loop program as text, for people: `tilec compile --emit loop` and messages."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.loop import ir
from tilec.loop.interp_text import expression_text


def print_program(program: ir.Program) -> str:
    """The whole program: uniforms, scratch, and each dispatch with its body."""
    lines = [f"program {program.kernel}"]
    lines += [f"  guard {guard}" for guard in program.guards]
    for field in program.uniforms:
        meaning = field.scalar if field.extent is None else field.extent
        lines.append(f"  uniform {field.name}: {field.dtype} = {meaning}")
    if program.scratch_words.constant != 0:
        lines.append(f"  scratch {program.scratch_words} words")
    for dispatch in program.dispatches:
        lines.append("")
        lines += _dispatch_lines(dispatch)
    return "\n".join(lines) + "\n"


def _dispatch_lines(dispatch: ir.Dispatch) -> list[str]:
    lines = [f"dispatch {dispatch.name}: {dispatch.workgroups} workgroups of {dispatch.threads} threads"]
    for buffer in dispatch.buffers:
        access = "read_write" if buffer.writable else "read"
        element = f"{buffer.element}" if buffer.width == 1 else f"vec{buffer.width}<{buffer.element}>"
        lines.append(f"  buffer {buffer.name}: {element}, {access}")
    lines += [f"  shared {array.name}: {array.dtype}[{array.length}]" for array in dispatch.shared]
    return lines + print_block(dispatch.body, 1)


def print_block(statements: Sequence[ir.Statement], depth: int = 0) -> list[str]:
    """The lines of statements, two spaces a level."""
    indent = "  " * depth
    lines: list[str] = []
    for statement in statements:
        match statement:
            case ir.If():
                lines.append(f"{indent}if {expression_text(statement.condition)}:")
                lines += print_block(statement.then, depth + 1)
                if statement.otherwise:
                    lines.append(f"{indent}else:")
                    lines += print_block(statement.otherwise, depth + 1)
            case ir.Loop():
                bounds = ", ".join(map(expression_text, (statement.start, statement.stop, statement.step)))
                until = "" if statement.until is None else f" until {expression_text(statement.until)}"
                lines.append(f"{indent}for {expression_text(statement.index)} in range({bounds}){until}:")
                lines += print_block(statement.body, depth + 1)
            case ir.While():
                lines.append(f"{indent}loop, at most {statement.bound} rounds:")
                lines += print_block(statement.prelude, depth + 1)
                lines.append(f"{indent}  while {expression_text(statement.condition)}:")
                lines += print_block(statement.body, depth + 2)
            case _:
                lines.append(indent + _simple_text(statement))
    return lines


def _simple_text(statement: ir.Statement) -> str:
    match statement:
        case ir.Let():
            return f"let {expression_text(statement.local)} = {expression_text(statement.value)}"
        case ir.Declare():
            return f"var {expression_text(statement.local)} = {expression_text(statement.initial)}"
        case ir.Assign():
            return f"{expression_text(statement.local)} = {expression_text(statement.value)}"
        case ir.StoreElement():
            own = " (own)" if statement.own else ""
            place = f"{statement.buffer.name}[{expression_text(statement.index)}]"
            return f"{place} = {expression_text(statement.value)}{own}"
        case ir.SharedStore():
            return f"{statement.array.name}[{expression_text(statement.index)}] = {expression_text(statement.value)}"
        case ir.Tell():
            return f"tell {', '.join(map(expression_text, (statement.kind, *statement.record)))}"
        case ir.Barrier():
            return "barrier, storage too" if statement.storage else "barrier"
        case ir.Comment():
            return f"# {statement.text}"
    raise AssertionError(f"no text for {statement!r}")
