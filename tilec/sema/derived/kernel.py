"""Adds to a forward kernel the gradient of the weighted sum of its losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.sema.access import given_dims
from tilec.sema.derived.places import Axis, are_apart, axes_of, covers, shared_axis, span_type
from tilec.sema.derived.straighten import Guarded, stores_to, straighten
from tilec.sema.program import Derivation, KernelSignature
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.gradient.depend import Dependence
from tilec.tile.make import make_constant, make_pointwise
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.forward_stores import forward_stores
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk
from tilec.types import DType, Extent, TileType, broadcast_activity


def derive_kernel(
    forward: ir.Kernel, signature: KernelSignature, constants: Mapping[str, bool | int | float], reporter: Reporter
) -> ir.Kernel | None:
    """The forward kernel with the gradient kernel's parameters, its gradients and their stores at the end.

    `constants` are the scalars that are fixed, the weight of all losses among them perhaps. What cannot be
    differentiated, or would need sums over blocks, is reported; the result is then None.
    """
    assert signature.derivation is not None
    return _Deriver(forward, signature, signature.derivation, constants, reporter).run()


@dataclass(slots=True, eq=False)
class _Place:
    """A span of a tensor with the loads of it, all outside of branches and loops: they differ in what lies outside."""

    axes: tuple[Axis, ...]
    loads: list[ir.Load]

    @property
    def first(self) -> ir.Load:
        return self.loads[0]


class _Deriver:
    def __init__(
        self,
        forward: ir.Kernel,
        signature: KernelSignature,
        derivation: Derivation,
        constants: Mapping[str, bool | int | float],
        reporter: Reporter,
    ) -> None:
        self.signature, self.derivation, self.reporter = signature, derivation, reporter
        self.weight = constants.get(derivation.weights)
        self.forward = forward
        self.kernel = forward
        self.body: list[ir.Value] = []

    def run(self) -> ir.Kernel | None:
        self._check_stores()
        if self.reporter.has_errors:
            return None
        kernel = drop_dead(forward_stores(self.forward))
        wrt, loss = self.derivation.wrt, self.derivation.loss
        kernel = straighten(kernel, wrt, loss, self._report_control)
        if self.reporter.has_errors:
            return None
        self.kernel = rewrite(kernel, _Merger(wrt).rule)
        self.body = list(self.kernel.body.body)
        losses = self._losses()
        self._check_memory(losses)
        if self.reporter.has_errors:
            return None
        weighted = [
            self._weighted(one, [later for later in losses[position + 1 :] if _is_same_place(one, later)])
            for position, one in enumerate(losses)
        ]
        stores: list[ir.Store] = []
        for name in wrt:
            stores += self._gradients(name, weighted)
        if self.reporter.has_errors:
            return None
        return self._finished([*self.body, *stores])

    def _error(self, span: Span, reason: str) -> None:
        self.reporter.error(
            catalog.NOT_DERIVED, span, kernel=self.derivation.forward, wrt=", ".join(self.derivation.wrt), reason=reason
        )

    def _report_control(self, span: Span, where: str) -> None:
        self._error(span, f"{where}, and its derivative would be too: read it once, before, or store it once, behind")

    # --- what the kernel stores ----------------------------------------------------------------------------------

    def _check_stores(self) -> None:
        stored = {value.tensor for value in walk(self.forward.body) if isinstance(value, ir.Store)}
        loss = self.derivation.loss
        if loss not in stored:
            self._error(self.forward.tensor(loss).span, f"`{loss}` is the loss, and the kernel never stores to it")
        for value in walk(self.forward.body):
            if isinstance(value, ir.Store) and value.tensor in self.derivation.wrt:
                self._error(value.span, f"the kernel stores to `{value.tensor}` itself")
        read = {value.tensor for value in walk(self.forward.body) if isinstance(value, ir.Load)}
        for name in self.derivation.wrt:
            if name not in read:
                self._error(self.forward.tensor(name).span, f"the kernel never reads `{name}`")

    def _losses(self) -> list[Guarded]:
        """The stores to the loss that may last: each touches just what another one does, or nothing of it."""
        found = stores_to(self.kernel.body, self.derivation.loss)
        kept: list[Guarded] = []
        for one in found:
            if not one.conditions and _is_whole(one.store):
                kept = [other for other in kept if not _is_same_place(other, one)]
            kept.append(one)
        for position, one in enumerate(kept):
            for other in kept[:position]:
                is_over = _is_same_place(one, other) and _is_whole(one.store)
                is_clear = is_over or _exclude(one, other)
                if not is_clear and not are_apart(axes_of(one.store.indices), axes_of(other.store.indices)):
                    line = other.store.span.source.line_column(other.store.span.start)[0]
                    name = self.derivation.loss
                    self._error(one.store.span, f"`{name}` is stored here over what line {line} may have stored")
        return kept

    def _check_memory(self, losses: list[Guarded]) -> None:
        """No loss is computed from a tensor that holds what depends on the values: stores have no derivative."""
        stored: dict[str, ir.Store] = {}
        loads = [value for value in self.body if isinstance(value, ir.Load) and value.tensor in self.derivation.wrt]
        for load in loads:
            dependence = Dependence(self.kernel.body, load)
            for value in walk(self.kernel.body):
                if isinstance(value, ir.Store) and value.operand in dependence:
                    stored.setdefault(value.tensor, value)
        for value in walk(self.kernel.body):
            if not isinstance(value, ir.Load) or value.tensor not in stored:
                continue
            dependence = Dependence(self.kernel.body, value)
            if any(one.store.operand in dependence for one in losses):
                line = stored[value.tensor].span.source.line_column(stored[value.tensor].span.start)[0]
                reason = f"the loss is computed from `{value.tensor}` after line {line} stored there, and stores have "
                self._error(value.span, reason + "no derivative: keep the value in a `let`")

    # --- the sum that is differentiated --------------------------------------------------------------------------

    def _weighted(self, loss: Guarded, later: list[Guarded]) -> ir.Value:
        """The elements that a store writes, each times its weight; 0 where the store is not reached, or where a later
        one writes over it."""
        store, span = loss.store, loss.store.span
        name = self.derivation.weights
        if self.derivation.upstream == "tensor":
            assert store.type is not None
            tile = store.type.with_dtype(DType.F32)
            weight: ir.Value = ir.Load(tile, span, name, store.indices, name=name)
            self.body.append(weight)
            total = self._pointwise("mul", store.operand, weight, span=span)
        else:
            weight = ir.Scalar(TileType(DType.F32), span, name, name=name)
            if self.weight is not None:
                weight = make_constant(self.weight, DType.F32, span)
            self.body.append(weight)
            total = self._pointwise("mul", self._inside(store), weight, span=span)
        for other in later:
            if not _exclude(loss, other):
                total = self._chosen(self._reached(other), total, span, wanted=False)
        if loss.conditions:
            total = self._chosen(self._reached(loss), total, span, wanted=True)
        total.name = self.derivation.loss
        return total

    def _reached(self, loss: Guarded) -> ir.Value:
        """Whether a store is reached, as one bool."""
        total: ir.Value | None = None
        for condition, wanted in loss.conditions:
            holds = condition if wanted else self._pointwise("not", condition, span=loss.store.span)
            total = holds if total is None else self._pointwise("and", total, holds, span=loss.store.span)
        assert total is not None
        return total

    def _chosen(self, condition: ir.Value, value: ir.Value, span: Span, *, wanted: bool) -> ir.Value:
        """The value where the condition is as wanted, else 0."""
        zero = make_constant(0.0, DType.F32, span)
        self.body.append(zero)
        return self._pointwise("where", condition, *((value, zero) if wanted else (zero, value)), span=span)

    def _inside(self, store: ir.Store) -> ir.Value:
        """What is stored in every lane of the span, and 0 outside of the tensor, where the value's own activity does
        not end with it."""
        value, span = store.operand, store.span
        assert store.type is not None
        shape = store.type.shape
        active = broadcast_activity(shape, [value.type])
        if value.type.shape != shape:
            value = ir.Broadcast(TileType(value.type.dtype, shape, active), span, value)
            self.body.append(value)
        axis = -1
        for index, dim in zip(store.indices, self.kernel.tensor(store.tensor).dims, strict=True):
            if isinstance(index, ir.PointIndex):
                value = self._where_inside(value, index.index, dim, span)
                continue
            axis += 1
            if store.type.active[axis] <= active[axis]:
                continue
            lane = ir.Iota(TileType(DType.I32, _along(shape, axis)), span, axis)
            self.body.append(lane)
            value = self._where_inside(value, self._pointwise("add", index.start, lane, span=span), dim, span)
        return value

    def _where_inside(self, value: ir.Value, position: ir.Value, dim: Extent, span: Span) -> ir.Value:
        low = make_constant(0, DType.I32, span)
        high = ir.Dim(TileType(DType.I32), span, dim)
        self.body += [low, high]
        is_above = self._pointwise("ge", position, low, span=span)
        is_below = self._pointwise("lt", position, high, span=span)
        is_inside = self._pointwise("and", is_above, is_below, span=span)
        return self._chosen(is_inside, value, span, wanted=True)

    def _pointwise(self, op: str, *operands: ir.Value, span: Span) -> ir.Value:
        value = make_pointwise(op, operands, span)
        self.body.append(value)
        return value

    # --- gradients -----------------------------------------------------------------------------------------------

    def _gradients(self, name: str, weighted: list[ir.Value]) -> list[ir.Store]:
        """The stores of the gradient with respect to one tensor; the gradients themselves go into the body."""
        region = ir.Region(self.body)
        target = self.derivation.outputs.get(name, name)
        found: list[tuple[_Place, ir.Value]] = []
        for place in self._places(name):
            gradient: ir.Value | None = None
            for load in place.loads:
                dependence = Dependence(region, load)
                for total in weighted:
                    if total not in dependence:
                        continue
                    part = ir.Gradient(load.type, total.span, total, load)
                    self.body.append(part)
                    gradient = part if gradient is None else self._pointwise("add", gradient, part, span=total.span)
            if gradient is not None:
                gradient.name = target
                found.append((place, gradient))
        if not found:
            reason = f"`{self.derivation.loss}` does not depend on `{name}` by what has a derivative"
            self._error(self.kernel.tensor(name).span, reason)
            return []
        self._check_places(name, [place for place, _ in found])
        tensor = self.kernel.tensor(name)
        return [
            ir.Store(span_type(tensor, place.first.indices), place.first.span, target, place.first.indices, gradient)
            for place, gradient in found
        ]

    def _places(self, name: str) -> list[_Place]:
        found: dict[tuple[Axis, ...], _Place] = {}
        for value in self.body:
            if isinstance(value, ir.Load) and value.tensor == name:
                axes = axes_of(value.indices)
                found.setdefault(axes, _Place(axes, [])).loads.append(value)
        return list(found.values())

    def _check_places(self, name: str, places: list[_Place]) -> None:
        """The gradient of every element comes from one place of one block."""
        for position, place in enumerate(places):
            for other in places[:position]:
                if not are_apart(place.axes, other.axes):
                    line = other.first.span.source.line_column(other.first.span.start)[0]
                    reason = f"this reads elements of `{name}` that line {line} may read too, and their gradients "
                    self._error(place.first.span, reason + "would have to be added: read them once")
                    return
        spans = [place.axes for place in places]
        axis = shared_axis(self.kernel, name, spans)
        if axis is not None and name not in self._disjoint():
            reason = f"blocks along `ctx.block.{'xyz'[axis]}` may read the same elements of `{name}`, and the "
            self._error(places[0].first.span, reason + "gradients of all of them would have to be added")
            return
        if self.derivation.in_place and not covers(self.kernel, name, spans):
            reason = f"it is not proved that all of `{name}` is read, and what is not would keep its values in place "
            self._error(places[0].first.span, reason + "of a gradient of 0: derive it out of place")

    def _disjoint(self) -> set[str]:
        from tilec.sema.attributes import read_attributes
        from tilec.sema.faults import Faults

        return read_attributes(self.signature, Faults(Reporter(), is_silent=True)).disjoint

    # --- the kernel ----------------------------------------------------------------------------------------------

    def _finished(self, body: list[ir.Value]) -> ir.Kernel:
        tensors = {tensor.name: tensor for tensor in self._tensors()}
        fixed = {} if self.weight is None else {self.derivation.weights: self.weight}
        scalars = {scalar.name: scalar for scalar in self._scalars()}
        names = tuple(
            parameter.name
            for parameter in self.signature.parameters
            if parameter.name in tensors or parameter.name in scalars
        )
        return replace(
            self.kernel, name=self.signature.name, tensors=tuple(tensors[name] for name in names if name in tensors),
            scalars=tuple(scalars[name] for name in names if name in scalars), parameters=names,
            constants={**self.kernel.constants, **fixed},
            given_dims=given_dims(self.kernel.dims, tuple(tensors.values())), body=ir.Region(body),
            doc=self.signature.doc,
        )  # fmt: skip

    def _tensors(self) -> list[ir.TensorParameter]:
        derivation = self.derivation
        found: list[ir.TensorParameter] = []
        for tensor in self.kernel.tensors:
            variable = derivation.same_type.get(tensor.name, tensor.type_variable)
            access = "inout" if derivation.in_place and tensor.name in derivation.wrt else tensor.access
            found.append(replace(tensor, type_variable=variable, access=access))
            if tensor.name in derivation.outputs:
                parameter = self.signature.parameter(derivation.outputs[tensor.name])
                assert parameter is not None
                output = replace(tensor, name=parameter.name, type_variable=variable, access="out", doc=parameter.doc)
                found.append(output)
            if tensor.name == derivation.loss and derivation.upstream == "tensor":
                parameter = self.signature.parameter(derivation.weights)
                assert parameter is not None
                types = DType.F32, parameter.alternatives
                weights = ir.TensorParameter(
                    parameter.name, *types, None, tensor.dims, "in", parameter.doc, tensor.span
                )
                found.append(weights)
        return found

    def _scalars(self) -> list[ir.ScalarParameter]:
        found = list(self.kernel.scalars)
        parameter = self.signature.parameter(self.derivation.weights)
        if self.derivation.upstream == "scalar" and parameter is not None and self.weight is None:
            found.append(ir.ScalarParameter(parameter.name, DType.F32, 1.0, False, parameter.doc, parameter.span))
        return found


def _along(shape: tuple[Extent, ...], axis: int) -> tuple[Extent, ...]:
    return tuple(extent if own == axis else Extent.of(1) for own, extent in enumerate(shape))


def _is_whole(store: ir.Store) -> bool:
    """Whether a store writes every element of its span that lies in the tensor: inactive lanes keep what was there."""
    assert store.type is not None
    active = broadcast_activity(store.type.shape, [store.operand.type])
    return all(own <= inside for own, inside in zip(active, store.type.active, strict=True))


def _is_same_place(first: Guarded, second: Guarded) -> bool:
    return axes_of(first.store.indices) == axes_of(second.store.indices)


def _exclude(first: Guarded, second: Guarded) -> bool:
    """Whether one is reached only where the other is not."""
    for condition, wanted in first.conditions:
        for other, other_wanted in second.conditions:
            if condition is other and wanted is not other_wanted:
                return True
    return False


class _Merger:
    """A rule for `rewrite`: loads of one span of a tensor that is never stored become one."""

    def __init__(self, tensors: tuple[str, ...]) -> None:
        self._tensors = tensors
        self._known: dict[object, ir.Value] = {}

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        if not isinstance(value, ir.Load) or value.tensor not in self._tensors:
            return None
        fill = None if value.fill is None else value.fill.number
        key = (value.tensor, axes_of(value.indices), fill, str(value.type))
        known = self._known.get(key)
        if known is None:
            self._known[key] = value
        return known
