"""Programs and diagnostics as JSON values, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilec.diag.catalog import ROWS
from tilec.diag.report import LIMIT, Diagnostic
from tilec.runtime import checked
from tilec.runtime.formulas import parse_formula
from tilec.sema.program import FileScope, KernelSignature, ParameterSignature
from tilec.source import Source, Span
from tilec.syntax import ast
from tilec.types import DTYPES

_MOST_CALLS = 4096
"""Calls through which one place was reached."""


# --- places --------------------------------------------------------------------------------------------------


class Places:
    """Places in sources as numbers of the source, the first and the last character."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = list(sources)
        self._numbers = {id(source): number for number, source in enumerate(self.sources)}

    def write(self, span: Span) -> list[list[int]]:
        """The place, then the calls through which it was reached. A source that was not known is added."""
        found: list[list[int]] = []
        place: Span | None = span
        while place is not None:
            number = self._numbers.setdefault(id(place.source), len(self.sources))
            if number == len(self.sources):
                self.sources.append(place.source)
            found.append([number, place.start, place.end])
            place = place.via
        return found

    def read(self, values: Any) -> Span:
        """Raises ValueError."""
        span: Span | None = None
        for place in reversed(checked.items(values, _MOST_CALLS)):
            number, start, end = checked.items(place, 3)
            source = self.sources[checked.integer(number, 0, len(self.sources) - 1)]
            start = checked.integer(start, 0, len(source.text))
            span = Span(source, start, checked.integer(end, start, len(source.text)), span)
        checked.check(span is not None)
        assert span is not None
        return span


# --- diagnostics ---------------------------------------------------------------------------------------------


def write_diagnostics(found: Iterable[object], places: Places) -> list[Any]:
    """Diagnostics, or plain texts."""
    return [_write_diagnostic(one, places) if isinstance(one, Diagnostic) else str(one) for one in found]


def _write_diagnostic(one: Diagnostic, places: Places) -> dict[str, Any]:
    return {
        "code": one.code,
        "message": one.message,
        "label": one.label,
        "span": places.write(one.span),
        "notes": [[places.write(span), text] for span, text in one.notes],
        "hint": one.hint,
    }


def read_diagnostics(values: Any, places: Places) -> list[Any]:
    """Raises ValueError."""
    return [
        checked.text(one) if isinstance(one, str) else _read_diagnostic(checked.fields(one), places)
        for one in checked.items(values, 8 * LIMIT)
    ]


def _read_diagnostic(values: Mapping[str, Any], places: Places) -> Diagnostic:
    checked.check(values["code"] in ROWS)
    notes = tuple((places.read(span), checked.text(text)) for span, text in checked.items(values["notes"]))
    row, hint = ROWS[values["code"]], values["hint"]
    return Diagnostic(
        row.code, row.severity, checked.text(values["message"]), checked.text(values["label"]),
        places.read(values["span"]), notes, None if hint is None else checked.text(hint),
    )  # fmt: skip


# --- signatures ----------------------------------------------------------------------------------------------


def write_signature(signature: KernelSignature, places: Places) -> dict[str, Any]:
    """A kernel of a program as its file declares it."""
    return {
        "name": signature.name,
        "dims": list(signature.dims),
        "types": {name: [one.label for one in types] for name, types in signature.type_variables.items()},
        "parameters": [_write_parameter(parameter, places) for parameter in signature.parameters],
        "doc": signature.doc,
        "span": places.write(signature.span),
    }


def _write_parameter(parameter: ParameterSignature, places: Places) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "alternatives": [one.label for one in parameter.alternatives],
        "type": parameter.type_variable,
        "dims": [str(dim) for dim in parameter.dims],
        "default": parameter.default,
        "const": parameter.is_const,
        "doc": parameter.doc,
        "span": places.write(parameter.span),
    }


def read_signature(values: Any, scope: FileScope, places: Places) -> KernelSignature:
    """The signature, whose kernel has no statements here. Raises ValueError."""
    values = checked.fields(values)
    dims = tuple(checked.name(name) for name in checked.items(values["dims"]))
    types = {
        checked.name(name): tuple(DTYPES[one] for one in checked.items(labels))
        for name, labels in checked.fields(values["types"]).items()
    }
    parameters = tuple(_read_parameter(one, dims, types, places) for one in checked.items(values["parameters"]))
    checked.check(all(types.values()) and len({one.name for one in parameters}) == len(parameters))
    span, name = places.read(values["span"]), checked.name(values["name"])
    node = ast.Kernel(span, ast.Name(span, name), (), (), (), (), "")
    return KernelSignature(name, parameters, types, dims, checked.text(values["doc"]), span, node, scope)


def _read_parameter(
    values: Mapping[str, Any], dims: Sequence[str], types: Mapping[str, Any], places: Places
) -> ParameterSignature:
    alternatives = tuple(DTYPES[one] for one in checked.items(values["alternatives"]))
    checked.check(values["kind"] in ("tensor", "scalar") and len(alternatives) >= 1)
    checked.check(values["type"] is None or types[values["type"]] == alternatives)
    return ParameterSignature(
        checked.name(values["name"]), values["kind"], alternatives, values["type"],
        tuple(parse_formula(checked.text(dim), dims) for dim in checked.items(values["dims"], 4)),
        None if values["default"] is None else number(values["default"]),
        checked.boolean(values["const"]), checked.text(values["doc"]), places.read(values["span"]),
    )  # fmt: skip


def number(value: Any) -> bool | int | float:
    """A scalar of the language. Raises ValueError."""
    checked.check(type(value) in (bool, int, float))
    return value


# --- files ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that a process was given, by the number of the file: its sources are these, whatever it says."""

    by_file: Mapping[int, str]

    def sources(self, values: Any) -> list[Source]:
        """The sources of `[file, name]`; the file None is one that was not read. Raises ValueError."""
        found: list[Source] = []
        for file, name in checked.items(values):
            found.append(Source(checked.text(name), "" if file is None else self.by_file[file]))
        return found


def write_sources(sources: Iterable[Source], by_file: Mapping[int, str]) -> list[list[Any]]:
    """Sources by the numbers of files that hold their texts."""
    files = {text: file for file, text in reversed(list(by_file.items()))}
    return [[files.get(source.text) if source.text else None, source.name] for source in sources]


