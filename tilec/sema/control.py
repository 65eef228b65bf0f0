"""Branches and loops: cells that a region writes become results and carried values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilec.diag import catalog
from tilec.errors import InternalError
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.cells import assign
from tilec.sema.items import Item, bare_shape
from tilec.sema.memory import read
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.wrapping import stays
from tilec.types import ONE, DType, Extent, TileType

Run = Callable[[Builder, core.Block], None]


def infer_branch(builder: Builder, node: core.Branch, run: Run) -> None:
    """An `if`. Known conditions leave only the branch taken."""
    condition = builder.items[node.condition]
    if not check_condition(builder, condition, node.keyword):
        _run_for_faults(builder, (node.then, node.otherwise), run)
        return
    if condition.constant is not None:
        run(builder, node.then if condition.constant.value else node.otherwise)
        return
    decision = builder.value(condition)
    outer_cells, outer_body = dict(builder.cells), builder.body
    pins = _pins(decision)
    is_conditional = node.keyword == "if"
    then = _region(builder, node.then, run, pins if is_conditional else {}, is_conditional=is_conditional)
    then_cells = builder.cells
    builder.cells = dict(outer_cells)
    otherwise = _region(builder, node.otherwise, run, {}, is_conditional=is_conditional)
    otherwise_cells = builder.cells
    builder.cells, builder.body = outer_cells, outer_body
    _join(builder, node, decision, (then, then_cells), (otherwise, otherwise_cells))


def _region(
    builder: Builder, block: core.Block, run: Run, pins: dict[int, Extent], *, is_conditional: bool = False
) -> list[ir.Value]:
    body, builder.body = builder.body, []
    pinned, builder.pinned = builder.pinned, {**builder.pinned, **pins}
    path = builder.path
    builder.region_count += 1
    builder.path = (*path, builder.region_count)
    builder.conditional += is_conditional
    builder.cells = dict(builder.cells)
    run(builder, block)
    builder.conditional -= is_conditional
    builder.path = path
    builder.pinned = pinned
    result, builder.body = builder.body, body
    return result


def _run_for_faults(builder: Builder, blocks: Sequence[core.Block], run: Run) -> None:
    """Blocks whose control is broken are still looked through; what they write is not known afterwards."""
    outer = dict(builder.cells)
    for block in blocks:
        builder.cells = dict(outer)
        _region(builder, block, run, {})
    builder.cells = outer
    for block in blocks:
        for cell in block.written:
            if cell in outer:
                builder.cells[cell] = builder.poison(outer[cell].span)


Branch = tuple[list[ir.Value], dict[core.Cell, Item]]


def _join(builder: Builder, node: core.Branch, decision: ir.Value, then: Branch, otherwise: Branch) -> None:
    """The `If` with a result for every cell that differs after it."""
    written = sorted(node.then.written | node.otherwise.written, key=lambda cell: (cell.span.start, cell.name))
    pairs: list[tuple[core.Cell, ir.Value, ir.Value]] = []
    for cell in written:
        first, second = then[1].get(cell), otherwise[1].get(cell)
        if first is None or second is None or first is second:
            continue  # it was declared inside, or not changed
        if not first.is_known or not second.is_known:
            builder.cells[cell] = first if not first.is_known else second
            continue
        yields = _agreeing(builder, cell, (then[0], first), (otherwise[0], second), node.span)
        pairs.append((cell, *yields))
    type_ = TileType(DType.BOOL)
    first_region = ir.Region(then[0], tuple(value for _, value, _ in pairs))
    second_region = ir.Region(otherwise[0], tuple(value for _, _, value in pairs))
    producer = builder.emit(ir.If(type_, node.span, decision, first_region, second_region))
    for index, (cell, value, _) in enumerate(pairs):
        result = builder.emit(ir.Result(value.type, node.span, producer, index, name=cell.name))
        builder.cells[cell] = builder.item(result, node.span)


def _agreeing(
    builder: Builder,
    cell: core.Cell,
    then: tuple[list[ir.Value], Item],
    otherwise: tuple[list[ir.Value], Item],
    span: Span,
) -> tuple[ir.Value, ir.Value]:
    """Both sides' values with one type. Only an out parameter's first assignments may differ, in activity."""
    values = [_inside(builder, body, item) for body, item in (then, otherwise)]
    if values[0].type == values[1].type:
        return values[0], values[1]
    old = _old_value(builder, cell, span)
    if old is None or old.type.shape != values[0].type.shape:
        sides = " and ".join(str(value.type) for value in values)
        raise InternalError("sema.control", f"`{cell.name}` is {sides} on the two sides of a branch")
    updated = []
    for body, value in zip((then[0], otherwise[0]), values, strict=True):
        update = ir.Update(old.type, span, old, value, name=cell.name)
        body.append(update)
        updated.append(update)
    return updated[0], updated[1]


def _old_value(builder: Builder, cell: core.Cell, span: Span) -> ir.Value | None:
    """What an out parameter's place holds before the branch."""
    out = builder.outs.get(cell)
    while out is not None:
        if out.place is not None:
            return builder.value(read(builder, out.place, span))
        assert out.cell is not None
        held = builder.cells.get(out.cell)
        if held is not None and held.is_known:
            return builder.value(held)
        out = builder.outs.get(out.cell)
    return None


