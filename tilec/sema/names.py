"""Checks every name of a file, once, whether or not a kernel uses it: definitions, uses, calls, places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import Reporter, suggest
from tilec.sema import calls, lookup
from tilec.sema.constants import PREDECLARED
from tilec.sema.effects import children, effects
from tilec.sema.program import FileScope
from tilec.source import Span
from tilec.syntax import ast, foreign
from tilec.types import DTYPES


def check_names(scope: FileScope, reporter: Reporter, graph: calls.CallGraph) -> None:
    """Reports what is wrong with the names in a file's kernels and functions, and adds its calls to the graph."""
    graph.leave()
    for kernel in scope.kernels.values():
        checker = _Checker(scope, reporter, graph)
        checker.check_kernel(kernel)
    for is_statement in (False, True):
        for functions in scope.functions(is_statement=is_statement).values():
            for function in functions:
                graph.enter(function)
                _Checker(scope, reporter, graph).check_function(function)


@dataclass(slots=True)
class Local:
    """What a name stands for inside a body: "let", "var", "loop counter", "dim", "scalar", "tensor", "parameter"."""

    kind: str
    span: Span
    is_used: bool = False


@dataclass(slots=True)
class _Frame:
    names: dict[str, Local] = field(default_factory=dict)
    later: dict[str, Span] = field(default_factory=dict)
    """Names that the block defines, with their places, for uses that come too early."""


_ASSIGNABLE = frozenset({"var", "parameter"})
_SUBSCRIPTED = frozenset({"tensor", "let", "var", "parameter"})
_VALUES = frozenset({"let", "var", "loop counter", "dim", "scalar", "parameter"})
"""What may stand where a name is assigned, subscripted or used as a value: only such are proposed there."""

_FIXED = {"loop counter": "a loop counter", "dim": "a dim", "scalar": "a parameter of the kernel"}
_SPOKEN = {
    "let": "a `let`", "var": "a `var`", "loop counter": "a loop counter", "dim": "a dim", "scalar": "a parameter",
    "tensor": "a tensor", "parameter": "a parameter",
}  # fmt: skip


