"""`require condition, message`: checked before a launch, or now where it is known."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.control import check_condition
from tilec.tile import ir


def infer_requirement(builder: Builder, node: core.Requires) -> None:
    """Records the requirement; reports one that is false already, or that only the kernel itself could check."""
    item = builder.items[node.condition]
    if not check_condition(builder, item, "require"):
        return
    if item.constant is not None:
        if not item.constant.value:
            values = ", ".join(f"`{name}` = {value.value}" for name, value in builder.constants.items())
            builder.faults.error(
                catalog.REQUIRE_FAILS, node.span, text=node.message, values=values or "every launch"
            )
        return
    condition = builder.value(item)
    foreign = _not_of_launch(condition)
    if foreign is not None or builder.path:
        name = foreign.name or foreign.span.text if foreign is not None else "the branch around it"
        hint = None if foreign is not None else "move it out of the `if` or the loop"
        builder.faults.error(catalog.REQUIRE_NOT_LAUNCH, node.span, hint=hint, name=name)
        return
    builder.requirements.append(ir.Requirement(condition, node.message, node.span))


def _not_of_launch(value: ir.Value) -> ir.Value | None:
    """An instruction in a condition that the host cannot evaluate."""
    stack, seen = [value], {value.number}
    while stack:
        value = stack.pop()
        match value:
            case ir.Pointwise():
                new = {operand.number: operand for operand in value.operands if operand.number not in seen}
                stack.extend(new.values())
                seen.update(new)
            case ir.Dim() | ir.Scalar() | ir.Const():
                pass
            case _:
                return value
    return None
