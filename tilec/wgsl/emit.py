"""Writes a loop program as one WGSL module: the only place where WGSL statements are made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tilec.diag import catalog
from tilec.diag.report import LimitReached
from tilec.loop.ir import (
    Assign,
    Barrier,
    Buffer,
    Builtin,
    Comment,
    Const,
    Declare,
    Dispatch,
    Expr,
    If,
    Let,
    Local,
    Loop,
    Program,
    SharedArray,
    SharedStore,
    Shuffle,
    Statement,
    StoreElement,
    SubgroupReduce,
    Tell,
    Uniform,
    UniformField,
    While,
)
from tilec.loop.limits import LONGEST_TEXT
from tilec.source import Span
from tilec.tile.reports import LOG, Layout
from tilec.types import DType
from tilec.wgsl.expressions import ExpressionPrinter, Level, type_name
from tilec.wgsl.guarded import guarded_literals
from tilec.wgsl.helpers import HELPERS, helper_closure
from tilec.wgsl.layout import bindings, may_fold
from tilec.wgsl.names import Names
from tilec.wgsl.writer import Writer


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text, its entry points (one a dispatch, in order) and, by line from 1, its source."""

    text: str
    entries: tuple[str, ...]
    spans: dict[int, Span]


def emit(program: Program) -> str:
    """The WGSL text of a program: one entry point a dispatch. See `emit_module`."""
    return emit_module(program).text


def emit_module(program: Program, trusted: tuple[str, ...] = (), span: Span | None = None) -> Emitted:
    """The module of a program; `trusted` are names of `TRUSTED`. A text of more than `LONGEST_TEXT` characters is a
    mistake at `span`, if one is given.

    The text keeps to standard WGSL: what only one shader compiler accepts does not occur.
    """
    return _ModuleEmitter(program, trusted, span).emit()


_ViewKey = tuple[str, DType, int, bool]


class _ModuleEmitter:
    def __init__(self, program: Program, trusted: tuple[str, ...], span: Span | None) -> None:
        self._program = program
        self._span = span
        self._trusted = trusted
        self._names = Names()
        self._helpers: set[str] = set()
        self.uses_subgroups = False
        for name in (*HELPERS, "params", "Params"):
            self._names.take(name)
        self.log_function = self._names.fresh("tell") if program.log is not None else ""
        fields = Names()
        self._fields = {id(one): fields.fresh(one.name) for one in program.uniforms}
        self._views: dict[_ViewKey, str] = {}
        for dispatch in program.dispatches:
            for buffer in dispatch.buffers:
                self._views.setdefault(_view_key(buffer), "")
        for key in self._views:
            self._views[key] = self._names.fresh(key[0])
        self._entries = [self._names.fresh(dispatch.name) for dispatch in program.dispatches]
        self._shared = {
            id(array): self._names.fresh(array.name) for dispatch in program.dispatches for array in dispatch.shared
        }

    def emit(self) -> Emitted:
        bodies = Writer()
        spans: dict[int, Span] = {}
        for dispatch, entry in zip(self._program.dispatches, self._entries, strict=True):
            _FunctionEmitter(self, bodies, spans, dispatch, entry).emit()
        head = Writer()
        self._emit_head(head)
        shift = len(head.lines)
        text = "\n".join(head.lines + bodies.lines).rstrip("\n") + "\n"
        self.check_length(len(text))
        return Emitted(text, tuple(self._entries), {line + shift: span for line, span in spans.items()})

    def _emit_head(self, writer: Writer) -> None:
        writer.line(f"// Kernel {_one_line(self._program.kernel)}, written by tilec.")
        for guard in self._program.guards:
            writer.line(f"// Only for {_one_line(guard)}.")
        writer.line("")
        if self.uses_subgroups:
            writer.line("enable subgroups;")
            writer.line("")
        if self._program.uniforms:
            writer.open("struct Params {")
            for one in self._program.uniforms:
                stored = DType.U32 if one.dtype is DType.BOOL else one.dtype
                writer.line(f"{self._fields[id(one)]}: {type_name(stored)},{_meaning(one)}")
            writer.close()
            writer.line("")
            writer.line("@group(0) @binding(0) var<uniform> params: Params;")
        numbers = {binding.name: binding.number for binding in bindings(self._program)}
        for (name, element, width, writable), variable in self._views.items():
            access = "read_write" if writable else "read"
            place = f"@group(0) @binding({numbers[name]})"
            if name == LOG:
                writer.line(f"{place} var<storage, read_write> {variable}: array<atomic<u32>>;")
                continue
            writer.line(f"{place} var<storage, {access}> {variable}: array<{type_name(element, width)}>;")
        for dispatch in self._program.dispatches:
            for array in dispatch.shared:
                name = self._shared[id(array)]
                writer.line(f"var<workgroup> {name}: array<{type_name(array.dtype)}, {array.length}>;")
        writer.line("")
        if self._program.log is not None:
            self._emit_log_function(writer, self._program.log)
        for text in helper_closure(self._helpers, self._trusted):
            for line in text.strip("\n").split("\n"):
                writer.line(line)
            writer.line("")

    def _emit_log_function(self, writer: Writer, layout: Layout) -> None:
        """Counts a lane, and writes its record behind the others of its kind if there is room."""
        log = next((self._views[key] for key in self._views if key[0] == LOG), None)
        if log is None:
            return
        words = ["site", "block", *(f"word_{number}" for number in range(layout.record - 2))]
        first = layout.kind_word(layout.kinds[0])
        writer.open(f"fn {self.log_function}(kind: u32, {', '.join(f'{word}: u32' for word in words)}) {{")
        writer.open(f"if (block > atomicLoad(&{log}[0])) {{")
        writer.line("return;")
        writer.close()
        writer.line(f"atomicAdd(&{log}[{layout.site_word(0)}u + site], 1u);")
        writer.line(f"atomicMin(&{log}[{first + 1}u + 2u * kind], block);")
        writer.line(f"let record = atomicAdd(&{log}[{first}u + 2u * kind], 1u);")
        writer.line(f"let room = (arrayLength(&{log}) - {layout.head}u) / {len(layout.kinds) * layout.record}u;")
        writer.open("if (record < room) {")
        writer.line(f"let place = {layout.head}u + (kind * room + record) * {layout.record}u;")
        for offset, word in enumerate(words):
            writer.line(f"atomicStore(&{log}[place + {offset}u], {word});")
        writer.close()
        writer.close()
        writer.line("")

    # What functions ask for.

    def check_length(self, length: int) -> None:
        if self._span is not None and length > LONGEST_TEXT:
            name = self._program.kernel
            raise LimitReached(catalog.TEXT_TOO_LARGE, self._span, name=name, limit=f"{LONGEST_TEXT:,}")

    def use_helper(self, name: str) -> str:
        assert name in HELPERS, f"no helper function is named {name}"
        self._helpers.add(name)
        return name

    def function_names(self) -> Names:
        return self._names.child()

    def field_access(self, one: UniformField) -> str:
        return f"params.{self._fields[id(one)]}"

    def buffer_name(self, buffer: Buffer) -> str:
        return self._views[_view_key(buffer)]

    def shared_name(self, array: SharedArray) -> str:
        return self._shared[id(array)]


