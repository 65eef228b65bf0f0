"""One batch of workgroups of the loop interpreter: the threads' variables and memories, and expressions on them.

A value is an array of one element a thread, (n,), or (n, 4) for a vec4; what is the same for every thread may be a
single element, (). Threads for which control flow does not hold compute too, but touch no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tilec.loop import ir
from tilec.loop.interp_bits import evaluate_bits
from tilec.loop.interp_errors import BarrierError, InterpreterError
from tilec.loop.interp_memory import Memory, Touch
from tilec.ops import reference
from tilec.ops.reference import NUMPY_DTYPES
from tilec.tile.reports import Layout
from tilec.types import DType


def element_of(value: bool | int | float, dtype: DType) -> np.ndarray:
    """A number as an array of one element of the dtype, (); integers wrap."""
    if dtype is DType.F32:
        with np.errstate(all="ignore"):
            return np.array(value, np.float64).astype(np.float32)
    if dtype is DType.BOOL:
        return np.array(bool(value))
    return np.array(int(value) & 0xFFFFFFFF, np.uint32).view(NUMPY_DTYPES[dtype])


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """A shared array's copies, one a workgroup of the batch."""

    memory: Memory
    length: int


class Threads:
    """The threads of `count` whole workgroups of `size` threads each, from workgroup `first` on."""

    def __init__(
        self,
        first: int,
        count: int,
        size: int,
        buffers: dict[str, Memory],
        shared: dict[ir.SharedArray, SharedMemory],
        uniforms: Mapping[ir.UniformField, np.ndarray],
        describe: Callable[[int], str],
    ) -> None:
        self.workgroup_size = size
        self.count = count * size
        self._first = first
        self._numbers = (first * size + np.arange(self.count)).astype(np.int32)
        self._copies = np.arange(self.count) // size
        self._buffers = buffers
        self._shared = shared
        self._uniforms = uniforms
        self._describe = describe
        self._storage_epochs = np.zeros(self.count, np.int32)
        self._shared_epochs = np.zeros(self.count, np.int32)
        self._locals: dict[int, np.ndarray] = {}
        self._builtins = {
            "local_index": (np.arange(self.count) % size).astype(np.uint32),
            "workgroup": (first + self._copies).astype(np.uint32),
        }

    # --- variables -------------------------------------------------------------------------------------------

    def define(self, local: ir.Local, value: np.ndarray) -> None:
        """Gives the variable a value in every thread (those for which control flow does not hold never read it)."""
        self._locals[local.number] = value

    def assign(self, local: ir.Local, value: np.ndarray, mask: np.ndarray) -> None:
        """Gives the variable a value in the threads of the mask."""
        old = self.value_of(local)
        if mask.all():
            self._locals[local.number] = value
        else:
            mask = mask[:, None] if local.width == 4 else mask
            self._locals[local.number] = np.where(mask, value, old)

    def value_of(self, local: ir.Local) -> np.ndarray:
        if local.number not in self._locals:
            raise InterpreterError(f"{local.hint}.{local.number} is read before it has a value")
        return self._locals[local.number]

    # --- barriers --------------------------------------------------------------------------------------------

    def barrier(self, mask: np.ndarray, statement: int, *, storage: bool) -> None:
        """The threads of the mask arrive at a barrier. Raises BarrierError if a workgroup is not complete."""
        self._arrive(mask, statement)
        self._shared_epochs[mask] += 1
        if storage:
            self._storage_epochs[mask] += 1

    def _arrive(self, mask: np.ndarray, statement: int) -> None:
        arrived = mask.reshape(-1, self.workgroup_size).sum(axis=1)
        partial = (arrived > 0) & (arrived < self.workgroup_size)
        if partial.any():
            group = int(np.flatnonzero(partial)[0])
            raise BarrierError(
                f"only {int(arrived[group])} of {self.workgroup_size} threads of workgroup {self._first + group} "
                f"reach `{self._describe(statement)}`"
            )

    # --- memory ----------------------------------------------------------------------------------------------

    def load(self, buffer: ir.Buffer, index: np.ndarray, mask: np.ndarray, statement: int) -> np.ndarray:
        """Elements of a buffer in the threads of the mask, 0 in the others."""
        memory = self._buffer(buffer)
        loaded = memory.load(self._touch(index, mask, self._storage_epochs, statement))
        return self._scatter(loaded, mask)

    def store(self, buffer: ir.Buffer, index: np.ndarray, value: np.ndarray, mask: np.ndarray, statement: int) -> None:
        if not buffer.writable:
            raise InterpreterError(f"`{self._describe(statement)}` writes {buffer.name}, which is only readable")
        shape = (self.count,) if buffer.width == 1 else (self.count, 4)
        values = np.broadcast_to(value, shape)[mask]
        self._buffer(buffer).store(self._touch(index, mask, self._storage_epochs, statement), values)

    def tell(self, buffer: ir.Buffer, layout: Layout, words: list[np.ndarray], mask: np.ndarray) -> None:
        """A record of each thread of the mask, behind the number of its kind, in the order of the threads."""
        log = self._buffer(buffer).words
        room = layout.room(len(log))
        told = np.stack([np.broadcast_to(word, (self.count,))[mask] for word in words], axis=1)
        for kind, *record in told.tolist():
            site, block = record[:2]
            if block > log[0]:
                continue
            counter = layout.kind_word(layout.kinds[kind])
            if log[counter] < room:
                at = layout.head + (kind * room + int(log[counter])) * layout.record
                log[at : at + layout.record] = record
            log[counter] += 1
            log[counter + 1] = min(int(log[counter + 1]), block)
            log[layout.site_word(site)] += 1

    def load_shared(self, array: ir.SharedArray, index: np.ndarray, mask: np.ndarray, statement: int) -> np.ndarray:
        shared = self._shared[array]
        touch = self._touch(index, mask, self._shared_epochs, statement)
        return self._scatter(shared.memory.load(touch, self._copies[mask] * shared.length), mask)

    def store_shared(
        self, array: ir.SharedArray, index: np.ndarray, value: np.ndarray, mask: np.ndarray, statement: int
    ) -> None:
        shared = self._shared[array]
        touch = self._touch(index, mask, self._shared_epochs, statement)
        values = np.broadcast_to(value, (self.count,))[mask]
        shared.memory.store(touch, values, self._copies[mask] * shared.length)

    def load_uniformly(self, array: ir.SharedArray, mask: np.ndarray, statement: int) -> np.ndarray:
        """`workgroupUniformLoad`: element 0, with a barrier of workgroup memory before and after."""
        self.barrier(mask, statement, storage=False)
        value = self.load_shared(array, np.zeros((), np.int32), mask, statement)
        self.barrier(mask, statement, storage=False)
        return value

    def shuffle(self, value: np.ndarray, distance: int, mask: np.ndarray, statement: int) -> np.ndarray:
        """The value of the thread whose number differs in the bit `distance`; all of the workgroup must be here."""
        if self.workgroup_size % (2 * distance):
            raise InterpreterError(f"`{self._describe(statement)}` leaves its workgroup of {self.workgroup_size}")
        self._arrive(mask, statement)
        return np.broadcast_to(value, (self.count,))[np.arange(self.count) ^ distance]

    def reduce(self, value: np.ndarray, op: str, width: int, mask: np.ndarray, statement: int) -> np.ndarray:
        """The values of each aligned run of `width` threads combined; all of the workgroup must be here."""
        if self.workgroup_size % width:
            raise InterpreterError(f"`{self._describe(statement)}` leaves its workgroup of {self.workgroup_size}")
        self._arrive(mask, statement)
        runs = np.broadcast_to(value, (self.count,)).reshape(-1, width)
        combined = {"or": np.bitwise_or, "max": np.maximum}[op].reduce(runs, axis=1)
        return np.repeat(combined, width)

    def _buffer(self, buffer: ir.Buffer) -> Memory:
        if buffer.name not in self._buffers:
            raise InterpreterError(f"the dispatch does not bind {buffer.name}")
        return self._buffers[buffer.name]

    def _touch(self, index: np.ndarray, mask: np.ndarray, epochs: np.ndarray, statement: int) -> Touch:
        elements = np.broadcast_to(index, (self.count,))[mask]
        return Touch(self._numbers[mask], epochs[mask], elements, statement)

    def _scatter(self, loaded: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if len(loaded) == self.count:
            return loaded
        values = np.zeros((self.count, *loaded.shape[1:]), loaded.dtype)
        values[mask] = loaded
        return values

    # --- expressions -----------------------------------------------------------------------------------------

    def evaluate(self, expression: ir.Expr, mask: np.ndarray, statement: int) -> np.ndarray:
        """The expression's value in each thread; memory is read in the threads of the mask."""
        match expression:
            case ir.Const():
                return element_of(expression.value, expression.dtype)
            case ir.Local():
                return self.value_of(expression)
            case ir.Uniform():
                return self._uniforms[expression.field]
            case ir.Builtin():
                return self._builtins[expression.name]
            case ir.Load():
                index = self.evaluate(expression.index, mask, statement)
                return self.load(expression.buffer, index, mask, statement)
            case ir.SharedLoad():
                index = self.evaluate(expression.index, mask, statement)
                return self.load_shared(expression.array, index, mask, statement)
            case ir.UniformLoad():
                return self.load_uniformly(expression.array, mask, statement)
            case ir.Shuffle():
                value = self.evaluate(expression.value, mask, statement)
                return self.shuffle(value, expression.mask, mask, statement)
            case ir.SubgroupReduce():
                value = self.evaluate(expression.value, mask, statement)
                return self.reduce(value, expression.op, expression.threads, mask, statement)
            case _:
                return self._combine(expression, mask, statement)

    def _combine(self, expression: ir.Expr, mask: np.ndarray, statement: int) -> np.ndarray:
        def values(*operands: ir.Expr) -> list[np.ndarray]:
            return _aligned([self.evaluate(operand, mask, statement) for operand in operands])

        match expression:
            case ir.Op():
                result = reference.evaluate(expression.op, *values(*expression.operands))
                return np.asarray(result, NUMPY_DTYPES[expression.dtype])
            case ir.Bits():
                return np.asarray(evaluate_bits(expression.op, values(*expression.operands), expression.dtype))
            case ir.Select():
                condition, chosen, other = values(expression.condition, expression.chosen, expression.other)
                return np.where(condition, chosen, other)
            case ir.Component():
                return np.broadcast_to(self.evaluate(expression.vector, mask, statement), (self.count, 4))[
                    :, expression.index
                ]
            case ir.Vector():
                components = values(*expression.components)
                return np.stack([np.broadcast_to(part, (self.count,)) for part in components], axis=-1)
        raise InterpreterError(f"no such expression: {type(expression).__name__}")


def _aligned(values: list[np.ndarray]) -> list[np.ndarray]:
    """The values with one shape: a scalar beside a vec4 is the same for its four components."""
    if any(value.ndim == 2 for value in values):
        values = [value[:, None] if value.ndim == 1 else value for value in values]
    return list(np.broadcast_arrays(*values)) if len(values) > 1 else values
