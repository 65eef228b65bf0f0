"""Checks a loop program before it is emitted: scopes, dtypes, and barriers in uniform control flow.

A failure is a bug of the lowering or of a pass. What cannot be seen statically (indices, races) is the interpreter's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tilec.errors import InternalError
from tilec.loop import ir
from tilec.loop.interp_text import statement_text
from tilec.loop.verify_types import TypeFault, check_expression, require, same_dtype
from tilec.loop.verify_uniformity import Uniformity
from tilec.types import DType

_POWERS_OF_TWO = frozenset(1 << exponent for exponent in range(7))
_IDEMPOTENT = {("or", DType.U32), ("max", DType.I32)}
_INTEGERS = (DType.I32, DType.U32)


def verify_host_extents(program: ir.Program, stage: str = "the loop program") -> None:
    """Raises InternalError unless all that a launch evaluates is made of dims and scalar parameters: the words of
    scratch, the workgroups of every dispatch, the fields of the uniform block."""
    evaluated = [("the words of scratch", program.scratch_words)]
    evaluated += [(f"the workgroups of dispatch {one.name}", one.workgroups) for one in program.dispatches]
    fields = [*program.uniforms, *(one.workgroup_count for one in program.dispatches)]
    evaluated += [(f"the uniform field {field.name}", field.extent) for field in fields if field.extent is not None]
    for what, extent in evaluated:
        if not extent.is_for_host:
            raise InternalError(stage, f"no launch can know {what}: {extent}")


def verify(program: ir.Program, stage: str = "the loop program") -> None:
    """Raises InternalError, which names `stage` and shows the statement, at the first thing that is wrong."""
    verify_host_extents(program, stage)
    meanings: dict[str, set[str]] = {}
    for field in program.uniforms:  # one value may be there as an i32 and as a u32
        meanings.setdefault(field.name, set()).add(str(field.scalar if field.extent is None else field.extent))
    for name, values in meanings.items():
        if len(values) > 1:
            raise InternalError(stage, f"uniform fields of one name, {name}, are {' and '.join(sorted(values))}")
    for dispatch in program.dispatches:
        _Verifier(program, dispatch, stage).run()


class _Verifier:
    """One dispatch. `_visible` are the locals that the current place may read, with whether they are mutable."""

    def __init__(self, program: ir.Program, dispatch: ir.Dispatch, stage: str) -> None:
        self._program = program
        self._dispatch = dispatch
        self._stage = stage
        self._visible: dict[int, bool] = {}
        self._defined: set[int] = set()
        self._uniformity = Uniformity(dispatch)

    def run(self) -> None:
        try:
            self._memories()
        except TypeFault as fault:
            raise InternalError(self._stage, f"{fault}\nin dispatch {self._dispatch.name}") from None
        self._block(self._dispatch.body, True)

    def _memories(self) -> None:
        dispatch = self._dispatch
        require(dispatch.threads > 0, "no threads")
        require(dispatch.workgroup_count in self._program.uniforms, "the number of workgroups is no uniform field")
        names = [buffer.name for buffer in dispatch.buffers]
        require(len(set(names)) == len(names), "two buffers of one name")
        for buffer in dispatch.buffers:
            require(buffer.width in (1, 4), f"{buffer.name} has width {buffer.width}")
            require(buffer.element in (DType.F32, *_INTEGERS), f"{buffer.name} holds {buffer.element}")
        for array in dispatch.shared:
            require(array.length > 0, f"{array.name} has no elements")
            require(array.dtype.is_compute, f"{array.name} holds {array.dtype}")

    # --- statements ------------------------------------------------------------------------------------------

    def _block(self, body: Iterable[ir.Statement], is_uniform: bool) -> None:
        """Statements with their own scope; `is_uniform`: all threads of a workgroup reach them or none."""
        with self._scope():
            self._open_block(body, is_uniform)

    def _open_block(self, body: Iterable[ir.Statement], is_uniform: bool) -> None:
        for statement in body:
            try:
                self._statement(statement, is_uniform)
            except TypeFault as fault:
                place = f"in dispatch {self._dispatch.name}: {statement_text(statement)}"
                raise InternalError(self._stage, f"{fault}\n{place}") from None

    @contextmanager
    def _scope(self) -> Iterator[None]:
        outer = dict(self._visible)
        yield
        self._visible = outer

    def _statement(self, statement: ir.Statement, is_uniform: bool) -> None:
        match statement:
            case ir.Let():
                self._let(statement, is_uniform)
            case ir.Declare(local, initial):
                self._value(initial, local)
                self._define(local, is_mutable=True)
            case ir.Assign(local, value):
                require(self._visible.get(local.number) is True, f"{local.hint}.{local.number} is no variable here")
                self._value(value, local)
            case ir.StoreElement() | ir.SharedStore():
                self._store(statement)
            case ir.If(condition, then, otherwise):
                self._scalar(condition, (DType.BOOL,), "the condition")
                inner = is_uniform and self._uniformity.of(condition)
                self._block(then, inner)
                self._block(otherwise, inner)
            case ir.Loop():
                self._loop(statement, is_uniform)
            case ir.While():
                self._while(statement, is_uniform)
            case ir.Tell():
                self._tell(statement)
            case ir.Barrier():
                require(is_uniform, "a barrier that some threads of a workgroup may not reach")

    def _let(self, statement: ir.Let, is_uniform: bool) -> None:
        local, value = statement.local, statement.value
        if isinstance(value, ir.UniformLoad):
            require(is_uniform, "a uniform load that some threads of a workgroup may not reach")
            require(value.array in self._dispatch.shared, f"the dispatch has no array {value.array.name}")
            require(value.array.length == 1, f"{value.array.name} has {value.array.length} elements, not one")
            same_dtype(value.dtype, local.dtype, "the value")
        elif isinstance(value, ir.Shuffle):
            require(is_uniform, "a shuffle that some threads of a workgroup may not reach")
            is_near = value.mask in _POWERS_OF_TWO and value.mask < min(self._program.subgroup, self._dispatch.threads)
            require(is_near, f"a shuffle over {value.mask} threads where subgroups have {self._program.subgroup}")
            self._value(value.value, local)
        elif isinstance(value, ir.SubgroupReduce):
            require(is_uniform, "a reduction over subgroups that some threads of a workgroup may not reach")
            is_near = value.threads <= min(self._program.subgroup, self._dispatch.threads)
            require(is_near, f"a reduction over {value.threads} threads where subgroups have {self._program.subgroup}")
            is_known = (value.op, value.dtype) in _IDEMPOTENT
            require(is_known, f"no reduction of {value.dtype} over subgroups by {value.op}")
            self._value(value.value, local)
        else:
            self._value(value, local)
        self._define(local, is_mutable=False)

    def _store(self, statement: ir.StoreElement | ir.SharedStore) -> None:
        self._scalar(statement.index, _INTEGERS, "the index")
        width = self._expression(statement.value)
        if isinstance(statement, ir.SharedStore):
            require(statement.array in self._dispatch.shared, f"the dispatch has no array {statement.array.name}")
            require(width == 1, "a vector in workgroup memory")
            same_dtype(statement.value.dtype, statement.array.dtype, "the value")
            return
        buffer = statement.buffer
        require(not buffer.is_log, f"{buffer.name} is told into, not stored to")
        require(buffer in self._dispatch.buffers, f"the dispatch does not bind {buffer.name}")
        require(buffer.writable, f"{buffer.name} is only readable")
        require(width == buffer.width, f"a value of width {width} for {buffer.name} of width {buffer.width}")
        same_dtype(statement.value.dtype, buffer.element, "the value")

    def _tell(self, statement: ir.Tell) -> None:
        require(statement.buffer in self._dispatch.buffers, f"the dispatch does not bind {statement.buffer.name}")
        require(statement.buffer.is_log, f"{statement.buffer.name} is no log")
        require(len(statement.record) == statement.layout.record, "a record of another length")
        for word in (statement.kind, *statement.record):
            self._scalar(word, (DType.U32,), "a word")

    def _loop(self, statement: ir.Loop, is_uniform: bool) -> None:
        index = statement.index
        require(index.dtype in _INTEGERS and index.width == 1, f"an index of {index.dtype}")
        for part, what in ((statement.start, "start"), (statement.stop, "stop"), (statement.step, "step")):
            self._scalar(part, (index.dtype,), f"the {what}")
        step = statement.step
        require(not isinstance(step, ir.Const) or step.value > 0, "a step that is not positive")
        until = statement.until
        if until is not None:
            require(self._visible.get(until.number) is True, f"{until.hint}.{until.number} is no variable here")
            same_dtype(until.dtype, DType.BOOL, "what ends the loop")
        with self._scope():
            self._define(index, is_mutable=False)
            self._open_block(statement.body, is_uniform and self._uniformity.of_loop(statement))

    def _while(self, statement: ir.While, is_uniform: bool) -> None:
        require(statement.bound > 0, "a bound that is not positive")
        inner = is_uniform and self._uniformity.of(statement.condition)
        with self._scope():
            self._open_block(statement.prelude, inner)
            self._scalar(statement.condition, (DType.BOOL,), "the condition")
            self._block(statement.body, inner)

    # --- locals and expressions ------------------------------------------------------------------------------

    def _define(self, local: ir.Local, *, is_mutable: bool) -> None:
        require(local.number not in self._defined, f"{local.hint}.{local.number} is defined twice")
        self._defined.add(local.number)
        self._visible[local.number] = is_mutable

    def _value(self, value: ir.Expr, local: ir.Local) -> None:
        width = self._expression(value)
        require(width == local.width, f"a value of width {width} for {local.hint} of width {local.width}")
        same_dtype(value.dtype, local.dtype, "the value")

    def _scalar(self, value: ir.Expr, dtypes: tuple[DType, ...], what: str) -> None:
        require(self._expression(value) == 1, f"{what} is a vector")
        wanted = " or ".join(map(str, dtypes))
        require(value.dtype in dtypes, f"{what} is {value.dtype}, not {wanted}")

    def _expression(self, expression: ir.Expr) -> int:
        return check_expression(expression, self._leaf)

    def _leaf(self, expression: ir.Expr) -> None:
        """What of an expression depends on its place."""
        match expression:
            case ir.Local():
                is_visible = expression.number in self._visible
                require(is_visible, f"{expression.hint}.{expression.number} has no value at this place")
            case ir.Uniform(field):
                require(field in self._program.uniforms, f"no uniform field {field.name}")
            case ir.Load(buffer):
                require(buffer in self._dispatch.buffers, f"the dispatch does not bind {buffer.name}")
            case ir.SharedLoad(array):
                require(array in self._dispatch.shared, f"the dispatch has no array {array.name}")