class _FunctionEmitter:
    """Writes one entry point."""

    def __init__(
        self, module: _ModuleEmitter, writer: Writer, spans: dict[int, Span], dispatch: Dispatch, entry: str
    ) -> None:
        self._module = module
        self._writer = writer
        self._spans = spans
        self._dispatch = dispatch
        self._entry = entry
        self._names = module.function_names()
        self._locals: dict[int, str] = {}
        self._fixed: set[int] = set()
        self._local_index = self._names.fresh("local_index")
        self._workgroup = self._names.fresh("workgroup_index")
        self._group = self._names.fresh("group")
        self._printer = ExpressionPrinter(
            self._name_of,
            self._hoist,
            module.use_helper,
            guarded_literals(dispatch.body),
            f"{self._group}.z",  # workgroups lie in two axes
        )

    def emit(self) -> None:
        writer = self._writer
        group, groups = self._group, self._names.fresh("groups")
        folds = may_fold(self._dispatch)
        writer.line(f"@compute @workgroup_size({self._dispatch.threads})")
        writer.open(f"fn {self._entry}(")
        writer.line(f"@builtin(local_invocation_index) {self._local_index}: u32,")
        writer.line(f"@builtin(workgroup_id) {group}: vec3<u32>,")
        if folds:
            writer.line(f"@builtin(num_workgroups) {groups}: vec3<u32>,")
        writer.close(") {")
        writer.depth += 1
        if folds:
            writer.line(f"let {self._workgroup} = {group}.x + {group}.y * {groups}.x;")
            count = self._module.field_access(self._dispatch.workgroup_count)
            count = count if self._dispatch.workgroup_count.dtype is DType.U32 else f"u32({count})"
            writer.open(f"if ({self._workgroup} < {count}) {{")
        else:
            writer.line(f"let {self._workgroup} = {group}.x;")
        self._block(self._dispatch.body)
        if folds:
            writer.close()
        writer.close()
        writer.line("")

    # -- names --------------------------------------------------------------------------------------------------

    def _name_of(self, thing: object) -> str:
        match thing:
            case Local():
                return self._locals[thing.number]
            case UniformField():
                return self._module.field_access(thing)
            case Buffer():
                return self._module.buffer_name(thing)
            case SharedArray():
                return self._module.shared_name(thing)
            case Builtin("local_index"):
                return self._local_index
            case Builtin("workgroup"):
                return self._workgroup
        raise AssertionError(f"no name for {thing!r}")

    def _define(self, local: Local) -> str:
        assert local.number not in self._locals, f"{local.hint} is defined twice"
        self._locals[local.number] = self._names.fresh(local.hint)
        return self._locals[local.number]

    def _hoist(self, hint: str, text: str) -> str:
        name = self._names.fresh(hint)
        self._writer.line(f"let {name} = {text};")
        return name

    def _fixed_value(self, expression: Expr, hint: str) -> str:
        """A text that means the same wherever it stands in the loop that follows."""
        is_fixed = isinstance(expression, (Const, Uniform, Builtin)) or (
            isinstance(expression, Local) and expression.number in self._fixed
        )
        text = self._text(expression)
        return text if is_fixed else self._hoist(hint, text)

    def _text(self, expression: Expr) -> str:
        return self._printer.text(expression)

    # -- statements ---------------------------------------------------------------------------------------------

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            span: Span | None = getattr(statement, "span", None)
            first = len(self._writer.lines)
            self._statement(statement)
            self._module.check_length(self._writer.length)
            if span is not None:
                for line in range(first + 1, len(self._writer.lines) + 1):
                    self._spans[line] = span

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let() | Declare() | Assign():
                self._local_statement(statement)
            case StoreElement() | SharedStore():
                self._store(statement)
            case If():
                self._if(statement)
            case Loop():
                self._loop(statement)
            case While():
                self._while(statement)
            case Barrier():
                self._writer.line("workgroupBarrier();")
                if statement.storage:
                    self._writer.line("storageBarrier();")
            case Tell():
                self._tell(statement)
            case Comment():
                self._writer.line(f"// {_one_line(statement.text)}")
            case _:
                raise AssertionError(f"no text for {statement!r}")

    def _local_statement(self, statement: Let | Declare | Assign) -> None:
        match statement:
            case Let():
                value = self._text(statement.value)
                self._module.uses_subgroups |= isinstance(statement.value, Shuffle | SubgroupReduce)
                self._fixed.add(statement.local.number)
                self._writer.line(f"let {self._define(statement.local)} = {value};")
            case Declare():
                value = self._text(statement.initial)
                type_text = type_name(statement.local.dtype, statement.local.width)
                self._writer.line(f"var {self._define(statement.local)}: {type_text} = {value};")
            case Assign():
                value = self._text(statement.value)
                self._writer.line(f"{self._locals[statement.local.number]} = {value};")

    def _store(self, statement: StoreElement | SharedStore) -> None:
        if isinstance(statement, StoreElement):
            target = self._module.buffer_name(statement.buffer)
            length = None
        else:
            target = self._module.shared_name(statement.array)
            length = statement.array.length
        index = self._printer.index_text(statement.index, length)
        value = self._text(statement.value)
        self._writer.line(f"{target}[{index}] = {value};")

    def _tell(self, statement: Tell) -> None:
        words = ", ".join(map(self._text, (statement.kind, *statement.record)))
        self._writer.line(f"{self._module.log_function}({words});")

    def _if(self, statement: If) -> None:
        self._writer.open(f"if ({self._text(statement.condition)}) {{")
        self._block(statement.then)
        if statement.otherwise:
            self._writer.close("} else {")
            self._writer.depth += 1
            self._block(statement.otherwise)
        self._writer.close()

    def _loop(self, statement: Loop) -> None:
        start = self._text(statement.start)
        stop = self._fixed_value(statement.stop, "stop")
        step = self._fixed_value(statement.step, "step")
        self._fixed.add(statement.index.number)
        index = self._define(statement.index)
        condition = f"{index} < {stop}"
        if statement.until is not None:
            # `&&` becomes branches in one shader compiler, which another then takes very long over.
            condition = f"({condition}) & !{self._locals[statement.until.number]}"
        self._writer.open(f"for (var {index}: {statement.index.dtype} = {start}; {condition}; {index} += {step}) {{")
        self._block(statement.body)
        self._writer.close()

    def _while(self, statement: While) -> None:
        rounds = self._names.fresh("rounds")
        self._writer.open(f"for (var {rounds} = 0u; {rounds} < {statement.bound}u; {rounds} += 1u) {{")
        self._block(statement.prelude)
        self._writer.open(f"if (!{self._printer.operand(statement.condition, Level.UNARY)}) {{")
        self._writer.line("break;")
        self._writer.close()
        self._block(statement.body)
        self._writer.close()


def _view_key(buffer: Buffer) -> _ViewKey:
    return buffer.name, buffer.element, buffer.width, buffer.writable


def _meaning(one: UniformField) -> str:
    """A comment that says what the host puts there, where the name alone does not."""
    if one.scalar is not None:
        return ""
    text = _one_line(str(one.extent))
    return "" if text == one.name else f"  // {text}"


_UNPRINTABLE = re.compile(r"[^ -~]")


def _one_line(text: str) -> str:
    """Text that cannot end a comment: printable ASCII only."""
    return _UNPRINTABLE.sub("?", text)
