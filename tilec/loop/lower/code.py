"""The code being written: nested blocks of statements, and what has already been computed in the open blocks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tilec.loop import ir
from tilec.loop.lower.length import FunctionLength, Length
from tilec.source import Span
from tilec.types import DType

ZERO = ir.Const(DType.I32, 0)
TID = ir.Builtin("local_index")
WORKGROUP = ir.Builtin("workgroup")


class Code:
    """Statements in nested blocks. A memo of a block is forgotten when the block is closed."""

    def __init__(self, length: Length) -> None:
        self._length = FunctionLength(length)
        self._blocks: list[list[ir.Statement]] = [[]]
        self._depths = [0]
        """Of each open block, in how many it will be in the text."""
        self._memos: list[dict[Hashable, ir.Expr]] = [{}]
        self._uniform: set[int] = set()
        self._levels: dict[int, int] = {}
        self.state = 0
        """Changes whenever what `find` gives may have changed."""

    @property
    def level(self) -> int:
        """How many blocks are open around the present one."""
        return len(self._blocks) - 1

    def level_of(self, atom: ir.Expr) -> int:
        """The level from which on an atom may be used."""
        return self._levels.get(atom.number, 0) if isinstance(atom, ir.Local) else 0

    @contextmanager
    def outside(self, level: int) -> Iterator[None]:
        """Writes at the present end of the open block of that level: before the statement being made there."""
        blocks, memos, depths = self._blocks[level + 1 :], self._memos[level + 1 :], self._depths[level + 1 :]
        del self._blocks[level + 1 :], self._memos[level + 1 :], self._depths[level + 1 :]
        self.state += 1
        yield
        self._blocks += blocks
        self._memos += memos
        self._depths += depths
        self.state += 1

    @property
    def statements(self) -> tuple[ir.Statement, ...]:
        return tuple(self._blocks[-1])

    def emit(self, statement: ir.Statement) -> None:
        self._length.add(statement, self._depths[-1])
        self._append(statement)

    def splice(self, body: list[ir.Statement]) -> None:
        """What an open block collected, into the present one."""
        for statement in body:
            self._append(statement)

    def _append(self, statement: ir.Statement) -> None:
        last = self._blocks[-1][-1] if self._blocks[-1] else None
        if isinstance(statement, ir.Barrier) and isinstance(last, ir.Barrier):  # one does for both
            self._blocks[-1][-1] = replace(statement, storage=statement.storage or last.storage)
        else:
            self._blocks[-1].append(statement)

    def drop_last_barrier(self) -> None:
        """At the end of a dispatch: there a barrier orders nothing."""
        if self._blocks[-1] and isinstance(self._blocks[-1][-1], ir.Barrier):
            self._blocks[-1].pop()

    @contextmanager
    def block(self, *, is_open: bool = False) -> Iterator[list[ir.Statement]]:
        """Collects the statements written meanwhile; they are not part of the enclosing block. `is_open`: its
        statements will stand in the enclosing block."""
        collected: list[ir.Statement] = []
        self._blocks.append(collected)
        self._memos.append({})
        self._depths.append(self._depths[-1] + (not is_open))
        self.state += 1
        yield collected
        self._blocks.pop()
        self._memos.pop()
        self._depths.pop()
        self.state += 1

    @contextmanager
    def when(self, condition: ir.Expr | None) -> Iterator[None]:
        """`if (condition) { ... }`; no condition, no `if` (but a block for the memo all the same)."""
        with self.block(is_open=condition is None) as body:
            yield
        if condition is None:
            self.splice(body)
        elif body:
            self.emit(ir.If(condition, tuple(body)))

    def let(self, hint: str, value: ir.Expr, span: Span | None = None) -> ir.Expr:
        """The value as something that can be used many times: itself if it is an atom, else a new local."""
        if isinstance(value, (ir.Const, ir.Local, ir.Uniform, ir.Builtin)):
            return value
        local = ir.Local(hint, value.dtype, getattr(value, "width", 1))
        if self.is_uniform(value):
            self._uniform.add(local.number)
        self._levels[local.number] = self.level
        self._length.define(local)
        self.emit(ir.Let(local, value, span))
        return local

    def declare(self, hint: str, initial: ir.Expr) -> ir.Local:
        """A mutable local."""
        local = ir.Local(hint, initial.dtype, 4 if isinstance(initial, ir.Vector) else 1)
        self._levels[local.number] = self.level
        self._length.define(local)
        self.emit(ir.Declare(local, initial))
        return local

    def assign(self, local: ir.Local, value: ir.Expr) -> None:
        if value is not local:
            self.emit(ir.Assign(local, value))

    def mark_uniform(self, local: ir.Local) -> None:
        self._uniform.add(local.number)

    def is_uniform(self, value: ir.Expr) -> bool:
        """Whether all threads of a workgroup hold the same value, as a shader compiler can see it."""
        match value:
            case ir.Const() | ir.Uniform() | ir.UniformLoad():
                return True
            case ir.Builtin():
                return value.name == "workgroup"
            case ir.Local():
                return value.number in self._uniform
            case ir.Op() | ir.Bits():
                return all(map(self.is_uniform, value.operands))
            case ir.Select():
                return all(map(self.is_uniform, (value.condition, value.chosen, value.other)))
        return False

    def find(self, key: Hashable) -> ir.Expr | None:
        for memo in reversed(self._memos):
            if key in memo:
                return memo[key]
        return None

    def remember(self, key: Hashable, value: ir.Expr) -> None:
        self._memos[-1][key] = value
        self.state += 1


def atom_key(value: ir.Expr) -> Hashable:
    """A key by which an atom is the same atom."""
    match value:
        case ir.Local():
            return value.number
        case ir.Const():
            return ("const", value.dtype, value.value)
        case ir.Uniform():
            return ("uniform", value.field.name)
        case ir.Builtin():
            return ("builtin", value.name)
    raise TypeError(f"no atom: {value}")
