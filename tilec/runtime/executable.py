"""What a launch needs of a compiled kernel, as JSON values and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from tilec.driver import Compiled
from tilec.loop.ir import Buffer, Dispatch, Program, SharedArray, UniformField
from tilec.options import Options
from tilec.runtime.formulas import guard_test, parse_formula
from tilec.source import Source, Span
from tilec.tile.ir import Kernel
from tilec.types import DTYPES, Extent
from tilec.wgsl.emit import Emitted

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MOST_TEXT = 1 << 20
_MOST_ITEMS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A compiled kernel without the code that it was made from: its dispatches have no statements."""

    kernel: Kernel
    program: Program
    emitted: Emitted
    options: Options


Code: TypeAlias = "Compiled | Executable"


def to_json(compiled: Compiled, sources: Sequence[Source]) -> dict[str, Any] | None:
    """The values of an entry, or None for a program that an entry does not hold (a debug build)."""
    program, emitted = compiled.program, compiled.emitted
    if program.log is not None:
        return None
    places = {id(source): number for number, source in enumerate(sources)}
    spans = {str(line): span for line, span in emitted.spans.items() if id(span.source) in places}
    return {
        "kernel": program.kernel,
        "guards": list(program.guards),
        "scratch_words": str(program.scratch_words),
        "subgroup": program.subgroup,
        "uniforms": [
            {
                "name": field.name, "dtype": field.dtype.label, "scalar": field.scalar,
                "extent": None if field.extent is None else str(field.extent),
            }
            for field in program.uniforms
        ],
        "dispatches": [_dispatch(program, one) for one in program.dispatches],
        "wgsl": emitted.text,
        "entries": list(emitted.entries),
        "spans": {line: [places[id(span.source)], span.start, span.end] for line, span in spans.items()},
    }  # fmt: skip


def _dispatch(program: Program, dispatch: Dispatch) -> dict[str, Any]:
    return {
        "name": dispatch.name,
        "threads": dispatch.threads,
        "workgroups": str(dispatch.workgroups),
        "workgroup_count": program.uniforms.index(dispatch.workgroup_count),
        "buffers": [
            [one.name, one.element.label, one.tensor, one.writable, one.width] for one in dispatch.buffers
        ],
        "shared": [[array.name, array.dtype.label, array.length] for array in dispatch.shared],
    }


def from_json(values: Any, kernel: Kernel, options: Options, sources: Sequence[Source]) -> Executable:
    """The executable of an entry. Raises ValueError for values that are not what `to_json` gives for this kernel."""
    try:
        return _Reader(kernel, options, sources).read(values)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"no entry: {error!r}") from None


class _Reader:
    def __init__(self, kernel: Kernel, options: Options, sources: Sequence[Source]) -> None:
        self.kernel, self.options, self.sources = kernel, options, sources
        self.scalars = [scalar.name for scalar in kernel.scalars]
        self.tensors = [tensor.name for tensor in kernel.tensors]

    def read(self, values: Any) -> Executable:
        _check(values["kernel"] == self.kernel.name)
        guards = tuple(_text(guard) for guard in _items(values["guards"]))
        guard_test(guards)
        uniforms = tuple(self._field(field) for field in _items(values["uniforms"]))
        dispatches = tuple(self._dispatch(one, uniforms) for one in _items(values["dispatches"]))
        program = Program(
            self.kernel.name, dispatches, uniforms, self._extent(values["scratch_words"]), guards,
            _integer(values["subgroup"], 1, 1024),
        )  # fmt: skip
        entries = tuple(_name(entry) for entry in _items(values["entries"]))
        _check(len(entries) == len(dispatches))
        spans = {_integer(int(line), 1, _MOST_TEXT): self._span(place) for line, place in values["spans"].items()}
        return Executable(self.kernel, program, Emitted(_text(values["wgsl"]), entries, spans), self.options)

    def _extent(self, text: Any) -> Extent:
        return parse_formula(_text(text), self.kernel.dims, self.scalars)

    def _field(self, values: Mapping[str, Any]) -> UniformField:
        scalar = values["scalar"]
        extent = None if values["extent"] is None else self._extent(values["extent"])
        _check((scalar is None) != (extent is None))
        _check(scalar is None or scalar in self.scalars)
        return UniformField(_text(values["name"]), DTYPES[values["dtype"]], extent, scalar)

    def _dispatch(self, values: Mapping[str, Any], uniforms: Sequence[UniformField]) -> Dispatch:
        return Dispatch(
            _text(values["name"]),
            _integer(values["threads"], 1, self.options.limits.invocations),
            self._extent(values["workgroups"]),
            uniforms[_integer(values["workgroup_count"], 0, len(uniforms) - 1)],
            tuple(self._buffer(*one) for one in _items(values["buffers"])),
            tuple(
                SharedArray(_text(name), DTYPES[dtype], _integer(length, 1, 1 << 24))
                for name, dtype, length in _items(values["shared"])
            ),
            (),
        )

    def _buffer(self, name: Any, element: Any, tensor: Any, writable: Any, width: Any) -> Buffer:
        _check(tensor is None or tensor in self.tensors)
        _check(type(writable) is bool)
        return Buffer(_text(name), DTYPES[element], tensor, writable, _integer(width, 1, 4))

    def _span(self, place: Any) -> Span:
        number, start, end = place
        source = self.sources[_integer(number, 0, len(self.sources) - 1)]
        return Span(source, _integer(start, 0, len(source.text)), _integer(end, 0, len(source.text)))


def _check(is_right: bool) -> None:
    if not is_right:
        raise ValueError("no entry for this kernel")


def _items(values: Any) -> list[Any]:
    _check(isinstance(values, list) and len(values) <= _MOST_ITEMS)
    return cast("list[Any]", values)


def _text(value: Any) -> str:
    _check(isinstance(value, str) and len(value) <= _MOST_TEXT)
    return value


def _name(value: Any) -> str:
    _check(_NAME.match(_text(value)) is not None)
    return value


def _integer(value: Any, low: int, high: int) -> int:
    _check(type(value) is int and low <= value <= high)
    return value
