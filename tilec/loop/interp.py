"""Runs loop IR programs with NumPy, thread by thread in meaning, and refuses those whose result is not certain.

Where the device might give one of several results, here is an error: races, barriers in divergent control flow,
indices outside, reads of memory that nothing has written. See `interp_memory` for what counts as a race.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilec.loop import ir
from tilec.loop.interp_errors import (
    BarrierError,
    BoundsError,
    InterpreterError,
    LoopError,
    RaceError,
    UninitializedError,
)
from tilec.loop.interp_memory import Memory, RaceChecker
from tilec.loop.interp_text import statement_text
from tilec.loop.interp_threads import SharedMemory, Threads, element_of
from tilec.ops.reference import NUMPY_DTYPES

__all__ = [
    "BarrierError", "BoundsError", "InterpreterError", "LoopError", "RaceError", "UninitializedError",
    "evaluate_uniforms", "make_scratch", "run",
]  # fmt: skip

_BATCH_THREADS = 4096
_POISON = 0x7FC0DEAD  # a NaN as f32, and far outside as an index


def evaluate_uniforms(
    program: ir.Program, dims: Mapping[str, int], scalars: Mapping[str, bool | int | float]
) -> dict[str, bool | int | float]:
    """The values of the program's uniform fields, by field name, from the kernel's dims and scalar parameters."""
    integers = {**{name: int(value) for name, value in scalars.items() if not isinstance(value, float)}, **dims}
    values: dict[str, bool | int | float] = {}
    for field in program.uniforms:
        if field.extent is not None:
            values[field.name] = field.extent.evaluate(integers)
        elif field.scalar is not None:
            values[field.name] = scalars[field.scalar]
    return values


def make_scratch(program: ir.Program, dims: Mapping[str, int], scalars: Mapping[str, bool | int | float]) -> np.ndarray:
    """A scratch buffer of the size that the program wants, (words,) u32, full of a word that shows when it is read."""
    integers = {**{name: int(value) for name, value in scalars.items() if not isinstance(value, float)}, **dims}
    return np.full(program.scratch_words.evaluate(integers), _POISON, np.uint32)


def run(
    program: ir.Program,
    buffers: Mapping[str, np.ndarray],
    uniforms: Mapping[str, bool | int | float],
    *,
    check_races: bool = True,
    order: str = "forwards",
) -> None:
    """Runs the dispatches in order and modifies the buffers.

    `buffers` maps the names of `Buffer`s to flat arrays of a 4-byte dtype (`make_scratch` for scratch); `uniforms` is
    what `evaluate_uniforms` gives. `order` "backwards" runs workgroups in the opposite order, which changes nothing.
    Raises RaceError, BarrierError, BoundsError, UninitializedError, LoopError; InterpreterError where the program is
    ill-formed.
    """
    fields = {field: element_of(uniforms[field.name], field.dtype) for field in program.uniforms}
    defined: dict[str, np.ndarray] = {}
    for dispatch in program.dispatches:
        count = int(fields[dispatch.workgroup_count])
        _DispatchRun(dispatch, buffers, fields, defined, check_races).run(count, order)


class _DispatchRun:
    """One dispatch: its memories, and its statements executed by batches of workgroups."""

    def __init__(
        self,
        dispatch: ir.Dispatch,
        buffers: Mapping[str, np.ndarray],
        fields: Mapping[ir.UniformField, np.ndarray],
        defined: dict[str, np.ndarray],
        check_races: bool,
    ) -> None:
        self._dispatch = dispatch
        self._fields = fields
        self._check_races = check_races
        self._statements: list[ir.Statement] = []
        self._numbers: dict[int, int] = {}
        self._buffers = {buffer.name: self._bind(buffer, buffers, defined) for buffer in dispatch.buffers}

    def run(self, count: int, order: str) -> None:
        size = self._dispatch.threads
        batch = max(1, _BATCH_THREADS // size)
        starts = range(0, count, batch)
        for first in starts if order == "forwards" else reversed(starts):
            self._run_batch(first, min(batch, count - first), size)

    def _run_batch(self, first: int, count: int, size: int) -> None:
        shared = {array: self._share(array, count, size) for array in self._dispatch.shared}
        self._threads = Threads(first, count, size, self._buffers, shared, self._fields, self._describe)
        self._execute_all(self._dispatch.body, np.ones(count * size, np.bool_))

    # --- memories --------------------------------------------------------------------------------------------

    def _bind(self, buffer: ir.Buffer, buffers: Mapping[str, np.ndarray], defined: dict[str, np.ndarray]) -> Memory:
        if buffer.name not in buffers:
            raise InterpreterError(f"no array for buffer {buffer.name}")
        words = buffers[buffer.name]
        if words.ndim != 1 or words.dtype.itemsize != 4 or not words.flags.c_contiguous:
            raise InterpreterError(f"buffer {buffer.name} must be a flat contiguous array of a 4-byte dtype")
        if len(words) % buffer.width:
            raise InterpreterError(f"buffer {buffer.name} holds no whole number of elements: pad it to 16 bytes")
        written = None
        if buffer.tensor is None:
            written = defined.setdefault(buffer.name, np.zeros(len(words), np.bool_))
        checker = None
        if self._check_races and buffer.writable:
            checker = RaceChecker(self._dispatch.name, buffer.name, len(words), self._dispatch.threads, self._describe)
        view = words.view(NUMPY_DTYPES[buffer.element])
        return Memory(buffer.name, view, buffer.width, checker, written, self._describe)

    def _share(self, array: ir.SharedArray, count: int, size: int) -> SharedMemory:
        words = np.zeros(count * array.length, NUMPY_DTYPES[array.dtype])
        written = np.zeros(len(words), np.bool_)
        checker = None
        if self._check_races:
            checker = RaceChecker(self._dispatch.name, array.name, len(words), size, self._describe, array.length)
        memory = Memory(array.name, words, 1, checker, written, self._describe, array.length)
        return SharedMemory(memory, array.length)

    # --- statements ------------------------------------------------------------------------------------------

    def _number(self, statement: ir.Statement) -> int:
        if id(statement) not in self._numbers:
            self._numbers[id(statement)] = len(self._statements)
            self._statements.append(statement)
        return self._numbers[id(statement)]

    def _describe(self, number: int) -> str:
        return statement_text(self._statements[number])

    def _execute_all(self, body: tuple[ir.Statement, ...], mask: np.ndarray) -> None:
        for statement in body:
            self._execute(statement, mask)

    def _execute(self, statement: ir.Statement, mask: np.ndarray) -> None:
        threads, number = self._threads, self._number(statement)
        match statement:
            case ir.Let(local, value) | ir.Declare(local, value):
                threads.define(local, threads.evaluate(value, mask, number))
            case ir.Assign(local, value):
                threads.assign(local, threads.evaluate(value, mask, number), mask)
            case ir.StoreElement(buffer, index, value):
                where = threads.evaluate(index, mask, number)
                threads.store(buffer, where, threads.evaluate(value, mask, number), mask, number)
            case ir.SharedStore(array, index, value):
                where = threads.evaluate(index, mask, number)
                threads.store_shared(array, where, threads.evaluate(value, mask, number), mask, number)
            case ir.If():
                self._branch(statement, mask)
            case ir.Loop():
                self._loop(statement, mask)
            case ir.While():
                self._while(statement, mask)
            case ir.Tell(buffer, layout, kind, record):
                words = [threads.evaluate(word, mask, number) for word in (kind, *record)]
                threads.tell(buffer, layout, words, mask)
            case ir.Barrier(storage):
                threads.barrier(mask, number, storage=storage)

    def _branch(self, statement: ir.If, mask: np.ndarray) -> None:
        condition = self._threads.evaluate(statement.condition, mask, self._number(statement))
        for body, taken in ((statement.then, mask & condition), (statement.otherwise, mask & ~condition)):
            if body and taken.any():
                self._execute_all(body, taken)

    def _loop(self, statement: ir.Loop, mask: np.ndarray) -> None:
        threads, number = self._threads, self._number(statement)
        index = threads.evaluate(statement.start, mask, number)
        stop = threads.evaluate(statement.stop, mask, number)
        step = threads.evaluate(statement.step, mask, number)
        if not (np.broadcast_to(step, mask.shape)[mask] > 0).all():
            raise LoopError(f"`{self._describe(number)}` has a step that is not positive")
        limit = np.iinfo(index.dtype).max
        running = mask
        while True:
            threads.define(statement.index, index)
            running = running & (index < stop)
            if statement.until is not None:
                running = running & ~threads.value_of(statement.until)
            if not running.any():
                return
            self._execute_all(statement.body, running)
            following = index.astype(np.int64) + step
            if (np.broadcast_to(following, mask.shape)[running] > limit).any():
                raise LoopError(f"the index of `{self._describe(number)}` wraps")
            index = following.astype(index.dtype)

    def _while(self, statement: ir.While, mask: np.ndarray) -> None:
        running = mask
        for _ in range(statement.bound):
            self._execute_all(statement.prelude, running)
            running = running & self._threads.evaluate(statement.condition, running, self._number(statement))
            if not running.any():
                return
            self._execute_all(statement.body, running)
