"""Mutants of what sweeps accumulate: states, how they move, and how lanes and parts of a sweep become one."""

from tests.mutants.table import Table

STATES = Table("states", ("tests/loop/test_shuffles.py", "tests/plan/test_moments.py::test_against_the_interpreter",
                          "tests/plan/test_moments.py::test_special_values", "tests/plan/test_split.py"))  # fmt: skip

(
    STATES.file("tilec/loop/lower/states.py", "tests/plan/test_corners.py", "tests/loop/test_shuffles.py",
                "tests/plan/test_mapping.py::test_a_long_sum_of_equal_terms_does_not_drift", "tests/plan/test_rows.py")
    ("combine", 'values = pairs + ([values[-1]] if len(values) % 2 else [])', 'values = pairs')
    ("state", 'count = levels + 1 if self.is_sum else 1', 'count = 1')
    ("order", 'code.assign(self.values[level], self.identity)', 'pass')
    ("identity", 'self.identity = ir.Const(self.dtype, row.identity[self.dtype])', 'self.identity = ir.Const(self.dtype, row.identity[self.dtype] if row.combine != "min" else 0)')
    ("identity", 'self.neutral = self.identity', 'self.neutral = ir.Const(self.dtype, row.identity[self.dtype] * 0)')
    ("operator", 'self.better = "gt" if reduction.op == "argmax" else "lt"', 'self.better = "ge" if reduction.op == "argmax" else "le"')
    ("operator", 'self.better = "gt" if reduction.op == "argmax" else "lt"', 'self.better = "gt"')
    ("identity", 'self.index = code.declare("best_at", const(-1))', 'self.index = code.declare("best_at", const(0))')
    ("condition", 'better = op_of("or", boolean, better, only_value)', 'pass')
    ("condition", 'equal = op_of("or", boolean, equal, both_nan)', 'pass')
    ("order", 'earlier = op_of("and", boolean, equal, compare("lt", index, at))', 'earlier = op_of("and", boolean, equal, compare("gt", index, at))')
    ("identity", 'op_of("and", boolean, compare("ge", index, const(0)), wins)', 'wins')
    ("identity", 'compare("lt", at, const(0)), op_of("or", boolean, better, earlier)', 'compare("lt", at, const(-1)), op_of("or", boolean, better, earlier)')
    ("bound", 'op_of("max", DType.I32, components[1], const(0))', 'components[1]')
    ("combine", 'return [tree(code, self.op, [part[0] for part in parts])]', 'return [tree(code, "add" if self.is_sum else self.op, [part[0] for part in parts[:-1]])]')
    ("combine", 'return [exchange.reduce(self.op, parts[0])]', 'return [parts[0]]')
    ("combine", 'return [exchange.only(parts[0])]', 'return [exchange.reduce("or" if self.dtype is DType.BOOL else "max_fast", parts[0])]')
    ("combine", 'return [tree(code, "or" if self.dtype is DType.BOOL else "add", [part[0] for part in parts])]', 'return [parts[0][0]]')
    ("combine", 'for mask in exchange.masks:\n            parts', 'for mask in exchange.masks[:-1]:\n            parts')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/moments.py", "tests/plan/test_rows.py::test_an_end_that_is_no_whole_vector_adds_nothing",
                "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[moments of no lane]",
                "tests/plan/test_moments.py::test_what_sums_are_relative_to_need_not_be_a_mean",
                "tests/plan/test_moments.py::test_against_the_interpreter",
                "tests/plan/test_moments.py::test_special_values")
    ("state", 'return _f32("add", sums[term], _f32("mul", move, lower(0)))', 'return sums[term]')
    ("state", 'twice = _f32("mul", ir.Const(_F32, 2.0), lower(1))', 'twice = lower(1)')
    ("state", '_f32("add", twice, _f32("mul", move, lower(0)))', 'twice')
    ("condition", 'return ir.Select(op_of("or", DType.BOOL, stays, is_infinite), sums[term], mixed)', 'return mixed')
    ("identity", 'self.peak = code.declare("peak", ir.Const(_F32, _LOWEST))', 'self.peak = code.declare("peak", _ZERO)')
    ("identity", 'self.peak = code.declare("peak", ir.Const(_F32, _LOWEST))', 'self.peak = code.declare("peak", ir.Const(_F32, float("-inf")))')
    ("identity", 'self.neutral = ir.Const(_F32, float("-inf")) if group.terms == (_PLAIN,) else None', 'self.neutral = _ZERO if group.terms == (_PLAIN,) else None')
    ("identity", 'self.neutral = ir.Const(_F32, float("-inf")) if group.terms == (_PLAIN,) else None', 'self.neutral = ir.Const(_F32, float("-inf"))')
    ("identity", 'self.magnitude = code.declare("magnitude", ir.Const(DType.U32, 0))', 'self.magnitude = code.declare("magnitude", ir.Const(DType.U32, 1 << 31))')
    ("condition", 'return code.let("shift", ir.Select(is_huge, _ZERO, peak))', 'return code.let("shift", peak)')
    ("bound", 'return _f32("exp_fast", below if self.trusts_exp else _f32("max_fast", below, ir.Const(_F32, _VANISHES)))', 'return _f32("exp_fast", below if self.trusts_exp else _f32("max_fast", below, ir.Const(_F32, -10.0)))')
    ("bound", '_VANISHES = -104.0', '_VANISHES = -80.0')
    ("bound", 'near = code.let("near", _f32("max_fast", below, ir.Const(_F32, _VANISHES)))', 'near = below')
    ("bound", 'far = code.let("far", _f32("max_fast", below, ir.Const(_F32, _LOWEST))) if self.is_far else near', 'far = near')
    ("state", 'for _ in range(term.exponent):\n            mixed = _f32("mul", mixed, scale)', 'for _ in range(min(term.exponent, 1)):\n            mixed = _f32("mul", mixed, scale)')
    ("state", 'mixed = _mixed(sums, term, None, near if term.exponent else far)', 'mixed = sums[term]')
    ("state", 'code.assign(sums[term], self._moved(sums, term, moves))', 'pass')
    ("state", 'for sums in self.levels:\n                for term in self.terms:  # the', 'for sums in self.levels[:1]:\n                for term in self.terms:  # the')
    ("order", 'for term in self.terms:  # the highest power of a kind first', 'for term in reversed(self.terms):  # the highest power of a kind first')
    ("state", 'code.assign(self.peak, peak)', 'pass')
    ("mask", 'if term.masks:\n                    value =', 'if False:\n                    value =')
    ("mask", 'value = ir.Select(compare("lt", difference, ir.Const(_F32, _LOWEST)), _ZERO, value)', 'value = ir.Select(compare("lt", difference, ir.Const(_F32, _LOWEST)), value, _ZERO)')
    ("state", 'factors = [difference] * term.power + [exponential] * term.exponent', 'factors = [difference] * term.power + [exponential]')
    ("condition", 'code.assign(self.magnitude, op_of("max_fast", DType.U32, self.magnitude, tree(code, "max_fast", magnitudes)))', 'code.assign(self.magnitude, op_of("max_fast", DType.U32, self.magnitude, magnitudes[0]))')
    ("bound", 'compare("gt", magnitude, const(_INFINITY_BITS, DType.U32))', 'compare("ge", magnitude, const(_INFINITY_BITS, DType.U32))')
    ("order", 'code.assign(high, _f32("add", high, low))\n            code.assign(low, _ZERO)', 'code.assign(low, _ZERO)\n            code.assign(high, _f32("add", high, low))')
    ("state", 'return [code.let("term", _f32("mul", sums[_PLAIN], scale))]', 'return [code.let("term", sums[_PLAIN])]')
    ("combine", '*(tree(code, "or", several) for several in flags)]', '*(several[0] for several in flags)]')
    ("combine", 'moved = self._all_moved(code, parts, self._shift(code, peak))', 'moved = self._all_moved(code, parts, self._shift(code, parts[0]))')
    ("combine", '*(exchange.reduce("or", each) for each in flags)\n', '*flags\n')
    ("combine", 'moved = [self._all_moved(code, part, shift) for part in parts]', 'moved = [self._all_moved(code, part, part[0]) for part in parts]')
    ("state", '[_f32("mul", value, ir.Const(_F32, 1.0 / size)) for value in x]', '[_f32("mul", value, ir.Const(_F32, 1.0)) for value in x]')
    ("state", '_f32("div_f32", ir.Const(_F32, float(size)), joined)', '_f32("div_f32", _ONE, joined)')
    ("state", 'move = code.let("move", _f32("sub", reference, moved))', 'move = code.let("move", _f32("sub", moved, reference))')
    ("state", 'code.assign(count, joined)\n        code.assign(reference, moved)', 'code.assign(count, joined)')
    ("order", 'for local in low:\n            code.assign(local, _ZERO)', 'for local in low[:2]:\n            code.assign(local, _ZERO)')
    ("combine", 'reference = tree(code, "add", [_f32("mul", part[1], _f32("mul", part[0], share)) for part in parts])', 'reference = parts[0][1]')
    ("bound", '_f32("div_f32", _ONE, _f32("max_fast", count, _ONE))', '_f32("div_f32", _ONE, count)')
    ("state", 'move = code.let("move", _f32("sub", part[1], reference))', 'move = code.let("move", _f32("sub", reference, part[1]))')
    ("state", 'move = code.let("move", ir.Select(is_finite, _f32("sub", reference, center), _ZERO))', 'move = _ZERO')
    ("condition", 'special: ir.Expr = ir.Select(overflows, ir.Const(_F32, float("inf")), _NAN)', 'special: ir.Expr = _NAN')
    ("condition", 'value = ir.Select(is_finite, value, _NAN)', 'pass')
    ("identity", 'ir.Select(is_empty, _ZERO, value))))', 'value)))')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/combine.py", "tests/plan/test_mapping.py::test_no_lane_reads_more_than_sixteen_parts_of_others_at_once",
                "tests/loop/test_needed_barriers.py", "tests/plan/test_workgroup_memory.py::test_batches_of_several_types_share_arrays[5]",
                "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[sums in the branches of an if]",
                "tests/plan/test_mapping.py", "tests/loop/test_shuffles.py")
    ("order", 'key=lambda pair: isinstance(pair[0], MeanState)', 'key=lambda pair: not isinstance(pair[0], MeanState)')
    ("bound", 'while count > _FOLD:', 'while count > _FOLD * 16:')
    ("bound", 'compare("lt", frame.lane, const(groups))', 'compare("le", frame.lane, const(groups))')
    ("index", 'start = code.let("first", multiply(frame.lane, const(_FOLD)))', 'start = code.let("first", frame.lane)')
    ("index", 'add(multiply(frame.slot, const(groups)), frame.lane)', 'frame.lane')
    ("barrier", '    if frame.shared_is_read:\n        code.emit(ir.Barrier(False))', '')
    ("barrier", 'store_shared(frame, array, thread_number(), part)\n    code.emit(ir.Barrier(False))', 'store_shared(frame, array, thread_number(), part)')
    ("barrier", 'store_shared(frame, array, group, part)\n        code.emit(ir.Barrier(False))', 'store_shared(frame, array, group, part)')
    ("barrier", 'frame.shared_is_read = not level', 'frame.shared_is_read = False')
    ("index", 'if mapping.jobs_fastest:\n        return add(multiply(lane, const(mapping.jobs)), frame.slot)', 'if False:\n        return lane')
    ("index", 'return add(multiply(frame.slot, const(count)), number) if level else', 'return number if level else')
    ("bound", 'if batch and sum(len(parts) for _, parts in (*batch, pair)) > _components_at_once(frame, mapping):', 'if False:')
    ("combine", 'if mapping.lanes == 1:\n        return', 'if mapping.lanes <= 2:\n        return')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/combine.py", "tests/plan/test_rows.py::test_rows_in_turn_exchange_through_two_places",
                "tests/plan/test_rows.py::test_rows_in_turn_that_exchange_again_and_again", "tests/plan/test_rows.py::test_rows_in_turn_with_little_workgroup_memory")
    ("barrier", 'is_once = len(rounds) == len(phase.items) and len(counts) == 1', 'is_once = len(counts) >= 1')
    ("bound", '2 * counts[0] <= _components_at_once(frame, mapping)', 'counts[0] > 0')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/cluster.py", "tests/plan/test_rows.py::test_rows_in_turn_that_exchange_again_and_again",
                "tests/loop/test_shuffles.py", "tests/loop/test_needed_barriers.py")
    ("index", 'stride = mapping.jobs if mapping.jobs_fastest else 1', 'stride = 1')
    ("index", 'for step in range(width.bit_length() - 1)', 'for step in range(width.bit_length() - 2)')
    ("barrier", 'if frame.shared_is_read and not level and frame.turn is None:\n            code.emit(ir.Barrier(False))', 'if False:\n            pass')
    ("barrier", 'store_shared(frame, array, place, part)\n        code.emit(ir.Barrier(False))', 'store_shared(frame, array, place, part)')
    ("barrier", 'frame.shared_is_read = not level', 'frame.shared_is_read = False')
    ("index", 'add(base, add(multiply(frame.slot, const(count)), cluster))', 'add(base, cluster)')
    ("mask", 'compare("lt", cluster, const(count))', 'compare("le", cluster, const(count))')
    ("index", 'mine = add(mine, multiply(remainder(cluster, const(count // width)), const(width)))', 'pass')
    ("bound", 'count //= width', 'count //= mapping.cluster',
     "the same program: a width below a cluster's is the count itself, and what is left of it, 1 or 0, ends the loop")
    ("mask", 'is_first = compare("eq", remainder(frame.lane, const(mapping.cluster)), const(0))', 'is_first = compare("eq", remainder(frame.lane, const(mapping.cluster)), const(1))',
     "the same program: all lanes of a cluster hold the same bits")
    ("combine", 'word = ir.Bits(op, (word, self.other(word, mask)), DType.U32)', 'word = self.other(word, mask)')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/cluster.py", "tests/plan/test_rows.py::test_rows_in_turn_exchange_through_two_places",
                "tests/plan/test_rows.py::test_rows_in_turn_exchange_with_one_barrier_a_step", "tests/plan/test_rows.py::test_rows_in_turn_with_little_workgroup_memory")
    ("barrier", 'remainder(frame.turn, const(2))', 'remainder(frame.turn, const(1))')
    ("barrier", 'if frame.shared_is_read and not level and frame.turn is None:', 'if frame.shared_is_read and not level and not frame.plan.skips_branches:')
    ("index", 'add(base, add(multiply(frame.slot, const(count)), mine))', 'add(multiply(frame.slot, const(count)), mine)')
    ("bound", 'size *= 2', 'pass')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/split.py", "tests/plan/test_split.py")
    ("index", 'part = code.let("part", remainder(workgroup, self.parts)) if is_shared', 'part = code.let("part", divide(workgroup, self.parts)) if is_shared')
    ("mask", 'with code.when(compare("eq", part, ZERO) if is_shared else None):', 'with code.when(None):')
    ("bound", 'code.emit(ir.Loop(place, frame.lane, count, const(mapping.lanes), tuple(body)))', 'code.emit(ir.Loop(place, frame.lane, count, const(mapping.lanes + 1), tuple(body)))')
    ("bound", 'share = apply("ceildiv", apply("ceildiv", total, self.dispatch.parts), chunk) * chunk', 'share = apply("div", total, self.dispatch.parts)')
    ("bound", 'share = apply("ceildiv", apply("ceildiv", total, self.dispatch.parts), chunk) * chunk', 'share = apply("div", apply("ceildiv", total, self.dispatch.parts), chunk) * chunk')
    ("bound", 'end = below(add(first, share))', 'end = add(first, share)')
    ("bound", 'first = below(multiply(unsigned(part), share))', 'first = multiply(unsigned(part), share)')
    ("mask", 'with code.when(compare("eq", frame.lane, ZERO)), code.when(frame.valid):', 'with code.when(frame.valid):')
    ("mask", 'with code.when(compare("eq", frame.lane, ZERO)), code.when(frame.valid):', 'with code.when(compare("eq", frame.lane, ZERO)):')
    ("mask", 'with code.when(frame.valid):\n            code.emit(ir.Loop(place', 'with code.when(None):\n            code.emit(ir.Loop(place')
    ("index", 'write_slot(frame, slot, (number, part), value', 'write_slot(frame, slot, (number, ZERO), value')
    ("combine", 'state.fold(code, [list(parts), loaded])', 'state.fold(code, [loaded])')
    ("bound", 'return ceildiv(lowering.all_jobs(phase), phase.mapping.jobs) * self.dispatch.parts', 'return apply("div", lowering.all_jobs(phase), Extent.of(phase.mapping.jobs)) * self.dispatch.parts')
)  # fmt: skip

(
    STATES.file("tilec/loop/lower/cluster.py", "tests/loop/test_shuffles.py::test_the_hardware_reduces_over_a_whole_cluster",
                "tests/loop/test_shuffles.py::test_subgroups_wider_than_known_give_the_same")
    ("combine", 'return self.reduce("max_fast", value)', 'return value')
    ("mask", 'spans = mapping.jobs == 1', 'spans = True')
    ("bound", 'width = 1 << len(self.masks)', 'width = 1 << max(0, len(self.masks) - 1)')
    ("operator", '("xor", (bits, ir.Bits("and", (sign, const(0x7FFFFFFF)), DType.I32)), DType.I32)', '("or", (bits, bits), DType.I32)')
    ("operator", 'const(31, DType.U32)', 'const(30, DType.U32)')
    ("operator", 'self._over_subgroup("or", _as(DType.U32, value))', 'self._over_subgroup("max", _as(DType.I32, value))')
)  # fmt: skip