def _inside(builder: Builder, body: list[ir.Value], item: Item) -> ir.Value:
    """The item's instruction, made at the end of a region where it is only known so far."""
    outer, builder.body = builder.body, body
    value = builder.value(item)
    builder.body = outer
    return value


def check_condition(builder: Builder, item: Item, keyword: str) -> bool:
    """Whether the item is one bool; reported otherwise."""
    if not item.is_known:
        return False
    if item.shape:
        builder.faults.error(
            catalog.CONDITION_NOT_SCALAR, item.span, notes=item.told_outside(f"this is {bare_shape(item.shape)}"),
            statement=keyword, shape=bare_shape(item.shape),
        )  # fmt: skip
        return False
    if item.dtype is not DType.BOOL:
        text = item.text
        builder.faults.error(catalog.CONDITION_NOT_BOOL, item.span, statement=keyword, found=item.dtype, text=text)
        return False
    return True


def _pins(condition: ir.Value) -> dict[int, Extent]:
    """Block axes that a condition such as `ctx.block.x == 0` fixes."""
    from tilec.tile.affine import extent_of

    match condition:
        case ir.Pointwise(op="eq", operands=(ir.BlockIndex(axis=axis), other)):
            return {axis: extent_of(other)}
        case ir.Pointwise(op="eq", operands=(other, ir.BlockIndex(axis=axis))):
            return {axis: extent_of(other)}
        case ir.Pointwise(op="and", operands=(left, right)):
            return {**_pins(left), **_pins(right)}
    return {}


# --- loops