class _Checker:
    def __init__(self, scope: FileScope, reporter: Reporter, graph: calls.CallGraph) -> None:
        self.scope = scope
        self.reporter = reporter
        self.graph = graph
        self.frames: list[_Frame] = []

    # --- items

    def check_kernel(self, kernel: ast.Kernel) -> None:
        frame = _Frame()
        for parameter in kernel.parameters:
            kind = "tensor" if parameter.type is not None and parameter.type.kind == "tensor" else "scalar"
            frame.names.setdefault(parameter.name.name, Local(kind, parameter.name.span))
        for name in self.dims_of(kernel.parameters):
            local = frame.names.setdefault(name.name, Local("dim", name.span))
            local.is_used |= local.kind != "dim"  # both a dim and a parameter: reported as that
        self.frames.append(frame)
        for attribute in kernel.attributes:
            for argument in attribute.arguments:
                if not isinstance(argument, ast.NamedIn) and attribute.name.name not in ("disjoint", "autotune"):
                    self.expression(argument)
                elif isinstance(argument, ast.Name) and argument.name in frame.names:
                    frame.names[argument.name].is_used = True
        self.body(kernel.body)
        self.leave(kernel.parameters)

    def dims_of(self, parameters: Sequence[ast.Parameter]) -> list[ast.Name]:
        """The names in the types of parameters that stand for dims."""
        dims = [dim for parameter in parameters if parameter.type is not None for dim in parameter.type.dims or ()]
        names = [name for dim in dims for name in _names_in(dim)]
        return [name for name in names if lookup.find_constant(self.scope, name.name) is None]

    def check_function(self, function: ast.Function) -> None:
        frame = _Frame()
        for parameter in function.parameters:
            name = parameter.name
            if name.name in frame.names:
                self.duplicate("parameter", name, frame.names[name.name].span)
            frame.names.setdefault(name.name, Local("parameter", name.span))
            for dim in parameter.type.dims or () if parameter.type is not None else ():
                if isinstance(dim, ast.Name) and lookup.find_constant(self.scope, dim.name) is None:
                    frame.names.setdefault(dim.name, Local("dim", dim.span))
        self.frames.append(_Frame())
        for parameter in function.parameters:
            if parameter.default is not None:
                self.expression(parameter.default)
        self.frames[-1] = frame
        self.check_parameters(function, frame)
        self.body(function.body, function.value)
        self.leave(function.parameters)

    def check_parameters(self, function: ast.Function, frame: _Frame) -> None:
        """The types, whose dims are names of their own or formulas of names, and what an out parameter cannot have."""
        assigned = effects(lookup.Found(function, self.scope)).assigned
        for parameter in function.parameters:
            dims = parameter.type.dims or () if parameter.type is not None else ()
            self.type(parameter.type, [dim for dim in dims if not isinstance(dim, ast.Name)])
            for name in (name for dim in dims for name in _names_in(dim)):
                if name.name in assigned:
                    notes = [(frame.names[name.name].span, "a parameter here")]
                    self.reporter.error(catalog.DIM_AND_TENSOR, name.span, notes=notes, name=name.name)
            name = parameter.name
            if name.name in assigned and parameter.default is not None:
                problem, expected = "cannot exist: the function assigns it", "a place, which each call gives"
                self.reporter.error(
                    catalog.BAD_DEFAULT, parameter.default.span, name=name.name, problem=problem, expected=expected
                )
            if name.name in assigned and parameter.is_const:
                kind = "parameter that the function assigns"
                self.reporter.error(catalog.CONST_TENSOR, name.span, name=name.name, kind=kind)

    def leave(self, parameters: Sequence[ast.Parameter]) -> None:
        frame = self.frames.pop()
        for parameter in parameters:
            name = parameter.name.name
            dims = parameter.type.dims or () if parameter.type is not None else ()
            names = [name, *(dim.name for dim in dims if isinstance(dim, ast.Name))]
            is_used = any(frame.names[each].is_used for each in names if each in frame.names)
            if not is_used and not name.startswith("_"):
                self.reporter.warning(catalog.UNUSED_PARAMETER, parameter.name.span, name=name)

    # --- statements

    def body(self, statements: Sequence[ast.Statement], value: ast.Expr | None = None) -> None:
        frame = _Frame()
        for statement in statements:
            if isinstance(statement, ast.Let | ast.Var):
                frame.later.setdefault(statement.name.name, statement.name.span)
        self.frames.append(frame)
        ended: str | None = None
        for statement in statements:
            if ended is not None:
                self.reporter.warning(catalog.UNREACHABLE, statement.span, statement=ended)
                ended = ""
            elif ended is None:
                ended = _ends(statement)
            self.statement(statement)
            if ended == "":
                ended = None
        if value is not None:
            self.expression(value)
        self.frames.pop()
        for name, local in frame.names.items():
            if local.kind == "let" and not local.is_used and not name.startswith("_"):
                self.reporter.warning(catalog.UNUSED_LET, local.span, name=name)

    def statement(self, node: ast.Statement) -> None:
        if not node.span.source.is_std:
            check_time(node.span)
        match node:
            case ast.Let() | ast.Var():
                self.type(node.type)
                self.expression(node.value)
                self.define(node.name, "let" if isinstance(node, ast.Let) else "var")
            case ast.Assign():
                self.expression(node.value)
                self.assign(node)
            case ast.CallStatement():
                calls.check_statement_call(self, node.call)
            case ast.If():
                self.expression(node.condition)
                self.body(node.then)
                self.body(node.otherwise or ())
            case ast.While():
                self.expression(node.condition)
                self.body(node.body)
            case ast.For():
                self.loop(node)
            case ast.Return() if node.value is not None:
                self.expression(node.value)
            case ast.Require() | ast.Assert():
                self.expression(node.condition)
            case ast.Print():
                self.expression(node.value)

    def loop(self, node: ast.For) -> None:
        if isinstance(node.iterable, ast.Call) and node.iterable.function == "range":
            for argument in node.iterable.arguments:
                self.expression(argument.value)
        else:
            self.reporter.error(catalog.FOR_NEEDS_RANGE, node.iterable.span, text=node.iterable.span.text)
            self.expression(node.iterable)
        self.frames.append(_Frame({node.name.name: Local("loop counter", node.name.span)}))
        self.body(node.body)
        self.frames.pop()

    def type(self, node: ast.TypeExpr | None, dims: Sequence[ast.Expr] | None = None) -> None:
        """The names in a declared type; of its dims only those given, where some define names."""
        if node is None:
            return
        for element in node.elements:
            if element.name not in DTYPES:
                known = "`f32`, `i32`, `u32`, `bool`"
                hint = foreign.TYPES.get(element.name)
                self.reporter.error(catalog.UNKNOWN_TYPE, element.span, hint=hint, name=element.name, known=known)
        if node.kind != "tensor" and len(node.elements) > 1:
            first, last = node.elements[0].span, node.elements[-1].span
            span = Span(first.source, first.start, last.end)
            hint = "a value has one type; only a tensor's type lists alternatives"
            self.reporter.error(catalog.UNKNOWN_TYPE, span, hint=hint, name=span.text, known="")
        for dim in (node.dims or ()) if dims is None else dims:
            self.expression(dim)

    def assign(self, node: ast.Assign) -> None:
        match node.place:
            case ast.Name(name=name):
                local = self.find(name)
                if local is None:
                    self.unknown_or_fixed(node.place)
                elif local.kind == "let":
                    notes = [(local.span, "defined here")]
                    self.reporter.error(catalog.ASSIGN_TO_LET, node.place.span, notes=notes, name=name)
                elif local.kind in _FIXED:
                    self.reporter.error(catalog.ASSIGN_TO_FIXED, node.place.span, name=name, what=_FIXED[local.kind])
                elif local.kind == "tensor":
                    hint = f"assign through a subscript: `{name}[...] = ...`"
                    self.reporter.error(
                        catalog.ASSIGN_TO_FIXED, node.place.span, hint=hint, name=name, what="a tensor"
                    )
                if local is not None:
                    local.is_used = True
            case ast.Index(value=ast.Name(name=name)):
                self.subscripted(name, node.place)
                self.expression(node.place, stored=True)

    def subscripted(self, name: str, place: ast.Index) -> None:
        """Only tensors are assigned through subscripts; what a function's parameter is, its calls say."""
        local = self.find(name)
        if local is not None and local.kind in ("let", "var"):
            self.reporter.error(catalog.TILE_SUBSCRIPT, place.span, text=place.span.text)
            return
        is_constant = local is None and calls.is_constant(self.scope, name)
        what = "a constant" if is_constant else _FIXED.get(local.kind) if local is not None else None
        if what is not None:
            self.reporter.error(catalog.NOT_SUBSCRIPTABLE, place.span, text=name, what=what)

    def unknown_or_fixed(self, node: ast.Name) -> None:
        if calls.is_constant(self.scope, node.name):
            self.reporter.error(catalog.ASSIGN_TO_FIXED, node.span, name=node.name, what="a constant")
        else:
            self.unknown(node, _ASSIGNABLE)

    # --- expressions

    def expression(self, root: ast.Expr, *, stored: bool = False) -> None:
        """Checks the names in an expression, or in a place that is `stored` into."""
        stack: list[ast.Expr] = [root]
        while stack:
            node = stack.pop()
            match node:
                case ast.Name():
                    self.use(node)
                case ast.Index(value=ast.Name() as name):
                    self.use(name, frozenset({"tensor"}) if stored and node is root else _SUBSCRIPTED)
                    stack.extend(child for child in reversed(children(node)) if child is not name)
                case ast.Attribute():
                    self.attribute(node)
                case ast.String():
                    self.reporter.error(catalog.STRING_MISUSE, node.span)
                case ast.Call():
                    calls.check_call(self, node)
                    stack.extend(reversed(children(node)))
                case _:
                    stack.extend(reversed(children(node)))

    def attribute(self, node: ast.Attribute) -> None:
        match node:
            case ast.Attribute(value=ast.Attribute(value=ast.Name(name="ctx"), name="block"), name="x" | "y" | "z"):
                return
            case ast.Attribute(value=ast.Name(name="ctx"), name="block"):
                self.reporter.error(catalog.CONTEXT_MISUSE, node.span, text=node.span.text)
                return
        if isinstance(node.value, ast.Name):
            name = node.value.name
            is_foreign = name in foreign.NAMES and self.find(name) is None
            if not is_foreign and (name != "ctx" or self.find("ctx") is not None):
                self.expression(node.value)
        elif not _is_context(node.value):
            self.expression(node.value)
        text = node.value.span.text
        hint = foreign.MEMBERS.get(node.name) or foreign.NAMES.get(text) or foreign.MEMBERS.get(text.rpartition(".")[2])
        self.reporter.error(catalog.UNKNOWN_MEMBER, node.span, hint=hint, text=text, name=node.name)

    def use(self, node: ast.Name, kinds: frozenset[str] = _VALUES) -> None:
        """A use of a name, at a place where something of the `kinds` may stand."""
        name = node.name
        local = self.find(name)
        if local is not None:
            local.is_used = True
        elif name == "ctx":
            self.reporter.error(catalog.CONTEXT_MISUSE, node.span, text=name)
        elif not calls.is_constant(self.scope, name):
            self.unknown(node, kinds)

    def unknown(self, node: ast.Name, kinds: frozenset[str]) -> None:
        name = node.name
        for frame in reversed(self.frames):
            if name in frame.later and name not in frame.names:
                notes = [(frame.later[name], "defined here")]
                self.reporter.error(catalog.USE_BEFORE_DEFINITION, node.span, notes=notes, name=name)
                return
        if self.scope.has_failed_import or any(name in file.broken for file in (self.scope, *self.scope.imports)):
            return
        if calls.is_function(self.scope, name):
            self.reporter.error(catalog.FUNCTION_AS_VALUE, node.span, name=name)
            return
        known = {name for frame in self.frames for name, local in frame.names.items() if local.kind in kinds}
        if kinds is _VALUES:
            known |= {*self.scope.constants, *PREDECLARED}
            known |= {each for file in self.scope.imports for each in file.constants if not each.startswith("_")}
        meant = suggest(name, known) if name not in foreign.NAMES else None
        local = self.find(meant) if meant is not None else None
        if local is not None:
            local.is_used = True  # to call it unused would be a second word about one mistake
        hint = foreign.NAMES.get(name) or (f"did you mean `{meant}`?" if meant is not None else None)
        hint = hint or foreign.COUNTERS.get(name)
        if hint is None and kinds is _ASSIGNABLE:
            hint = f"a new name is declared: `let {name} = ...`, or `var {name} = ...` if it changes later"
        self.reporter.error(catalog.UNKNOWN_NAME, node.span, hint=hint, name=name)

    # --- names

    def find(self, name: str) -> Local | None:
        for frame in reversed(self.frames):
            if name in frame.names:
                return frame.names[name]
        return None

    def define(self, node: ast.Name, kind: str) -> None:
        names = self.frames[-1].names
        if node.name in names:
            self.duplicate(_SPOKEN[kind].replace("a ", "", 1), node, names[node.name].span)
            names[node.name].is_used = True
            return
        outer = self.find(node.name)
        if outer is not None:
            notes = [(outer.span, "the outer one")]
            hint = f"to change the outer one leave out `{kind}`: `{node.name} = ...`" if outer.kind == "var" else None
            self.reporter.warning(
                catalog.HIDES_NAME, node.span, notes=notes, hint=hint, name=node.name, what=_SPOKEN[outer.kind]
            )
        names[node.name] = Local(kind, node.span)

    def duplicate(self, what: str, name: ast.Name, first: Span) -> None:
        notes = [(first, "first defined here")]
        self.reporter.error(catalog.DUPLICATE_DEFINITION, name.span, notes=notes, what=what, name=name.name)


def _ends(statement: ast.Statement) -> str | None:
    match statement:
        case ast.Return():
            return "return"
        case ast.Break():
            return "break"
        case ast.Continue():
            return "continue"
    return None


def _is_context(node: ast.Expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.name == "ctx"


def _names_in(root: ast.Expr) -> list[ast.Name]:
    names, stack = [], [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            names.append(node)
        stack.extend(reversed(children(node)))
    return names
