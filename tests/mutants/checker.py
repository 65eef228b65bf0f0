"""Mutants of what judges the others: the loop interpreter with its race checker, and the verifiers."""

from tests.mutants.table import Table

CHECKER = Table("checker", ("tests/loop/test_interp.py", "tests/loop/test_race_history.py", "tests/loop/test_interp_values.py", "tests/loop/test_shuffles.py",
                            "tests/loop/test_needed_barriers.py", "tests/diff/test_planted_races.py"))  # fmt: skip

(
    CHECKER.file("tilec/loop/interp_memory.py")
    ("safety", 'self._check(self._writer, "write", words, threads, epochs, statement, "read")', 'pass')
    ("safety", 'for mark in (self._reader, self._other_reader, *self._reader_elsewhere):', 'for mark in (self._reader,):')
    ("safety", 'for mark in (self._reader, self._other_reader, *self._reader_elsewhere):', 'for mark in (self._reader, self._other_reader):')
    ("safety", 'for mark in (self._reader, self._other_reader, *self._reader_elsewhere):', 'for mark in (self._other_reader, *self._reader_elsewhere):')
    ("safety", 'clash = (before != _NOBODY) & (before != threads)', 'clash = before != threads')
    ("safety", 'clash &= (before // size != threads // size) | (mark.epoch[words] == epochs)', 'clash &= mark.epoch[words] == epochs')
    ("safety", 'clash &= (before // size != threads // size) | (mark.epoch[words] == epochs)', 'clash &= before // size != threads // size')
    ("safety", 'clash &= (before // size != threads // size) | (mark.epoch[words] == epochs)', 'clash &= (before // size != threads // size) | (mark.epoch[words] >= epochs)',
     "epochs only grow, so that an earlier access is never of a later one")
    ("order", 'self._writer.set(words, threads, epochs, statement)\n        # Of several', '# Of several')
    ("order", 'ther finds it there.\n        self._check(self._writer, "write", words, threads, epochs, statement, "write")', 'ther finds it there.')
    ("safety", 'self._other_reader.thread[words[is_new]] = _NOBODY', 'pass')
    ("bound", 'outside = (elements < 0) | (elements >= self._length)', 'outside = (elements < 0) | (elements > self._length)')
    ("bound", 'outside = (elements < 0) | (elements >= self._length)', 'outside = elements >= self._length')
    ("safety", 'if self._defined is not None and not self._defined[flat].all():', 'if False:')
    ("index", 'return elements[:, None] * self.width + np.arange(self.width)', 'return elements[:, None] + np.arange(self.width)')
    ("index", 'np.repeat(touch.threads, self.width), np.repeat(touch.epochs, self.width)', 'np.tile(touch.threads, self.width), np.tile(touch.epochs, self.width)')
)  # fmt: skip

(
    CHECKER.file("tilec/loop/interp_threads.py")
    ("barrier", 'self._shared_epochs[mask] += 1', 'pass')
    ("barrier", 'if storage:\n            self._storage_epochs[mask] += 1', 'self._storage_epochs[mask] += 1')
    ("barrier", 'self._arrive(mask, statement)\n        self._shared_epochs', 'self._shared_epochs')
    ("barrier", 'partial = (arrived > 0) & (arrived < self.workgroup_size)', 'partial = (arrived > 1) & (arrived < self.workgroup_size)')
    ("mask", 'self._locals[local.number] = np.where(mask, value, old)', 'self._locals[local.number] = np.where(mask, value, value)')
    ("mask", 'values = np.broadcast_to(value, shape)[mask]', 'values = np.broadcast_to(value, shape)[: mask.sum()]')
    ("safety", 'if not buffer.writable:\n            raise', 'if False:\n            raise')
    ("mask", 'values[mask] = loaded', 'values[: len(loaded)] = loaded')
)  # fmt: skip

(
    CHECKER.file("tilec/loop/interp.py", "tests/loop/test_interp.py::test_of_two_branches_each_thread_takes_one")
    ("mask", '(statement.then, mask & condition), (statement.otherwise, mask & ~condition)', '(statement.then, mask & condition), (statement.otherwise, mask)')
    ("mask", 'running = running & (index < stop)', 'running = running & (index <= stop)')
    ("mask", 'running = running & ~threads.value_of(statement.until)', 'pass')
    ("bound", 'for _ in range(statement.bound):', 'for _ in range(statement.bound + 1):')
    ("safety", 'written = defined.setdefault(buffer.name, np.zeros(len(words), np.bool_))', 'written = None')
    ("safety", 'if self._check_races and buffer.writable:', 'if False:')
    ("safety", 'checker = RaceChecker(self._dispatch.name, array.name, len(words), size, self._describe, array.length)', 'checker = None')
)  # fmt: skip

(
    CHECKER.file("tilec/loop/interp_bits.py", "tests/loop/test_interp_bits.py")
    ("mask", 'return np.left_shift(x, (amount & 31).astype(x.dtype))', 'return np.left_shift(x, amount.astype(x.dtype))')
    ("index", '"helper:f16_high": lambda word: _f16_to_f32(word >> np.uint32(16)),', '"helper:f16_high": lambda word: _f16_to_f32(word),')
    ("order", '_f32_to_f16(low) | _f32_to_f16(high) << np.uint32(16)', '_f32_to_f16(high) | _f32_to_f16(low) << np.uint32(16)')
    ("bound", 'return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)', 'return wide.astype(np.int32)')
    ("mask", '.astype(np.uint8).view(np.int8).astype(np.int32)', '.astype(np.uint8).astype(np.int32)')
)  # fmt: skip