def infer_for(builder: Builder, node: core.ForLoop, run: Run) -> None:
    """A counted loop; its counter's range serves proofs."""
    start, stop = (_bound(builder, builder.items[bound]) for bound in (node.start, node.stop))
    step = _step(builder, builder.items[node.step]) if node.step is not None else 1
    if start is None or stop is None or step is None:
        builder.items[node.index] = builder.poison(node.index.span)
        _run_for_faults(builder, (node.body,), run)
        return
    bounds = builder.value(start, DType.I32), builder.value(stop, DType.I32)
    index = ir.Argument(TileType(DType.I32), node.index.span)
    index.name = f"{node.index.name}.{index.number}"
    first, end = start.extent, stop.extent
    assert first is not None
    assert end is not None
    is_exact = stays(first, builder.ranges)
    extent = builder.opaque(index, node.index.span, nonnegative=is_exact and builder.is_nonnegative(first))
    last = end - ONE
    if first.constant is not None and end.constant is not None:
        last = Extent.of(first.constant + max(0, end.constant - 1 - first.constant) // step * step)
    (atom,) = extent.atoms
    if is_exact and stays(end, builder.ranges):  # else the loop counts from or to what they wrap to
        builder.ranges[atom] = (first, last)
    builder.items[node.index] = Item(node.index.span, index, extent=extent)
    cells, carried, initial = _carried(builder, node.body.written)
    outer = dict(builder.cells)
    builder.cells.update((cell, builder.item(a, a.span)) for cell, a in zip(cells, carried, strict=True))
    body = _region(builder, node.body, run, {})
    region = _closed(builder, cells, carried, body)
    builder.cells = outer
    until = cells.index(node.ends) if node.ends in cells else None
    loop = ir.For(
        TileType(DType.I32), node.span, index, bounds[0], bounds[1], step, carried, initial, region, until
    )
    _results(builder, builder.emit(loop), cells, carried, node.span)


def infer_while(builder: Builder, node: core.WhileLoop, run: Run) -> None:
    """A loop on a condition, computed before each round from the carried values."""
    cells, carried, initial = _carried(builder, node.test.written | node.body.written)
    outer = dict(builder.cells)
    builder.cells.update((cell, builder.item(a, a.span)) for cell, a in zip(cells, carried, strict=True))
    inner = dict(builder.cells)
    test = _region(builder, node.test, run, {})
    condition = builder.items[node.condition]
    is_sound = check_condition(builder, condition, "while")
    yields = (_inside(builder, test, condition),) if is_sound else ()
    builder.cells = inner
    body = _region(builder, node.body, run, {}, is_conditional=True)
    region = _closed(builder, cells, carried, body)
    builder.cells = outer
    if not is_sound:
        return
    loop = ir.While(
        TileType(DType.I32), node.span, carried, initial, ir.Region(test, yields), region, builder.while_bound
    )
    _results(builder, builder.emit(loop), cells, carried, node.span)


def _carried(
    builder: Builder, written: set[core.Cell]
) -> tuple[list[core.Cell], tuple[ir.Argument, ...], tuple[ir.Value, ...]]:
    """The cells that a loop's body writes and that exist before it, as arguments with their first values."""
    cells = [cell for cell in written if cell in builder.cells and builder.cells[cell].is_known]
    cells.sort(key=lambda cell: (cell.span.start, cell.name))
    initial = tuple(builder.value(builder.cells[cell]) for cell in cells)
    carried = tuple(
        ir.Argument(value.type, cell.span, name=cell.name) for cell, value in zip(cells, initial, strict=True)
    )
    return cells, carried, initial


def _closed(
    builder: Builder, cells: list[core.Cell], carried: tuple[ir.Argument, ...], body: list[ir.Value]
) -> ir.Region:
    """The body's region, which yields what the cells hold at its end."""
    yields = []
    for cell, argument in zip(cells, carried, strict=True):
        item = builder.cells[cell]
        yields.append(_inside(builder, body, item) if item.is_known else argument)
    return ir.Region(body, tuple(yields))


def _results(
    builder: Builder, producer: ir.Value, cells: list[core.Cell], carried: tuple[ir.Argument, ...], span: Span
) -> None:
    for index, (cell, argument) in enumerate(zip(cells, carried, strict=True)):
        result = builder.emit(ir.Result(argument.type, span, producer, index, name=cell.name))
        builder.cells[cell] = builder.item(result, span)


def _bound(builder: Builder, item: Item) -> Item | None:
    """A bound of `range`, which must be one integer."""
    if not item.is_known:
        return None
    if item.dtype is not DType.I32 or item.shape:
        found = f"a tile of shape {bare_shape(item.shape)}" if item.shape else f"`{item.dtype}`"
        hint = None if item.shape else f"convert it: `i32({item.text})`"
        builder.faults.error(catalog.SUBSCRIPT_TYPE, item.span, hint=hint, found=found)
        return None
    return builder.settled(item)


def _step(builder: Builder, item: Item) -> int | None:
    if not item.is_known:
        return None
    if item.constant is None or item.constant.dtype is not DType.I32:
        builder.faults.error(catalog.STEP_NOT_CONSTANT, item.span)
        return None
    value = int(builder.constant(item, DType.I32))
    if value < 1:
        builder.faults.error(catalog.STEP_NOT_POSITIVE, item.span, value=value)
        return None
    return value


__all__ = ["assign", "check_condition", "infer_branch", "infer_for", "infer_while"]
