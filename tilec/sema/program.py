"""What `load_program` gives: files with their definitions, and the signatures of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilec.source import Source, Span
from tilec.syntax import ast
from tilec.types import DType, Extent


@dataclass(slots=True, eq=False)
class FileScope:
    """The names of one file. Functions are kept by name, expression and statement functions apart.

    `imports` are the scopes of the files that it imports, in order.
    """

    source: Source
    expressions: dict[str, list[ast.Function]] = field(default_factory=dict)
    statements: dict[str, list[ast.Function]] = field(default_factory=dict)
    constants: dict[str, ast.Const] = field(default_factory=dict)
    kernels: dict[str, ast.Kernel] = field(default_factory=dict)
    imports: list[FileScope] = field(default_factory=list)
    broken: frozenset[str] = frozenset()
    """Names of functions and kernels that were not understood, so that their uses are not reported as well."""
    values: dict[ast.Const, Any] = field(default_factory=dict)
    """What constants were found to be; None for one that has no value, which has been reported."""
    has_failed_import: bool = False
    effects: dict[ast.Function, Any] = field(default_factory=dict)
    """What `sema.effects` found out, by function."""

    def functions(self, *, is_statement: bool) -> dict[str, list[ast.Function]]:
        return self.statements if is_statement else self.expressions


@dataclass(frozen=True, slots=True, eq=False)
class ParameterSignature:
    """A kernel parameter as the source declares it. `kind` is "tensor" or "scalar"; a scalar has one alternative."""

    name: str
    kind: str
    alternatives: tuple[DType, ...]
    type_variable: str | None
    dims: tuple[Extent, ...]
    default: bool | int | float | None
    is_const: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """What a derived kernel adds to the kernel `forward`: the gradient of the weighted sum of `loss` with respect to
    the tensors `wrt`.

    `in_place`: written over them, otherwise to the tensors `outputs` (by the names in `wrt`). `weights` is the
    parameter that holds the weights, a tensor or a scalar by `upstream`. `same_type` are the type variables that tie
    an output to its input, by input.
    """

    forward: str
    wrt: tuple[str, ...]
    loss: str
    in_place: bool
    upstream: str
    weights: str
    outputs: Mapping[str, str]
    same_type: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class KernelSignature:
    """A kernel before types are chosen. `dims` are the names of its dim symbols in order of appearance."""

    name: str
    parameters: tuple[ParameterSignature, ...]
    type_variables: Mapping[str, tuple[DType, ...]]
    dims: tuple[str, ...]
    doc: str
    span: Span
    node: ast.Kernel
    scope: FileScope
    derivation: Derivation | None = None
    """Set for a kernel that is derived from another; `node` is then that other kernel."""

    def parameter(self, name: str) -> ParameterSignature | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(slots=True, eq=False)
class Program:
    """A file, what it imports, and the functions of std that it uses."""

    scope: FileScope
    files: list[FileScope]
    kernels: dict[str, KernelSignature] = field(default_factory=dict)
    is_sound: bool = True
    """No error was found while loading it."""

    def closure(self) -> tuple[Source, ...]:
        """All source texts that the program's meaning depends on: its files, and std's."""
        from tilec.sema.library import library

        return (*(scope.source for scope in self.files), *library().sources)
