"""Kernels without their statements as JSON values, and back: what launches and manifests need of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilec.ops import POINTWISE
from tilec.runtime import checked
from tilec.runtime.formulas import parse_formula
from tilec.runtime.sandbox.records import Places, number
from tilec.sema.program import KernelSignature
from tilec.tile import ir
from tilec.tile.outline import Outline
from tilec.tile.windows import NoWindows, RowWindows, find_windows
from tilec.types import DTYPES, Extent, TileType

_MOST_NODES = 50_000
_HIGHEST = (1 << 31) - 1


def write_outline(kernel: ir.Kernel, places: Places) -> dict[str, Any]:
    """All but the statements."""
    return {
        "name": kernel.name,
        "tensors": [_write_tensor(tensor, places) for tensor in kernel.tensors],
        "scalars": [
            [one.name, one.dtype.label, one.default, one.is_const, one.doc, places.write(one.span)]
            for one in kernel.scalars
        ],
        "parameters": list(kernel.parameters),
        "constants": dict(kernel.constants),
        "dims": list(kernel.dims),
        "given_dims": list(kernel.given_dims),
        "grid": [str(extent) for extent in kernel.grid],
        "requirements": [
            [_write_condition(one.condition), one.message, places.write(one.span)] for one in kernel.requirements
        ],
        "threads": kernel.threads,
        "doc": kernel.doc,
        "span": places.write(kernel.span),
        "windows": {one.name: _write_windows(find_windows(kernel, one.name), places) for one in kernel.tensors},
    }


def _write_tensor(tensor: ir.TensorParameter, places: Places) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "dtype": tensor.dtype.label,
        "alternatives": [one.label for one in tensor.alternatives],
        "type": tensor.type_variable,
        "dims": [str(dim) for dim in tensor.dims],
        "access": tensor.access,
        "doc": tensor.doc,
        "span": places.write(tensor.span),
    }


def _write_windows(found: RowWindows | NoWindows, places: Places) -> list[Any]:
    if isinstance(found, RowWindows):
        return [found.dim, found.step, sorted(found.tensors)]
    return [found.reason, None if found.span is None else places.write(found.span)]


def _write_condition(root: ir.Value) -> list[Any]:
    """The instructions that a condition is made of, each after those that it uses; the last one is the condition."""
    numbers: dict[int, int] = {}
    nodes: list[Any] = []
    stack = [root]
    while stack:
        value = stack[-1]
        operands = value.operands if isinstance(value, ir.Pointwise) else ()
        waiting = [operand for operand in operands if operand.number not in numbers]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if value.number not in numbers:
            numbers[value.number] = len(nodes)
            nodes.append(_write_node(value, [numbers[operand.number] for operand in operands]))
    return nodes


def _write_node(value: ir.Value, operands: list[int]) -> list[Any]:
    dtype = value.type.dtype.label
    match value:
        case ir.Const():
            return ["const", dtype, value.value]
        case ir.Scalar():
            return ["scalar", dtype, value.parameter]
        case ir.Dim():
            return ["dim", dtype, str(value.extent)]
        case ir.Pointwise():
            return ["op", dtype, value.op, operands]
    raise AssertionError(f"{type(value).__name__} in a requirement")


def read_outline(values: Any, signature: KernelSignature, places: Places) -> Outline:
    """The outline of that kernel. Raises ValueError."""
    return _Reader(checked.fields(values), places).read(signature)


class _Reader:
    def __init__(self, values: Mapping[str, Any], places: Places) -> None:
        self.values, self.places = values, places
        self.dims = self._names("dims")
        self.scalars = tuple(self._scalar(*one) for one in checked.items(values["scalars"]))
        self.integers = [scalar.name for scalar in self.scalars]

    def read(self, signature: KernelSignature) -> Outline:
        values, places = self.values, self.places
        tensors = tuple(self._tensor(checked.fields(one)) for one in checked.items(values["tensors"]))
        constants = {checked.name(name): number(value) for name, value in checked.fields(values["constants"]).items()}
        given, parameters = self._names("given_dims"), self._names("parameters")
        known = [one.name for one in (*tensors, *self.scalars)]
        declared = {one.name: one.kind for one in signature.parameters}
        checked.check(values["name"] == signature.name and len(set(known)) == len(known))
        checked.check(declared.keys() >= {*known, *parameters, *constants} and set(given) <= set(self.dims))
        checked.check(all(declared[one.name] == "tensor" for one in tensors))
        checked.check(all(declared[name] == "scalar" for name in (*self.integers, *constants)))
        x, y, z = (self._formula(text) for text in checked.items(values["grid"], 3))
        threads = values["threads"]
        span = places.read(values["span"])
        return Outline(
            signature.name, tensors, self.scalars, parameters, constants, self.dims, given, (x, y, z),
            tuple(self._requirement(*one) for one in checked.items(values["requirements"])), ir.Region([]),
            None if threads is None else checked.integer(threads, 1, 1024), checked.text(values["doc"]), span,
            {one.name: self._windows(values["windows"][one.name], {t.name for t in tensors}) for one in tensors},
        )  # fmt: skip

    def _names(self, field: str) -> tuple[str, ...]:
        return tuple(checked.name(name) for name in checked.items(self.values[field]))

    def _formula(self, text: Any) -> Extent:
        return parse_formula(checked.text(text), self.dims, self.integers)

    def _scalar(self, name: Any, dtype: Any, default: Any, const: Any, doc: Any, span: Any) -> ir.ScalarParameter:
        default = None if default is None else number(default)
        is_const, place = checked.boolean(const), self.places.read(span)
        return ir.ScalarParameter(checked.name(name), DTYPES[dtype], default, is_const, checked.text(doc), place)

    def _tensor(self, values: Mapping[str, Any]) -> ir.TensorParameter:
        checked.check(values["access"] in ("in", "out", "inout"))
        kind = values["type"]
        return ir.TensorParameter(
            checked.name(values["name"]), DTYPES[values["dtype"]],
            tuple(DTYPES[one] for one in checked.items(values["alternatives"])),
            None if kind is None else checked.name(kind),
            tuple(parse_formula(checked.text(dim), self.dims) for dim in checked.items(values["dims"], 4)),
            values["access"], checked.text(values["doc"]), self.places.read(values["span"]),
        )  # fmt: skip

    def _windows(self, values: Any, tensors: set[str]) -> RowWindows | NoWindows:
        if len(checked.items(values)) == 3:
            dim, step, names = values
            checked.check(dim in self.dims and set(checked.items(names)) <= tensors)
            return RowWindows(dim, checked.integer(step, 1, _HIGHEST), frozenset(names))
        reason, span = values
        return NoWindows(checked.text(reason), None if span is None else self.places.read(span))

    def _requirement(self, condition: Any, message: Any, span: Any) -> ir.Requirement:
        place = self.places.read(span)
        built: list[ir.Value] = []
        for what, dtype, *rest in checked.items(condition, _MOST_NODES):
            built.append(self._node(what, TileType(DTYPES[dtype]), rest, built, place))
        return ir.Requirement(built[-1], checked.text(message), place)

    def _node(self, what: str, kind: TileType, rest: list[Any], built: list[ir.Value], span: Any) -> ir.Value:
        if what == "const":
            return ir.Const(kind, span, number(rest[0]))
        if what == "scalar":
            checked.check(rest[0] in self.integers)
            return ir.Scalar(kind, span, rest[0])
        if what == "dim":
            return ir.Dim(kind, span, self._formula(rest[0]))
        op, operands = rest
        checked.check(what == "op" and op in POINTWISE and len(operands) == POINTWISE[op].arity)
        return ir.Pointwise(
            kind, span, op, tuple(built[checked.integer(one, 0, len(built) - 1)] for one in operands)
        )
