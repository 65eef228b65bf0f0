"""Declared types: of `let`s and `var`s, and of what the parameters of functions are given."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.builtins import extent_item, length, subject_of
from tilec.sema.cells import constant_item, expected_type
from tilec.sema.elementwise import meet_pending
from tilec.sema.items import Item, bare_shape, show_type
from tilec.sema.memory import converts, fit, shaped
from tilec.tile import ir
from tilec.types import TileType, broadcast_activity


def check_type(builder: Builder, node: core.Typed) -> Item:
    """A value against a declared type: converted and stretched to it, or reported."""
    item = builder.items[node.operand]
    dims = [builder.items[dim] for dim in node.dims or ()]
    extents = [length(builder, dim) for dim in dims]
    wanted = tuple(extent for extent in extents if extent is not None)
    if len(wanted) < len(extents):
        return builder.poison(node.span)
    if item.pending is not None and node.dims is not None:
        return meet_pending(builder, [item, shaped(wanted, node.span)], node.dtype, node.span)
    if not item.is_known:
        return item
    value = None
    if converts(builder, item, node.dtype):
        if not item.shape and not wanted:
            return _scalar(builder, item, node)
        if node.dims is not None:
            value = fit(builder, builder.value(item, node.dtype), wanted, node.span)
    if value is None:
        _refuse_type(builder, node, item)
        return builder.poison(node.span)
    if value.type.shape != wanted:
        active = broadcast_activity(wanted, [value.type])
        value = builder.emit(ir.Broadcast(TileType(node.dtype, wanted, active), node.span, value))
    return builder.item(value, node.span)


def check_fixed(builder: Builder, node: core.Fixed) -> Item:
    """The argument of a `const` parameter of a function."""
    item = builder.items[node.operand]
    if item.is_known and item.constant is None:
        builder.faults.error(catalog.NOT_CONSTANT, node.span, what=f"the argument for `const {node.subject}`")
        return builder.poison(node.span)
    return item


def _scalar(builder: Builder, item: Item, node: core.Typed) -> Item:
    if item.constant is not None:
        return constant_item(builder, item, node.dtype)
    if item.dtype is node.dtype:
        return builder.settled(item)
    return builder.item(builder.value(item, node.dtype), node.span)


def _refuse_type(builder: Builder, node: core.Typed, item: Item) -> None:
    expected = f"`{node.shown}`"
    found = show_type(item)
    hint = None
    if item.shape and node.dims is None:
        hint = f"a scalar type is one value; a tile's is `tile<{item.dtype}>[...]`, or leave the type out"
    elif item.dtype is not node.dtype and not converts(builder, item, node.dtype):
        hint = f"convert it: `{node.dtype}({item.text})`"
    if node.function:
        builder.faults.error(
            catalog.ARGUMENT_TYPE, node.span, hint=hint, parameter=node.subject, function=node.function,
            expected=expected, found=found,
        )  # fmt: skip
    else:
        builder.faults.error(
            catalog.DECLARED_TYPE, node.span, hint=hint, name=node.subject, expected=expected, found=found
        )


# --- parameters of functions


def infer_dimension(builder: Builder, node: core.Dimension) -> Item:
    """The extent that a parameter's type names, of an argument with as many axes as the type."""
    subject = subject_of(builder, node.operand)
    if subject.is_known and len(subject.shape) == node.declared.rank:
        return extent_item(builder, subject.shape[node.axis], node.span)
    if subject.is_known:
        _refuse_argument(builder, node, subject)
    return builder.poison(node.span)


def infer_out_place(builder: Builder, node: core.OutPlace) -> Item:
    """The type of what an out parameter is given."""
    type_ = expected_type(builder, node.cell)
    return Item(node.span, ir.Argument(type_, node.span)) if type_ is not None else builder.poison(node.span)


def check_exact(builder: Builder, node: core.Exact) -> None:
    """A whole tensor or an out parameter's place against its declared type, which it must be."""
    subject = subject_of(builder, node.operand)
    extents = [length(builder, builder.items[dim]) for dim in node.dims]
    if not subject.is_known or None in extents:
        return
    dtype = subject.dtype
    if isinstance(node.operand, core.WholeTensor):
        dtype = builder.tensors[node.operand.tensor].dtype
    if dtype not in node.dtypes or subject.shape != tuple(extents):
        _refuse_argument(builder, node, subject)


def _refuse_argument(builder: Builder, node: core.Dimension | core.Exact, subject: Item) -> None:
    found, hint, declared = show_type(subject), None, node.declared
    if isinstance(node.operand, core.WholeTensor):
        tensor = builder.tensors[node.operand.tensor]
        found = f"`tensor<{tensor.dtype}>{bare_shape(tensor.dims)}`"
        if not declared.shown.startswith("tensor"):
            hint = "the type of a tensor that is passed whole is `tensor<...>[...]`"
    builder.faults.error(
        catalog.ARGUMENT_TYPE, node.span, hint=hint, parameter=declared.subject, function=declared.function,
        expected=f"`{declared.shown}`", found=found,
    )  # fmt: skip
