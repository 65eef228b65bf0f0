"""Statements of the loop IR in one line each, for the interpreter's and the verifier's messages."""

from __future__ import annotations

from tilec.loop import ir

_LENGTH = 100


def expression_text(expression: ir.Expr) -> str:
    """The expression in a notation like WGSL's."""
    match expression:
        case ir.Const():
            return str(expression.value).lower()
        case ir.Local():
            return f"{expression.hint}.{expression.number}"
        case ir.Uniform():
            return expression.field.name
        case ir.Builtin():
            return expression.name
        case ir.Load():
            return f"{expression.buffer.name}[{expression_text(expression.index)}]"
        case ir.SharedLoad():
            return f"{expression.array.name}[{expression_text(expression.index)}]"
        case ir.UniformLoad():
            return f"uniform_load({expression.array.name})"
        case ir.Shuffle():
            return f"shuffle({expression_text(expression.value)}, {expression.mask})"
        case ir.SubgroupReduce():
            return f"subgroup_{expression.op}({expression_text(expression.value)})"
        case _:
            return _compound_text(expression)


def _compound_text(expression: ir.Expr) -> str:
    match expression:
        case ir.Op() | ir.Bits():
            return f"{expression.op}({', '.join(map(expression_text, expression.operands))})"
        case ir.Select():
            parts = (expression.condition, expression.chosen, expression.other)
            return f"select({', '.join(map(expression_text, parts))})"
        case ir.Component():
            return f"{expression_text(expression.vector)}.{'xyzw'[expression.index]}"
        case ir.Vector():
            return f"vec4({', '.join(map(expression_text, expression.components))})"
    return type(expression).__name__


def _head_text(statement: ir.Statement) -> str:
    match statement:
        case ir.Let() | ir.Assign():
            return f"{expression_text(statement.local)} = {expression_text(statement.value)}"
        case ir.Declare():
            return f"var {expression_text(statement.local)} = {expression_text(statement.initial)}"
        case ir.StoreElement():
            target = f"{statement.buffer.name}[{expression_text(statement.index)}]"
            return f"{target} = {expression_text(statement.value)}"
        case ir.SharedStore():
            return f"{statement.array.name}[{expression_text(statement.index)}] = {expression_text(statement.value)}"
        case ir.If():
            return f"if {expression_text(statement.condition)}"
        case ir.Loop():
            bounds = (statement.start, statement.stop, statement.step)
            return f"for {expression_text(statement.index)} in {', '.join(map(expression_text, bounds))}"
        case ir.While():
            return f"while {expression_text(statement.condition)}"
        case ir.Tell():
            return f"tell {', '.join(map(expression_text, (statement.kind, *statement.record)))}"
        case ir.Barrier():
            return "storage barrier" if statement.storage else "barrier"
    return type(statement).__name__


def statement_text(statement: ir.Statement) -> str:
    """The statement's first line, shortened, with the place in the source where it is known."""
    text = _head_text(statement)
    if len(text) > _LENGTH:
        text = f"{text[: _LENGTH - 3]}..."
    span = statement.span if isinstance(statement, ir.Let | ir.StoreElement) else None
    return text if span is None else f"{text} ({span.place})"
