"""What a sink needs: the walk from a value down to the loads, registers and slots that it is recomputed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tilec.plan.ir import Roles, Sink, Slot
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.tile.walk import opaque_of, scalar_of
from tilec.types import Extent


def operand_roles(shape: tuple[Extent, ...], roles: Roles) -> Roles:
    """Roles of an operand of `shape` under an elementwise result with `roles`: aligned at the last axis."""
    offset = len(roles) - len(shape)
    return tuple("." if extent.is_one else roles[offset + axis] for axis, extent in enumerate(shape))


def view_roles(view: tile.View, roles: Roles) -> Roles:
    """Roles of a view's operand under the view's result with `roles`."""
    result = ["."] * view.operand.type.rank
    for axis, source in enumerate(view.axes):
        if source is not None and not view.operand.type.shape[source].is_one:
            result[source] = roles[axis]
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Access:
    """A sink's touch of memory: a tensor (by name) or a slot. `start` and `role` an axis, the start as a polynomial."""

    memory: str | Slot
    starts: tuple[Extent, ...]
    roles: Roles
    writes: bool
    is_narrow: bool
    load: tile.Value | None = None

    @property
    def tensor(self) -> str:
        """The name of the tensor that is touched."""
        assert isinstance(self.memory, str)
        return self.memory


@dataclass(slots=True)
class Needs:
    """`leaves` are values of other sinks (a reduction's result, a pick) with the roles at which they are read."""

    leaves: list[tuple[tile.Value, Roles]] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)


class Walker:
    """Walks values with their roles; what is in `homes` (published, carried) is read from its slot instead.

    `sink_values` are the reductions and picks that are sinks of their own. `written` are the tensors that the kernel
    stores: reads of others are not recorded.
    """

    def __init__(self, homes: dict[tile.Value, Slot], sink_values: set[tile.Value], written: set[str]) -> None:
        self.homes = homes
        self.sink_values = sink_values
        self.written = written

    def needs(self, sink: Sink, roles: Roles) -> Needs:
        """All that `sink` reads and writes under `roles`."""
        needs = Needs()
        seen: set[tuple[int, Roles]] = set()
        is_narrow = not any(role.startswith(("s", "a")) for role in roles)
        # A sweep's lanes all work out what is one element a row: no read of a reduction or a pick is the first lane's.
        if sink.kind == "reduce":
            self._visit(sink.operand, roles, needs, seen, False)
        elif sink.kind == "pick":
            operand, index = sink.operand, sink.pick.index
            self._visit(operand, operand_roles(operand.type.shape, roles), needs, seen, False)
            self._visit(index, operand_roles(index.type.shape, (*roles[:-1], ".")), needs, seen, False)
        elif sink.kind == "store":
            store, operand = sink.store, sink.operand
            self._visit(operand, operand_roles(operand.type.shape, roles), needs, seen, is_narrow)
            for index in store.indices:
                self._visit(scalar_of(index), (), needs, seen, is_narrow)
            for scalar in opaque_of(store):
                self._visit(scalar, (), needs, seen, is_narrow)
            needs.accesses.append(_tensor_access(store, roles, True, is_narrow))
        elif sink.kind == "report":
            report = sink.report
            for operand in (report.where, *report.values):
                self._visit(operand, operand_roles(operand.type.shape, roles), needs, seen, is_narrow)
            for scalar in (*report.rounds, *opaque_of(report.where)):
                self._visit(scalar, (), needs, seen, is_narrow)
        else:
            self._visit(sink.value, roles, needs, seen, is_narrow, at_home=sink.kind != "publish")
            slot = sink.target
            needs.accesses.append(Access(slot, (Extent(()),) * len(slot.shape), roles, True, is_narrow))
        return needs

    def _visit(
        self, value: tile.Value, roles: Roles, needs: Needs, seen: set, is_narrow: bool, at_home: bool = True
    ) -> None:
        """Iterative depth-first walk."""
        stack = [(value, roles, at_home)]
        while stack:
            value, roles, at_home = stack.pop()
            if (value.number, roles) in seen:
                continue
            seen.add((value.number, roles))
            if at_home and value in self.homes:
                slot = self.homes[value]
                needs.accesses.append(
                    Access(slot, (Extent(()),) * len(slot.shape), roles, False, is_narrow, value)
                )
                if value in self.sink_values:
                    needs.leaves.append((value, roles))
                continue
            if value in self.sink_values:
                needs.leaves.append((value, roles))
                continue
            if isinstance(value, tile.Load) and value.tensor in self.written:
                needs.accesses.append(_tensor_access(value, roles, False, is_narrow))
            stack.extend((operand, own, True) for operand, own in children(value, roles))


def children(value: tile.Value, roles: Roles) -> Iterator[tuple[tile.Value, Roles]]:
    """Operands with the roles at which an evaluation of `value` at `roles` reads them."""
    for scalar in opaque_of(value):
        yield scalar, ()
    match value:
        case tile.View():
            yield value.operand, view_roles(value, roles)
        case tile.Pick():
            operand, index = value.operand, value.index
            yield index, operand_roles(index.type.shape, roles)
            yield operand, operand_roles(operand.type.shape, roles)  # anywhere in the row, which is role "." as well
        case tile.Load():
            scalars = [scalar_of(index) for index in value.indices]
            yield from ((scalar, ()) for scalar in (*scalars, value.fill) if scalar is not None)
        case tile.Result(producer=tile.If() as node):
            yield node.condition, ()
            yield from _at_roles((node.then.yields[value.index], node.otherwise.yields[value.index]), roles)
        case _:
            yield from _at_roles(_lane_by_lane(value), roles)


def _lane_by_lane(value: tile.Value) -> tuple[tile.Value, ...]:
    """Operands that are read at the value's own position, broadcast."""
    match value:
        case tile.Pointwise():
            return value.operands
        case tile.Broadcast():
            return (value.operand,)
        case tile.Pad():
            return (value.operand, value.fill)
        case tile.Update():
            return (value.old, value.new)
    return ()


def _at_roles(operands: tuple[tile.Value, ...], roles: Roles) -> Iterator[tuple[tile.Value, Roles]]:
    for operand in operands:
        yield operand, operand_roles(operand.type.shape, roles)


def _tensor_access(value: tile.Load | tile.Store, roles: Roles, writes: bool, is_narrow: bool) -> Access:
    starts: list[Extent] = []
    axis_roles: list[str] = []
    axis = 0
    for index in value.indices:
        starts.append(extent_of(scalar_of(index)))
        if isinstance(index, tile.SpanIndex):
            axis_roles.append(roles[axis])
            axis += 1
        else:
            axis_roles.append("point")
    load = None if writes else value
    return Access(value.tensor, tuple(starts), tuple(axis_roles), writes, is_narrow, load)


def relation(left: Access, right: Access, kept_count: int) -> str:
    """How two accesses of one memory within a phase relate: "own" (each element by the same lane), "job" (each by lanes
    of the same job) or "block" (by different jobs, or it is not known). Narrow sinks are done by a job's first lane."""
    same = left.roles == right.roles and left.starts == right.starts
    is_wide = any(role.startswith("s") for role in left.roles)
    if same and (left.is_narrow == right.is_narrow) and (is_wide or left.is_narrow):
        return "own"
    for number in range(kept_count):
        kept = f"k{number}"
        if kept not in left.roles or kept not in right.roles:
            return "block"
        axis = left.roles.index(kept)
        if right.roles.index(kept) != axis or left.starts[axis] != right.starts[axis]:
            return "block"
    return "own" if left.is_narrow and right.is_narrow else "job"
