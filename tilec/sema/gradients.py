"""`grad(y, x)` and `stop_grad(x)`: what they may be given. `tile.passes.differentiate` computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.items import Item, Pending, show_type
from tilec.syntax import ast
from tilec.tile import ir
from tilec.types import DType

if TYPE_CHECKING:
    from tilec.sema.names import _Checker


def check_gradient_call(checker: _Checker, call: ast.Call) -> None:
    """The second argument is a name: the derivative is with respect to the value that it holds."""
    if len(call.arguments) != 2:
        return
    given = call.arguments[1].value
    if not isinstance(given, ast.Name):
        checker.reporter.error(catalog.GRADIENT_NEEDS_NAME, given.span, text=given.span.text)
        return
    local = checker.find(given.name)
    if local is not None and local.kind == "tensor":
        hint = f"a derivative is by a tile that was read: `let x = {given.name}[...]`, then `grad(y, x)`"
        checker.reporter.error(catalog.TENSOR_AS_VALUE, given.span, hint=hint, name=given.name, subscripts="...")


def infer_gradient(builder: Builder, node: core.Builtin) -> Item:
    """The gradient's type is that of `x`; the pass that makes it checks that `y` depends on `x`."""
    y, x = (builder.items[operand] for operand in node.operands)
    if x.is_poison or y.is_poison:
        return builder.poison(node.span)
    if x.pending is not None:
        return Item(node.span, pending=Pending(frozenset(), (), DType.F32))
    for item, role in ((y, "differentiated"), (x, "what is differentiated by")):
        if item.dtype is not DType.F32:
            builder.faults.error(catalog.GRADIENT_TYPE, item.span, role=role, found=show_type(item).strip("`"))
            return builder.poison(node.span)
    if x.constant is not None:
        reason = f"`{x.span.text}` is known when the kernel is compiled"
        builder.faults.error(
            catalog.GRADIENT_INDEPENDENT, node.span, y=y.span.text, x=x.span.text, reason=reason
        )
        return builder.poison(node.span)
    value = builder.value(x)
    if y.pending is not None:
        return builder.item(builder.emit(ir.Stop(value.type, node.span, value)), node.span)
    return builder.item(builder.emit(ir.Gradient(value.type, node.span, builder.value(y), value)), node.span)


def infer_stop(builder: Builder, node: core.Builtin) -> Item:
    """The value itself, through which no gradient passes."""
    (item,) = (builder.items[operand] for operand in node.operands)
    if not item.is_known or item.value is None or item.dtype is not DType.F32:
        return item
    return builder.item(builder.emit(ir.Stop(item.value.type, node.span, item.value)), node.span)
