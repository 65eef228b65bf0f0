"""Loads a program: its file, the files it imports, the definitions in each, and the signatures of its kernels."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path, PurePosixPath

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import Reporter
from tilec.sema import lookup
from tilec.sema.calls import CallGraph
from tilec.sema.constants import evaluate_const
from tilec.sema.files import Disk, Files, Place, Refused, check_path, decoded
from tilec.sema.library import library
from tilec.sema.names import check_names
from tilec.sema.program import FileScope, Program
from tilec.sema.signature import read_signature
from tilec.source import Source, Span
from tilec.syntax import ast
from tilec.syntax.parse import parse

IMPORT_DEPTH = 64
_MOST_OVERLAPPING = 64
MOST_FILES = 64


def load_program(program: str | Path | Source, reporter: Reporter, files: Files | None = None) -> Program:
    """The program in a file (or in a text given as a `Source`), read from `files` (None: from disk).

    Faults go to `reporter`; the result holds whatever could be understood. Imports of a `Source` are looked for beside
    the path that its name is.
    """
    loader = _Loader(reporter, files if files is not None else Disk())
    place = loader.files.main(Path(program.name if isinstance(program, Source) else program))
    source = program if isinstance(program, Source) else loader.read(place, str(program), None)
    scope = loader.load(source, place, 0) if source is not None else FileScope(Source(str(program), ""))
    result = Program(scope, list(loader.scopes.values()) or [scope])
    graph = CallGraph(reporter)
    for file in result.files:
        check_names(file, reporter, graph)
        for const in file.constants.values():
            evaluate_const(const, file, reporter)
    graph.report_cycles()
    for kernel in scope.kernels.values():
        signature = read_signature(kernel, scope, reporter)
        result.kernels[signature.name] = signature
    result.is_sound = not reporter.has_errors
    if not result.is_sound:
        from tilec.sema.infer import look_through  # a sound program is inferred kernel by kernel, when one is wanted

        look_through(result, reporter)
    return result


class _Loader:
    def __init__(self, reporter: Reporter, files: Files) -> None:
        self.reporter = reporter
        self.files = files
        self.scopes: dict[Hashable, FileScope] = {}
        self.is_full = False

    def read(self, place: Place, shown: str, importing: Span | None) -> Source | None:
        """The file's text, or None with a diagnostic, which never quotes the content."""
        try:
            data = self.files.read(place)
        except (OSError, ValueError) as error:
            is_missing = isinstance(error, FileNotFoundError)
            reason = "no such file" if is_missing else (getattr(error, "strerror", "") or "not readable").lower()
            if importing is not None:
                self.reporter.error(catalog.IMPORT_MISSING, importing, path=importing.text.strip('"'), reason=reason)
            else:
                self.reporter.error(catalog.CANNOT_READ, _nowhere(shown), path=shown, reason=reason)
            return None
        try:
            return Source(shown, decoded(data))
        except UnicodeDecodeError as error:
            self.reporter.error(catalog.NOT_UTF8, importing or _nowhere(shown), path=shown, offset=error.start)
            return None

    def load(self, source: Source, place: Place, depth: int) -> FileScope:
        scope = FileScope(source)
        self.scopes[place.key] = scope
        tree = parse(source, self.reporter)
        scope.broken = tree.broken
        imports = []
        for item in tree.items:
            if isinstance(item, ast.Import):
                imports.append(item)
            else:
                self._define(scope, item)
        for item in imports:
            imported = self._import(item, source, place, depth)
            if imported is None:
                scope.has_failed_import = True
            elif imported is not scope and imported not in scope.imports:
                self._check_conflicts(scope, imported, item.span)
                scope.imports.append(imported)
        self._check_hiding(scope)
        return scope

    def _import(self, item: ast.Import, source: Source, importing: Place, depth: int) -> FileScope | None:
        name, span = item.path.value, item.path.span
        check_time(span)
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if name.startswith(("/", "\\", "~")) or (parts and ":" in parts[0]):
            self.reporter.error(catalog.IMPORT_ABSOLUTE, span, path=name)
            return None
        if ".." in parts:
            self.reporter.error(catalog.IMPORT_PARENT, span, path=name)
            return None
        try:
            check_path(name, parts)
            place = self.files.locate(importing, parts)
        except Refused as refused:
            if refused.is_outside:
                self.reporter.error(catalog.IMPORT_PARENT, span, path=name)
            else:
                self.reporter.error(catalog.IMPORT_MISSING, span, path=name, reason=refused.reason)
            return None
        if place.key in self.scopes:
            return self.scopes[place.key]
        if depth + 1 >= IMPORT_DEPTH:
            self.reporter.error(catalog.IMPORTS_TOO_DEEP, span, limit=IMPORT_DEPTH)
            return None
        if len(self.scopes) >= MOST_FILES:
            if not self.is_full:
                self.reporter.error(catalog.TOO_MANY_FILES, span, limit=MOST_FILES)
            self.is_full = True
            return None
        shown = str(PurePosixPath(source.name.replace("\\", "/")).parent.joinpath(*parts))
        text = self.read(place, shown, span)
        return self.load(text, place, depth + 1) if text is not None else None

    def _define(self, scope: FileScope, item: ast.Kernel | ast.Function | ast.Const) -> None:
        name = item.name.name
        match item:
            case ast.Function():
                table = scope.functions(is_statement=item.value is None)
                known = table.setdefault(name, [])
                overlaps = any(self._check_overlap(other, item) for other in known)
                # A call may mean one that overlaps; of very many the rest is left out, since each call asks all.
                if not overlaps or len(known) < _MOST_OVERLAPPING:
                    known.append(item)
            case ast.Kernel():
                if name in scope.kernels:
                    self._twice("kernel", item.name, scope.kernels[name].name)
                scope.kernels.setdefault(name, item)
            case ast.Const():
                if name in scope.constants:
                    self._twice("constant", item.name, scope.constants[name].name)
                scope.constants.setdefault(name, item)

    def _twice(self, what: str, name: ast.Name, first: ast.Name) -> None:
        notes = [(first.span, "first defined here")]
        self.reporter.error(catalog.DUPLICATE_DEFINITION, name.span, notes=notes, what=what, name=name.name)

    def _check_overlap(self, first: ast.Function, second: ast.Function) -> bool:
        least, most = lookup.arity(first)
        own_least, own_most = lookup.arity(second)
        low, high = max(least, own_least), min(most, own_most)
        if low <= high:
            count = f"{low}" if low == high else f"{low} to {high}"
            self.reporter.error(
                catalog.OVERLAPPING_ARITY, second.name.span, notes=[(first.name.span, "the first definition")],
                name=second.name.name, arity=f"{count} argument{'s' if high != 1 else ''}",
            )  # fmt: skip
        return low <= high

    def _check_conflicts(self, scope: FileScope, imported: FileScope, span: Span) -> None:
        for earlier in scope.imports:
            for is_statement in (False, True):
                first = earlier.functions(is_statement=is_statement)
                second = imported.functions(is_statement=is_statement)
                for name in first.keys() & second.keys():
                    if not name.startswith("_") and any(_overlap(a, b) for a in first[name] for b in second[name]):
                        self._conflict(name, earlier, imported, span)
            for name in earlier.constants.keys() & imported.constants.keys():
                if not name.startswith("_"):
                    self._conflict(name, earlier, imported, span)

    def _conflict(self, name: str, first: FileScope, second: FileScope, span: Span) -> None:
        self.reporter.error(
            catalog.IMPORT_CONFLICT, span, name=name, first=first.source.name, second=second.source.name
        )

    def _check_hiding(self, scope: FileScope) -> None:
        for is_statement in (False, True):
            for name, functions in scope.functions(is_statement=is_statement).items():
                for function in functions:
                    what = _hidden(scope, function, is_statement)
                    if what is not None:
                        self.reporter.warning(catalog.HIDES_LIBRARY, function.name.span, name=name, what=what)


def _hidden(scope: FileScope, function: ast.Function, is_statement: bool) -> str | None:
    """What of std or the built-ins a user's function hides, in words."""
    name = function.name.name
    if name.startswith("_"):
        return None
    least, most = lookup.arity(function)
    built_in = lookup.builtin_arity(name)
    if not is_statement and built_in is not None and least <= built_in[1] and built_in[0] <= most:
        return "the built-in operation"
    if name in library():
        library().load(name)
        for file in library().scopes:
            for other in file.functions(is_statement=is_statement).get(name, ()):
                if _overlap(function, other):
                    return f"the function of {file.source.name}"
    return None


def _overlap(first: ast.Function, second: ast.Function) -> bool:
    (least, most), (other_least, other_most) = lookup.arity(first), lookup.arity(second)
    return least <= other_most and other_least <= most


def _nowhere(name: str) -> Span:
    return Span(Source(name, ""), 0, 0)
