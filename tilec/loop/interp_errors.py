"""What the loop interpreter refuses: programs that a device might run, but not with one certain result."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.errors import InternalError


class InterpreterError(InternalError):
    """Base of the loop interpreter's errors."""

    def __init__(self, message: str) -> None:
        super().__init__("the loop program", message)


@dataclass(frozen=True, slots=True)
class Access:
    """Who touched a word: `kind` ("read" or "write"), the thread and its workgroup, and the statement in words."""

    kind: str
    workgroup: int
    thread: int
    statement: str

    def __str__(self) -> str:
        return f"{self.kind} by thread {self.thread} of workgroup {self.workgroup} in `{self.statement}`"


class RaceError(InterpreterError):
    """Two accesses of one word, at least one a write, that nothing orders.

    `memory` names the buffer or shared array, `word` is the 32-bit word's number in it, `first` and `second` are the
    accesses in the order in which the interpreter met them.
    """

    def __init__(self, dispatch: str, memory: str, word: int, first: Access, second: Access) -> None:
        super().__init__(f"race in dispatch {dispatch} on word {word} of {memory}: {first}, then {second}")
        self.memory = memory
        self.word = word
        self.first = first
        self.second = second


class BarrierError(InterpreterError):
    """A barrier (or a workgroup-uniform load) that only some threads of a workgroup reach."""


class BoundsError(InterpreterError):
    """An index outside its buffer or shared array."""


class UninitializedError(InterpreterError):
    """A read of workgroup memory or scratch that nothing has written."""


class LoopError(InterpreterError):
    """A loop whose step is not positive, or whose index would wrap."""
