"""Memory of the loop interpreter, with a happens-before race checker.

Threads of a workgroup are ordered by barriers only, so two accesses of one word by different threads of one workgroup
are ordered exactly if a barrier of the word's address space stands between them: if the workgroup's *epoch* in that
space differs. Nothing orders two workgroups of a dispatch. The verdict does not depend on the order in which the
interpreter happens to run the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilec.loop.interp_errors import Access, BoundsError, RaceError, UninitializedError

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Touch:
    """One access by several threads at once, an array element each: the thread's number in the dispatch, its epoch in
    the memory's address space, and the element that it touches. `statement` numbers the statement."""

    threads: np.ndarray
    epochs: np.ndarray
    elements: np.ndarray
    statement: int


class _Mark:
    """Per word, the last thread that did something, in which epoch and statement."""

    def __init__(self, words: int) -> None:
        self.thread = np.full(words, _NOBODY, np.int32)
        self.epoch = np.zeros(words, np.int32)
        self.statement = np.zeros(words, np.int32)

    def set(self, words: np.ndarray, threads: np.ndarray, epochs: np.ndarray, statement: int) -> None:
        self.thread[words] = threads
        self.epoch[words] = epochs
        self.statement[words] = statement


class RaceChecker:
    """The history of one memory's words within one dispatch.

    Of a word's readers it keeps two of the latest epoch and two of different workgroups: whichever thread writes next,
    a conflicting reader is among those. One writer is enough: two that are not ordered are an error at once.
    """

    def __init__(
        self,
        dispatch: str,
        memory: str,
        words: int,
        threads: int,
        describe: Callable[[int], str],
        copy_length: int | None = None,
    ) -> None:
        """`copy_length`: the memory is that many words a workgroup, the copies one after the other."""
        self._copy_length = copy_length or max(words, 1)
        self._dispatch = dispatch
        self._memory = memory
        self._workgroup_size = threads
        self._describe = describe
        self._writer = _Mark(words)
        self._reader = _Mark(words)
        self._other_reader = _Mark(words)
        self._reader_elsewhere = (_Mark(words), _Mark(words))

    def read(self, words: np.ndarray, threads: np.ndarray, epochs: np.ndarray, statement: int) -> None:
        """Threads read words (of equal length; a thread may occur more than once). Raises RaceError."""
        self._check(self._writer, "write", words, threads, epochs, statement, "read")
        groups = threads // self._workgroup_size
        is_new = (self._reader.thread[words] // self._workgroup_size != groups) | (self._reader.epoch[words] != epochs)
        is_new |= self._reader.thread[words] == _NOBODY
        self._reader.set(words[is_new], threads[is_new], epochs[is_new], statement)
        self._other_reader.thread[words[is_new]] = _NOBODY
        is_other = (self._reader.thread[words] != threads) & (self._other_reader.thread[words] == _NOBODY)
        self._other_reader.set(words[is_other], threads[is_other], epochs[is_other], statement)
        first, second = self._reader_elsewhere
        is_first = first.thread[words] == _NOBODY
        first.set(words[is_first], threads[is_first], epochs[is_first], statement)
        is_second = (first.thread[words] // self._workgroup_size != groups) & (second.thread[words] == _NOBODY)
        second.set(words[is_second], threads[is_second], epochs[is_second], statement)

    def write(self, words: np.ndarray, threads: np.ndarray, epochs: np.ndarray, statement: int) -> None:
        """Threads write words, likewise. Raises RaceError."""
        for mark in (self._reader, self._other_reader, *self._reader_elsewhere):
            self._check(mark, "read", words, threads, epochs, statement, "write")
        self._check(self._writer, "write", words, threads, epochs, statement, "write")
        self._writer.set(words, threads, epochs, statement)
        # Of several writers in this one step the last one stands in the mark; any other finds it there.
        self._check(self._writer, "write", words, threads, epochs, statement, "write")

    def _check(
        self,
        mark: _Mark,
        kind: str,
        words: np.ndarray,
        threads: np.ndarray,
        epochs: np.ndarray,
        statement: int,
        new_kind: str,
    ) -> None:
        before = mark.thread[words]
        clash = (before != _NOBODY) & (before != threads)
        if not clash.any():
            return
        size = self._workgroup_size
        clash &= (before // size != threads // size) | (mark.epoch[words] == epochs)
        if not clash.any():
            return
        at = int(np.flatnonzero(clash)[0])
        word = int(words[at])
        first = self._access(kind, int(before[at]), int(mark.statement[word]))
        second = self._access(new_kind, int(threads[at]), statement)
        raise RaceError(self._dispatch, self._memory, word % self._copy_length, first, second)

    def _access(self, kind: str, thread: int, statement: int) -> Access:
        workgroup, lane = divmod(thread, self._workgroup_size)
        return Access(kind, workgroup, lane, self._describe(statement))


class Memory:
    """A view of 32-bit words as elements of `width` words, with bounds, races and first writes checked.

    `words` is an array of a compute dtype, modified in place. `checker` None: races are not looked for. `defined`
    (a bool a word) None: every word counts as written. `copy_length`: there is a copy of that many elements for each
    workgroup, and loads and stores take each thread's offset to its own copy.
    """

    def __init__(
        self,
        name: str,
        words: np.ndarray,
        width: int,
        checker: RaceChecker | None,
        defined: np.ndarray | None,
        describe: Callable[[int], str],
        copy_length: int | None = None,
    ) -> None:
        self.name = name
        self.words = words
        self.width = width
        self._checker = checker
        self._defined = defined
        self._describe = describe
        self._length = copy_length if copy_length is not None else len(words) // width

    def load(self, touch: Touch, offsets: np.ndarray | int = 0) -> np.ndarray:
        """The elements, (k,) or (k, 4). Raises BoundsError, RaceError, UninitializedError."""
        words = self._words_of(touch, offsets)
        flat = words.ravel()
        if self._defined is not None and not self._defined[flat].all():
            word = int(flat[~self._defined[flat]][0])
            raise UninitializedError(
                f"`{self._describe(touch.statement)}` reads word {word % self._length} of {self.name}, never written"
            )
        if self._checker is not None:
            threads, epochs = self._spread(touch)
            self._checker.read(flat, threads, epochs, touch.statement)
        return self.words[words]

    def store(self, touch: Touch, values: np.ndarray, offsets: np.ndarray | int = 0) -> None:
        """Writes the values, (k,) or (k, 4). Raises BoundsError, RaceError."""
        words = self._words_of(touch, offsets)
        flat = words.ravel()
        if self._checker is not None:
            threads, epochs = self._spread(touch)
            self._checker.write(flat, threads, epochs, touch.statement)
        self.words[words] = values
        if self._defined is not None:
            self._defined[flat] = True

    def _words_of(self, touch: Touch, offsets: np.ndarray | int) -> np.ndarray:
        elements = touch.elements.astype(np.int64)
        outside = (elements < 0) | (elements >= self._length)
        if outside.any():
            at = int(np.flatnonzero(outside)[0])
            raise BoundsError(
                f"`{self._describe(touch.statement)}` has index {int(elements[at])} into {self.name} of "
                f"{self._length} elements (thread {int(touch.threads[at])} of the dispatch)"
            )
        elements = elements + offsets
        if self.width == 1:
            return elements
        return elements[:, None] * self.width + np.arange(self.width)

    def _spread(self, touch: Touch) -> tuple[np.ndarray, np.ndarray]:
        if self.width == 1:
            return touch.threads, touch.epochs
        return np.repeat(touch.threads, self.width), np.repeat(touch.epochs, self.width)
