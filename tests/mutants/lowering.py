"""Mutants of the lowering: which elements a lane takes, what must hold there, what happens at an element, control flow."""

from tests.mutants.table import Table

LOWERING = Table("lowering", ("tests/plan/test_corners.py", "tests/loop/test_needed_barriers.py",
                              "tests/plan/test_lowering.py", "tests/plan/test_rows.py"))  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sweep.py",
                  "tests/plan/test_mapping.py::test_a_long_sum_of_equal_terms_does_not_drift")
    ("barrier", 'if item.fence:\n            self.code.emit(ir.Barrier(True))', 'if item.fence:\n            self.code.emit(ir.Barrier(False))')
    ("barrier", 'if item.fence:\n            self.code.emit(ir.Barrier(True))\n', 'if item.fence:\n')
    ("index", 'indices = tuple(ZERO if role.startswith("s") else self.frame.index[role] for role in own)', 'indices = tuple(ZERO for role in own)',
     "the same numbers: a centre and a count are one value for the job, and no slot holds them yet; only less is found again")
    ("mask", 'alive = both([frame.valid, self.masks.holds(common, frame.index)])', 'alive = both([self.masks.holds(common, frame.index)])')
    ("mask", 'alive = both([frame.valid, self.masks.holds(common, frame.index)])', 'alive = frame.valid')
    ("mask", 'inner = {sink: masks[sink] - common for sink in sinks}', 'inner = {sink: set() for sink in sinks}')
    ("order", 'if keeps and not item.is_backwards:', 'if keeps:')
    ("condition", 'if not keeps or self.mapping.streams_rest:', 'if not keeps:')
    ("bound", 'before = subtract(first, const(self.mapping.granule))', 'before = first')
    ("bound", 'chunk = stride * mapping.unroll', 'chunk = stride')
    ("bound", 'has_tail = self.part is not None or rest.constant is None or rest.constant % chunk != 0', 'has_tail = self.part is not None or rest.constant is None')
    ("bound", 'has_rounds = self.part is not None or rest.constant is None or rest.constant >= chunk', 'has_rounds = self.part is not None or rest.constant is None or rest.constant > chunk')
    ("index", 'done = code.let("done", add(first, multiply(rounds, const(chunk))))', 'done = code.let("done", multiply(rounds, const(chunk)))')
    ("index", 'place = subtract(subtract(rounds, const(1)), number) if item.is_backwards else number', 'place = subtract(rounds, number) if item.is_backwards else number')
    ("index", 'start = code.let("start", add(add(first, multiply(place, const(chunk))), offset))', 'start = code.let("start", add(multiply(place, const(chunk)), offset))')
    ("index", 'self.elements.granule(item, start, u * stride, None) for u in range(mapping.unroll)', 'self.elements.granule(item, start, u * mapping.granule, None) for u in range(mapping.unroll)')
    ("mask", 'None if mapping.is_whole else total)', 'None)')
    ("bound", 'stride = const(mapping.lanes * mapping.granule)\n        code.emit(', 'stride = const(mapping.granule)\n        code.emit(')
    ("rounding", 'if self.mapping.resident and not self.mapping.streams_rest:\n            return 0', 'if True:\n            return 0')
    ("rounding", 'self._settle(item, sinks, states, number)', 'pass')
    ("order", 'mask = const(_ROUNDS_A_BLOCK ** (level + 1) - 1)', 'mask = const(_ROUNDS_A_BLOCK ** level - 1)')
    ("mask", 'first = compare("eq", self.frame.lane, ZERO) if self.mapping.lanes > 1 else None', 'first = None')
    ("mask", 'condition = both([first, self.frame.valid, first_job, self.masks.holds(mask, self.frame.index)])', 'condition = both([first, first_job, self.masks.holds(mask, self.frame.index)])')
    ("mask", 'condition = both([first, self.frame.valid, first_job, self.masks.holds(mask, self.frame.index)])', 'condition = both([first, self.frame.valid, self.masks.holds(mask, self.frame.index)])')
    ("mask", 'condition = both([first, self.frame.valid, first_job, self.masks.holds(mask, self.frame.index)])', 'condition = both([first, self.frame.valid, first_job])')
    ("condition", 'opposite = [(value, indices, not is_true) for value, indices, is_true in shared] if len(shared) == 1 else []', 'opposite = [(value, indices, not is_true) for value, indices, is_true in shared]')
    ("condition", 'shared = [need for need in first if all(need in each for each in needs.values())]', 'shared = first')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sinks.py")
    ("mask", 'both([chunk[0].exists, self.masks.holds(set(mask), {**self.frame.index, **chunk[0].index})])\n                for', 'both([self.masks.holds(set(mask), {**self.frame.index, **chunk[0].index})])\n                for')
    ("mask", 'both([chunk[0].exists, self.masks.holds(set(mask), {**self.frame.index, **chunk[0].index})])\n                for', 'chunk[0].exists\n                for')
    ("mask", 'size = self.mapping.granule if self.mapping.is_whole and all(sink.is_whole for sink in group) else 1', 'size = self.mapping.granule')
    ("order", 'sorted(pending, key=lambda each: order[each[0]])', 'sorted(pending, key=lambda each: -order[each[0]])')
    ("order", 'elif len(groups) == 1 and (size > 1 or not any(map(self._stores_granules, group))):', 'elif size > 1 or not any(map(self._stores_granules, group)):')
    ("index", 'owner = remainder(divide(unsigned(place), const(granule, DType.U32)), const(lanes, DType.U32))', 'owner = remainder(unsigned(place), const(lanes, DType.U32))')
    ("mask", 'mine = both([compare("le", first, index), compare("lt", index, end), mine])', 'mine = both([compare("lt", index, end), mine])')
    ("mask", 'code.when(code.let("exists", self.evaluator.picks(pick, index, own))),', 'code.when(None),')
    ("mask", 'mine = compare("eq", owner, unsigned(self.frame.lane)) if lanes > 1 else None', 'mine = None')
    ("mask", 'with code.when(self.masks.holds(mask, self.frame.index)):\n            indices', 'with code.when(None):\n            indices')
    ("mask", 'held[sink] += [(element, condition, local) for', 'held[sink] += [(element, None, local) for')
    ("mask", 'condition = both([element.exists, self.masks.holds(set(mask), index)])', 'condition = both([self.masks.holds(set(mask), index)])')
    ("mask", 'condition = both([element.exists, self.masks.holds(set(mask), index)])', 'condition = element.exists')
    ("identity", 'neutral = states[sink.value].neutral or neutral', 'pass')
    ("index", 'position = add(multiply(position, extent), ZERO if role == "." else element.index[role])', 'position = ZERO if role == "." else element.index[role]')
    ("mask", 'for element, condition, value in stores:\n            with self.code.when(condition):', 'for element, condition, value in stores:\n            with self.code.when(None):')
    ("mask", 'with self.code.when(parts[0][0]):', 'with self.code.when(None):')
    ("mask", 'with self.code.when(self.evaluator.inside(store, coordinates, False)):', 'with self.code.when(None):')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sinks.py", "tests/loop/test_screened.py")
    ("order", 'for assumed in ([], self.screen.assumptions(singles, elements)):', 'for assumed in (self.screen.assumptions(singles, elements), []):')
    ("condition", 'if self.mapping.screened and len(elements[0].index) == 1 else []', 'if self.mapping.screened else []')
    ("bound", 'self._screened(group, elements[first : first + step])', 'self._screened(group, elements[first : first + size])')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/masks.py", "tests/plan/test_wrapping.py")
    ("mask", 'found.add((bound, "." if bound.stretched else role))', 'found.add((bound, role))')
    ("mask", 'for bound in stretch(bounds) if is_stretched else bounds:', 'for bound in bounds:')
    ("mask", 'if sink.kind == "store":\n            found |= self._span_bounds(sink)', '')
    ("mask", 'found = {condition for condition in found if condition[1] != "s0"}', 'pass')
    ("bound", 'if not (is_above and (dim - start - index.count).is_nonnegative):', 'if not is_above:')
    ("bound", 'if not (is_above and (dim - start - index.count).is_nonnegative):', 'if not (dim - start - index.count).is_nonnegative:')
    ("bound", 'if not (is_above and (dim - start - index.count).is_nonnegative):', 'if not (is_above and (dim - start - index.count + 1).is_nonnegative):')
    ("bound", 'is_above = start.is_nonnegative and stays(start, {})', 'is_above = start.is_nonnegative')
    ("bound", 'low = Extent.of(0) if is_above else -start', 'low = Extent.of(0)')
    ("bound", 'found.add((Bound(low, dim - start), sink.roles[axis]))', 'found.add((Bound(low, dim), sink.roles[axis]))')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/elements.py", "tests/plan/test_rows.py")
    ("bound", 'const(granule - 1, DType.U32)', 'const(granule - 2, DType.U32)')
    ("bound", 'ir.Bits("and", (subtract(pitch, head), const(-granule)), DType.I32)', 'ir.Bits("and", (pitch, const(-granule)), DType.I32)')
    ("index", 'row = add(self.evaluator.extent(rows.start), self.frame.index.get("k0", ZERO))\n            begins', 'row = self.frame.index.get("k0", ZERO)\n            begins')
    ("mask", 'exists = self.code.let("exists", compare("lt", unsigned(place), extent))', 'exists = self.code.let("exists", compare("lt", place, self.evaluator.extent(total)))')
    ("mask", 'if last >= self.mapping.width:', 'if last > self.mapping.width:')
    ("mask", 'self._exists(base if self.mapping.is_whole else position, extent)', 'self._exists(base, extent)')
    ("bound", 'last = first + (lanes - 1) * granule', 'last = first')
    ("bound", 'extent = self.evaluator.extent(item.swept[0]) if self.part is None else self.part[1]', 'extent = self.evaluator.extent(item.swept[0])')
    ("index", 'add(self.part[0], place) if self.part is not None else place', 'place')
    ("mask", 'if part and total is not None else None', 'if part > 1 and total is not None else None')
    ("mask", 'found = self.code.let("exists", compare("lt", position, extent))', 'found = self.code.let("exists", compare("le", position, extent))')
    ("index", 'index[f"s{axis}"] = self.code.let("index", remainder(rest, extent))', 'index[f"s{axis}"] = self.code.let("index", divide(rest, extent))')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/screen.py", "tests/loop/test_screened.py")
    ("mask", 'rest = const(~((granule - 1) | lanes * granule * span) & 0xFFFFFFFF, DType.U32)', 'rest = const(~(lanes * granule * span) & 0xFFFFFFFF, DType.U32)')
    ("mask", 'rest = const(~((granule - 1) | lanes * granule * span) & 0xFFFFFFFF, DType.U32)', 'rest = const(~((granule - 1) | granule * span) & 0xFFFFFFFF, DType.U32)')
    ("bound", 'span = (1 << (granules - 1).bit_length()) - 1', 'span = granules >> 1')
    ("condition", 'single.condition.op == "ne"', 'single.condition.op == "eq"')
    ("condition", 'single.condition.op == "ne"', 'False')
    ("combine", 'test = one if test is None else ir.Op("or", (test, one), DType.BOOL)', 'test = one if test is None else ir.Op("and", (test, one), DType.BOOL)')
    ("combine", 'test = one if test is None else ir.Op("or", (test, one), DType.BOOL)', 'test = one')
    ("index", 'return tuple(element.index["s0"] if index is SWEPT else index for index in self.indices)', 'return tuple(element.index["s0"] for index in self.indices)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/memory.py")
    ("index", 'number = add(multiply(number, unsigned(frame.bindings.extent(dim))), unsigned(coordinate))', 'number = add(multiply(number, unsigned(frame.bindings.extent(parameter.dims[-1]))), unsigned(coordinate))')
    ("index", '[*coordinates[:-1], base], part // elements, version)', '[*coordinates[:-1], base], 0, version)')
    ("index", 'shift = (4 * dtype.elements_per_word).bit_length() - 1\n', 'shift = 2\n')
    ("index", 'if number % dtype.elements_per_word:', 'if not number % dtype.elements_per_word:')
    ("index", 'place = let("place", ir.Bits("and", (word, const(3, _U32)), _U32))', 'place = let("place", ir.Bits("and", (word, const(1, _U32)), _U32))')
    ("index", 'first = let("pair", multiply(number, const(2, _U32)))', 'first = number')
    ("safety", 'key = ("vector", version, _key(number))', 'key = ("vector", parameter.name, _key(number))',
     "each sweep forgets its vectors, and what one stored is read in a later one")
    ("constant", 'DType.BF16: 1, DType.I8: 2, DType.U8: 2, DType.BOOL: 2}', 'DType.BF16: 1, DType.I8: 2, DType.U8: 2, DType.BOOL: 1}')
    ("constant", 'const(3 if dtype.size == 1 else 4, _U32)', 'const(4, _U32)')
    ("mask", 'ir.Bits("and", (low, const(255, _U32)), _U32),), DType.I32)', 'low,), DType.I32)')
    ("mask", 'compare("ne", ir.Bits("and", (low, const(255, _U32)), _U32), const(0, _U32))', 'compare("ne", low, const(0, _U32))')
    ("mask", 'return ir.Bits("and", (ir.Op("u32", (value,), _U32), const(255, _U32)), _U32)', 'return ir.Op("u32", (value,), _U32)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/packed.py", "tests/plan/test_lowering.py::test_a_nan_stays_one_wherever_it_stands_among_halves",
                  "tests/plan/test_rows.py", "tests/plan/test_lowering.py")
    ("mask", 'if condition is None:\n            any_active = None\n            break', 'if condition is None:\n            continue')
    ("mask", 'mask = const(((1 << width) - 1) << (place * width) ^ 0xFFFFFFFF, _U32)', 'mask = const(0, _U32)')
    ("mask", 'mask = const(((1 << width) - 1) << shift ^ 0xFFFFFFFF, _U32)', 'mask = const(0xFFFFFFFF, _U32)')
    ("index", 'bits = ir.Bits("shl", (to_bits(dtype, value), const(place * width, _U32)), _U32)', 'bits = to_bits(dtype, value)')
    ("mask", 'with code.when(condition):\n                    if per_word == 1:', 'with code.when(None):\n                    if per_word == 1:')
    ("index", 'number = vector_number(frame, dtype, first, place // 4)', 'number = vector_number(frame, dtype, first, 0)')
    ("index", 'word, shift = words[place // per_word], place % per_word * width', 'word, shift = words[place % 4], place % per_word * width')
    ("mask", 'any_active = ir.Op("or", (any_active, condition), DType.BOOL)\n        with code.when(any_active):\n            number', 'pass\n        with code.when(any_active):\n            number')
    ("order", 'f"helper:pack_{dtype.label}", tuple(values), _U32)', 'f"helper:pack_{dtype.label}", tuple(reversed(values)), _U32)')
    ("condition", 'for helper in ("pack_bf16", "pack_bf16_numbers"):', 'for helper in ("pack_bf16_numbers", "pack_bf16"):')
    ("condition", 'ir.Op("isnan", (tree(code, "add", values),), DType.BOOL)', 'ir.Op("isnan", (tree(code, "add", values[1:]),), DType.BOOL)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/program.py")
    ("index", 'at = code.let("at", add(base, number))', 'at = number')
    ("mask", 'with code.when(code.let("exists", compare("lt", first, count))):', 'with code.when(None):')
    ("mask", 'with code.when(compare("lt", number, count) if place else None):', 'with code.when(None):')
    ("bound", 'return grid[0] * grid[1] * grid[2]', 'return grid[0] * grid[1]')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/jobs.py")
    ("barrier", 'self.in_block(item)\n                    self.code.emit(ir.Barrier(True))', 'self.in_block(item)\n                    self.code.emit(ir.Barrier(False))')
    ("index", 'frame.slot = self.code.let("slot", remainder(thread, const(mapping.jobs)))', 'frame.slot = self.code.let("slot", divide(thread, const(mapping.lanes)))')
    ("mask", 'valid = None if count.constant == at_once else code.let("valid", compare("lt", job, extent))', 'valid = None')
    ("mask", 'valid = code.let("valid", compare("lt", job, extent)) if at_once > 1 else None', 'valid = None')
    ("mask", 'valid = code.let("valid", compare("lt", number, total)) if may_miss else None', 'valid = code.let("valid", compare("le", number, total)) if may_miss else None')
    ("mask", 'valid = code.let("valid", compare("lt", job, frame.bindings.extent(kept))) if at_once > 1 else None', 'valid = None')
    ("bound", 'turns = self.uniform(code.let("turns", divide(add(extent, const(at_once - 1)), const(at_once))))', 'turns = self.uniform(code.let("turns", divide(extent, const(at_once))))')
    ("barrier", '                frame.shared_is_read = True\n                with code.block() as inner:', '                with code.block() as inner:')
    ("bound", 'return ceildiv(self.all_jobs(phase), at_once * turns)', 'return ceildiv(self.all_jobs(phase), at_once * turns) - 1')
    ("barrier", 'if item.fence:\n            self.code.emit(ir.Barrier(True))', 'if False:\n            self.code.emit(ir.Barrier(True))')
    ("barrier", 'if item.fences_rounds or self.phase is None:\n                code.emit(ir.Barrier(True))\n        frame.registers = saved\n        frame.shared_is_read = True\n        code.emit(ir.Loop', 'if item.fences_rounds:\n                code.emit(ir.Barrier(True))\n        frame.registers = saved\n        frame.shared_is_read = True\n        code.emit(ir.Loop')
    ("barrier", 'if item.fences_rounds or self.phase is None:\n                code.emit(ir.Barrier(True))\n        frame.registers = saved\n        frame.shared_is_read = True\n        code.emit(ir.Loop', 'if self.phase is None:\n                code.emit(ir.Barrier(True))\n        frame.registers = saved\n        frame.shared_is_read = True\n        code.emit(ir.Loop')
    ("barrier", 'for items, is_true in ((item.then, True), (item.otherwise, False)):\n            self.frame.shared_is_read = True', 'for items, is_true in ((item.then, True), (item.otherwise, False)):\n            self.frame.shared_is_read = False')
    ("mask", 'alive = both([valid, self.evaluator.active(value.type, indices)])', 'alive = self.evaluator.active(value.type, indices)')
    ("mask", 'alive = both([valid, self.evaluator.active(value.type, indices)])', 'alive = valid')
    ("order", 'held = code.declare("next", local)', 'held = local')
    ("bound", 'rounds = add(divide(subtract(distance, const(1, DType.U32)), step), const(1, DType.U32))', 'rounds = divide(distance, step)')
    ("bound", 'ir.Select(compare("lt", start, stop), rounds, const(0, DType.U32))', 'rounds')
    ("index", 'add(start, multiply(signed(number), const(node.step)))', 'multiply(signed(number), const(node.step))')
    ("safety", 'if self.code.is_uniform(value):', 'if True:')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/evaluate.py")
    ("bound", 'inside = compare("lt", unsigned(index), unsigned(extent))', 'inside = compare("le", unsigned(index), unsigned(extent))')
    ("bound", 'inside = compare("lt", unsigned(index), unsigned(extent))', 'inside = compare("lt", index, extent)')
    ("mask", 'return inside if active is None else ir.Op("and", (inside, active), DType.BOOL)', 'return inside')
    ("mask", 'if not (start.constant is not None and start.constant <= 0):', 'if False:')
    ("mask", 'conditions.append(compare("lt", index, self.extent(limit)))', 'conditions.append(compare("le", index, self.extent(limit)))')
    ("bound", 'if not (at.is_nonnegative and (dim - at - 1).is_nonnegative):', 'if not (at.is_nonnegative and (dim - at).is_nonnegative):')
    ("bound", 'if not (start.is_nonnegative and (dim - start - index.count).is_nonnegative):', 'if False:')
    ("mask", 'return compare("lt", unsigned(coordinate), unsigned(self.frame.bindings.extent(dim)))', 'return compare("lt", coordinate, self.frame.bindings.extent(dim))')
    ("mask", 'inside = self.inside(value, coordinates, has_fill) if has_fill or is_scalar else None', 'inside = self.inside(value, coordinates, has_fill) if has_fill else None')
    ("mask", 'with self._narrowed(self.active(inner.type, own)):', 'with self._narrowed(None):')
    ("identity", 'zero_of(value.type.dtype)\n        result = self.code.declare(value.name or value.tensor, fill)', 'ir.Const(value.type.dtype, True)\n        result = self.code.declare(value.name or value.tensor, fill)')
    ("bound", 'start = ir.Op("max", (start, self.extent(bound.start)), DType.I32)', 'start = self.extent(bound.start)')
    ("bound", 'limit = ir.Op("min", (limit, self.extent(bound.limit)), DType.I32)', 'limit = self.extent(bound.limit)')
    ("bound", 'length = ir.Op("max", (ir.Op("sub", (limit, start), DType.I32), ZERO), DType.I32) if bounds else extent', 'length = ir.Op("sub", (limit, start), DType.I32) if bounds else extent')
    ("mask", 'return length if alive is None else ir.Select(alive, length, ZERO)', 'return length')
    ("safety", 'if level >= self._floor or self._conditions(value, indices) <= self._given:', 'if True:')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/resident.py", "tests/plan/test_mapping.py")
    ("mask", 'with self.code.when(alive), self.rows.where_needed(needs):', 'with self.rows.where_needed(needs):')
    ("mask", 'with self.code.when(both([element.exists, self.masks.holds(swept, index)])):', 'with self.code.when(self.masks.holds(swept, index)):')
    ("mask", 'with self.code.when(both([element.exists, self.masks.holds(swept, index)])):', 'with self.code.when(element.exists):')
    ("mask", 'is_whole = self.elements.mapping.is_whole and not swept', 'is_whole = self.elements.mapping.is_whole')
    ("mask", 'dtype in PACKED and load.fill is None', 'dtype in PACKED',
     "the same program: no load with a fill is along the sweep of a tensor that is read as vectors")
    ("index", 'register, number % self.size)', 'register, 0)')
    ("index", 'register = self.locals[number // self.size]', 'register = self.locals[0]')
    ("condition", 'return [key for key in own if any(key in self._reads(each) for each in later)]', 'return list(own)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/needed.py", "tests/plan/test_ignored_rows.py")
    ("condition", 'return test if is_true else self.code.let("is_not", ir.Op("not", (test,), DType.BOOL))', 'return test')
    ("mask", 'if any(role.startswith("s") for role in own) or not bounds <= common:', 'if any(role.startswith("s") for role in own):')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/frame.py")
    ("index", 'total = total + (slot.size if slot.is_shared else slot.size * blocks)', 'total = total + slot.size')
    ("index", 'base = add(base, multiply(unsigned(self.block_number), size))', 'pass')
    ("index", 'coordinates[axis] = code.let(f"block_{\'xyz\'[axis]}", remainder(rest, extent))', 'coordinates[axis] = code.let(f"block_{\'xyz\'[axis]}", divide(rest, extent))')
    ("operator", 'total = add(total, product) if factor > 0 else ir.Op("sub", (total, product), DType.I32)', 'total = add(total, product)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/arith.py")
    ("bound", 'return ir.Bits("and", (left, const(divisor - 1, left.dtype)), left.dtype)', 'return ir.Bits("and", (left, const(divisor, left.dtype)), left.dtype)')
    ("bound", 'const(divisor.bit_length() - 1, DType.U32)', 'const(divisor.bit_length(), DType.U32)')
    ("condition", 'return value > 0 and value & (value - 1) == 0', 'return value > 0 and value & 1 == 0')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/code.py", "tests/loop/test_code.py")
    ("barrier", 'replace(statement, storage=statement.storage or last.storage)', 'statement')
    ("safety", 'self._blocks.pop()\n        self._memos.pop()', 'self._blocks.pop()\n        self._memos[-2].update(self._memos.pop())')
    ("safety", 'return value.number in self._uniform', 'return True')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sinks.py", "tests/plan/test_rows.py::test_special_values_at_the_ends_of_rows")
    ("index", 'place = subtract(index, part[0]) if end_lanes is not None and part is not None else index', 'place = index')
    ("bound", 'owner = ir.Select(compare("ge", index, part[1]), behind, owner)', 'owner = ir.Select(compare("gt", index, part[1]), behind, owner)')
    ("bound", 'owner = ir.Select(compare("lt", index, part[0]), before, owner)', 'pass')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sweep.py", "tests/plan/test_mapping.py::test_a_row_partly_in_registers", "tests/plan/test_mapping.py")
    ("bound", 'first, rest = add(first, const(kept)), total - kept', 'first, rest = add(first, const(kept)), total')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/program.py", "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[halves that are read back between words]")
    ("bound", 'words = apply("ceildiv", total, Extent.of(elements))\n', 'words = apply("div", total, Extent.of(elements))\n')
    ("bound", 'return apply("ceildiv", words, Extent.of(dispatch.threads))', 'return apply("div", words, Extent.of(dispatch.threads))')
    ("index", 'const(place * 32 // elements, _U32)', 'const(place * 8, _U32)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/memory.py", "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[halves that are read back between words]")
    ("rounding", 'return ir.Op(dtype.label, (value,), DType.F32)', 'return value')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/jobs.py", "tests/plan/test_rows.py::test_rows_in_turn_exchange_through_two_places",
                  "tests/plan/test_rows.py::test_rows_in_turn_exchange_with_one_barrier_a_step", "tests/plan/test_rows.py::test_rows_in_turn_with_little_workgroup_memory")
    ("barrier", 'self.frame.turn = turn if may_alternate(self.frame, phase) else None', 'self.frame.turn = turn')
    ("barrier", 'self.frame.shared_is_read = True\n        self.frame.turn = turn if', 'self.frame.turn = turn if')
    ("index", 'first = multiply(add(multiply(workgroup, const(at_once)), self.frame.slot), const(turns))', 'first = add(multiply(workgroup, const(at_once * turns)), self.frame.slot)')
    ("mask", 'self._at_number(phase, add(first, turn), True)', 'self._at_number(phase, add(first, turn), False)')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/elements.py", "tests/plan/test_rows.py::test_special_values_at_the_ends_of_rows")
    ("safety", 'self.code.let("parity", ir.Bits("and", (row, const(1)), DType.I32))', 'self.code.let("parity", ir.Bits("and", (row, const(0)), DType.I32))')
    ("index", 'return parity, self.code.let("other", subtract(const(1), parity))', 'return self.code.let("other", subtract(const(1), parity)), parity',
     "the same owners of all vectors: which lane begins with the end of the first row is free, and the pick follows it")
    ("index", 'return parity, self.code.let("other", subtract(const(1), parity))', 'return parity, parity')
)  # fmt: skip

(
    LOWERING.file("tilec/loop/lower/sweep.py", "tests/plan/test_rows.py::test_special_values_at_the_ends_of_rows")
    ("bound", 'code.emit(ir.Loop(number, self.frame.lane, const(2), const(self.mapping.lanes), tuple(body)))', 'code.emit(ir.Loop(number, self.frame.lane, const(1), const(self.mapping.lanes), tuple(body)))')
    ("index", 'ir.Select(compare("eq", number, first_lane), before, end)', 'ir.Select(compare("eq", number, first_lane), end, before)')
)  # fmt: skip
