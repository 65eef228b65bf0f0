"""What a launch needs of a compiled kernel, as JSON values and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tilec.driver import Compiled
from tilec.loop.ir import Buffer, Dispatch, Program, SharedArray, UniformField
from tilec.options import Options
from tilec.runtime import checked
from tilec.runtime.formulas import guard_test, parse_formula
from tilec.source import Source, Span
from tilec.tile.ir import Kernel
from tilec.tile.reports import KINDS, LOG, MOST_VALUES, ROUND, Layout, Site
from tilec.types import DTYPES, Extent
from tilec.wgsl.emit import Emitted
from tilec.wgsl.layout import Binding, bindings


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A compiled kernel without the code that it was made from: its dispatches have no statements."""

    kernel: Kernel
    program: Program
    emitted: Emitted
    options: Options

    @property
    def guards(self) -> tuple[str, ...]:
        return tuple(self.program.guards)

    @property
    def wgsl(self) -> str:
        return self.emitted.text

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The bindings of group 0, by number."""
        return bindings(self.program)


Code: TypeAlias = "Compiled | Executable"


def to_json(compiled: Code, sources: Sequence[Source]) -> dict[str, Any]:
    """The values of an entry."""
    program, emitted = compiled.program, compiled.emitted
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
        "log": None if program.log is None else _log(program.log, places),
    }  # fmt: skip


def _dispatch(program: Program, dispatch: Dispatch) -> dict[str, Any]:
    return {
        "name": dispatch.name,
        "threads": dispatch.threads,
        "workgroups": str(dispatch.workgroups),
        "workgroup_count": program.uniforms.index(dispatch.workgroup_count),
        "buffers": [
            [one.name, one.element.label, one.tensor, one.writable, one.width, one.is_log] for one in dispatch.buffers
        ],
        "shared": [[array.name, array.dtype.label, array.length] for array in dispatch.shared],
    }


def _log(layout: Layout, places: Mapping[int, int]) -> dict[str, Any]:
    return {
        "kinds": list(layout.kinds),
        "sites": [
            {
                "kind": site.kind, "text": site.text, "names": list(site.names), "rank": site.rank,
                "dtypes": [dtype.label for dtype in site.dtypes], "span": _way(site.span, places),
            }
            for site in layout.sites
        ],
        "paths": [list(path) for path in layout.paths],
        "sizes": [layout.rounds, layout.rank, layout.values],
    }  # fmt: skip


def _way(span: Span | None, places: Mapping[int, int]) -> list[list[int]]:
    """A place and the calls through which it was reached, from the inside out."""
    found: list[list[int]] = []
    while span is not None:
        found.append([places[id(span.source)], span.start, span.end])
        span = span.via
    return found


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
        checked.check(values["kernel"] == self.kernel.name)
        guards = tuple(checked.text(guard) for guard in checked.items(values["guards"]))
        guard_test(guards)
        uniforms = tuple(self._field(field) for field in checked.items(values["uniforms"]))
        dispatches = tuple(self._dispatch(one, uniforms) for one in checked.items(values["dispatches"]))
        program = Program(
            self.kernel.name, dispatches, uniforms, self._extent(values["scratch_words"]), guards,
            checked.integer(values["subgroup"], 1, 1024), self._log(values["log"]),
        )  # fmt: skip
        entries = tuple(checked.name(entry) for entry in checked.items(values["entries"]))
        checked.check(len(entries) == len(dispatches))
        lines = checked.fields(values["spans"], checked.MOST_TEXT)
        spans = {checked.integer(int(line), 1, checked.MOST_TEXT): self._span(place) for line, place in lines.items()}
        return Executable(self.kernel, program, Emitted(checked.code(values["wgsl"]), entries, spans), self.options)

    def _extent(self, text: Any) -> Extent:
        return parse_formula(checked.text(text), self.kernel.dims, self.scalars)

    def _field(self, values: Mapping[str, Any]) -> UniformField:
        scalar = values["scalar"]
        extent = None if values["extent"] is None else self._extent(values["extent"])
        checked.check((scalar is None) != (extent is None))
        checked.check(scalar is None or scalar in self.scalars)
        return UniformField(checked.text(values["name"]), DTYPES[values["dtype"]], extent, scalar)

    def _dispatch(self, values: Mapping[str, Any], uniforms: Sequence[UniformField]) -> Dispatch:
        return Dispatch(
            checked.text(values["name"]),
            checked.integer(values["threads"], 1, self.options.limits.invocations),
            self._extent(values["workgroups"]),
            uniforms[checked.integer(values["workgroup_count"], 0, len(uniforms) - 1)],
            tuple(self._buffer(*one) for one in checked.items(values["buffers"])),
            tuple(
                SharedArray(checked.text(name), DTYPES[dtype], checked.integer(length, 1, 1 << 24))
                for name, dtype, length in checked.items(values["shared"])
            ),
            (),
        )

    def _buffer(self, name: Any, element: Any, tensor: Any, writable: Any, width: Any, is_log: Any) -> Buffer:
        is_log = checked.boolean(is_log)
        checked.check(tensor == LOG if is_log else tensor is None or tensor in self.tensors)
        width = checked.integer(width, 1, 4)
        return Buffer(checked.text(name), DTYPES[element], tensor, checked.boolean(writable), width, is_log)

    def _log(self, values: Any) -> Layout | None:
        if values is None:
            return None
        kinds = tuple(kind for kind in KINDS if kind in checked.items(values["kinds"]))
        sites = tuple(self._site(site) for site in checked.items(values["sites"]))
        paths = tuple(
            tuple(checked.integer(step, ROUND, 1 << 31) for step in checked.items(path))
            for path in checked.items(values["paths"])
        )
        checked.check(len(paths) == len(sites) and {site.kind for site in sites} == set(kinds) != set())
        rounds, rank, most = (checked.integer(size, 0, 64) for size in checked.items(values["sizes"]))
        checked.check(all(site.rank <= rank and len(site.names) <= most for site in sites))
        return Layout(kinds, sites, paths, rounds, rank, most)

    def _site(self, values: Mapping[str, Any]) -> Site:
        names = tuple(checked.text(name) for name in checked.items(values["names"], MOST_VALUES))
        dtypes = tuple(DTYPES[dtype] for dtype in checked.items(values["dtypes"]))
        checked.check(values["kind"] in KINDS and len(names) == len(dtypes))
        span: Span | None = None
        for place in reversed(checked.items(values["span"])):
            span = replace(self._span(place), via=span)
        if span is None:
            raise ValueError("a site without a place")
        return Site(
            values["kind"], checked.text(values["text"]), span, names, dtypes, checked.integer(values["rank"], 0, 64)
        )

    def _span(self, place: Any) -> Span:
        number, start, end = place
        source = self.sources[checked.integer(number, 0, len(self.sources) - 1)]
        return Span(source, checked.integer(start, 0, len(source.text)), checked.integer(end, 0, len(source.text)))
