"""Mutants of what surrounds the code: the specification's masks, proofs between blocks, windows, launches, arrays, caches."""

from tests.mutants.table import Table

RUNTIME = Table("runtime", ("tests/api/test_calls.py", "tests/api/test_windows.py", "tests/api/test_bind.py"))

(
    RUNTIME.file("tilec/tile/interp_frame.py", "tests/tile/test_interp.py::test_assigning_leaves_what_the_value_does_not_cover",
                 "tests/tile/test_interp.py::test_picks", "tests/tile/test_interp.py", "tests/tile/test_interp_control.py",
                 "tests/plan/test_corners.py")
    ("mask", 'inside[0] = inside[0] & access.points_inside[:, None]', 'pass')
    ("mask", 'mask = tile.active() & joint_mask(tuple(access.inside))', 'mask = joint_mask(tuple(access.inside))')
    ("mask", 'mask = mask & access.points_inside.reshape(-1, *(1,) * len(access.inside))', 'pass')
    ("mask", 'source = np.where(operand.active(), operand.data, operand.data.dtype.type(0))', 'source = operand.data')
    ("bound", 'inside = (lane >= 0) & (lane < extent)', 'inside = lane < extent')
    ("mask", 'return Tile(np.where(new.active(), new.data, old.data), old.masks)', 'return Tile(new.data, old.masks)')
    ("mask", 'return Tile(np.where(tile.active(), tile.data, fill.data), (None,) * len(shape))', 'return Tile(tile.data, (None,) * len(shape))')
    ("mask", 'lanes = np.array([tile.shape[axis]]) if mask is None else mask.sum(axis=1)', 'lanes = np.array([tile.shape[axis]])')
    ("mask", 'masks[0] = np.broadcast_to(mask, (len(mask), shape[0])) & (True if masks[0] is None else masks[0])', 'pass')
    ("bound", 'running = start + round_number * value.step < stop', 'running = start + round_number * value.step <= stop')
)  # fmt: skip

(
    RUNTIME.file("tilec/sema/proofs.py", "tests/sema/test_proofs.py", "tests/sema/test_blocks.py")
    ("bound", 'slack = divisor - 1', 'slack = 0')
    ("condition", 'if is_positive == (atom.function == "max"):', 'if is_positive == (atom.function == "min"):')
    ("bound", '_replaced(extent, atom, ZERO, Extent.of(divisor - 1))', '_replaced(extent, atom, ZERO, Extent.of(divisor - 2))')
    ("operator", 'product = Extent.of(factor) * (low if factor > 0 else high)', 'product = Extent.of(factor) * (high if factor > 0 else low)')
    ("bound", 'bound = dividend * -(share if is_exact else share + 1)', 'bound = dividend * -share')
)  # fmt: skip

(
    RUNTIME.file("tilec/tile/wrapping.py", "tests/sema/test_proofs.py::test_what_stays_and_what_may_wrap", "tests/sema/test_proofs.py", "tests/plan/test_wrapping.py")
    ("bound", 'if len(monomial) > 1 or abs(factor) > 1:', 'if abs(factor) > 1:')
    ("bound", 'if len(monomial) > 1 or abs(factor) > 1:', 'if len(monomial) > 1:')
    ("bound", 'if len(wide) > 1:\n        return None', 'pass')
    ("bound", 'if not is_low and not rest.is_nonnegative:\n        return None', 'pass')
    ("bound", 'if not is_high and not (-rest - int(is_opposite and not is_high)).is_nonnegative:\n        return None', 'pass')
    ("bound", 'return left[0] and right[0], left[1] or right[1]', 'return left[0] or right[0], left[1] or right[1]')
    ("bound", 'return left[0] or right[0], left[1] and right[1]', 'return left[0] or right[0], left[1] or right[1]')
    ("bound", 'return atom.nonnegative, False', 'return atom.nonnegative, True')
)  # fmt: skip

(
    RUNTIME.file("tilec/integers.py", "tests/sema/test_proofs.py", "tests/plan/test_wrapping.py")
    ("operator", 'return dividend if divisor == 0 else -(-dividend // divisor)', 'return dividend if divisor == 0 else dividend // divisor')
    ("bound", 'return (value - I32_LOWEST) % 2**32 + I32_LOWEST', 'return value')
    ("operator", 'return size if (dividend < 0) == (divisor < 0) else -size', 'return size')
)  # fmt: skip

(
    RUNTIME.file("tilec/sema/blocks.py", "tests/sema/test_blocks.py::test_rules_between_blocks",
                 "tests/sema/test_blocks.py::test_what_differs_between_blocks_shifts_their_cells", "tests/sema/test_blocks.py")
    ("bound", 'return all(builder.is_at_most(base, low) and builder.is_at_most(high, base + step) for low, high in windows)', 'return all(builder.is_at_most(base, low) for low, high in windows)')
    ("bound", 'end = offset + (ONE if count is None else count)', 'end = offset + ONE')
    ("safety", 'if len(steps) != 1:\n        return False', 'pass')
    ("safety", 'if len(pins) == 1 and None not in pins:', 'if None not in pins:')
    ("safety", 'if not all(_is_common(bound) for bound in window):\n            return False', 'pass')
)  # fmt: skip

(
    RUNTIME.file("tilec/sema/grid.py", "tests/sema/test_blocks.py")
    ("bound", 'Implied(apply("ceildiv", dim, step)', 'Implied(apply("div", dim, step)')
)  # fmt: skip

(
    RUNTIME.file("tilec/types.py", "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[a ragged tile beside a whole one]",
                 "tests/plan/test_corners.py::test_the_mean_of_a_stretched_row_that_does_not_exist_is_no_number",
                 "tests/sema/test_proofs.py", "tests/tile/test_interp.py", "tests/sema/test_memory.py", "tests/plan/test_lowering.py")
    ("mask", 'bounds |= stretch(operand.active[own]) if is_stretched else operand.active[own]', 'bounds |= operand.active[own]')
    ("mask", 'bounds |= stretch(operand.active[own]) if is_stretched else operand.active[own]', 'bounds = stretch(operand.active[own]) if is_stretched else operand.active[own]')
    ("bound", 'case "max":\n                return any(argument.is_nonnegative for argument in self.arguments)', 'case "max" | "min":\n                return any(argument.is_nonnegative for argument in self.arguments)')
    ("bound", 'total = total * (extent if extent.is_nonnegative else apply("max", extent, Extent.of(0)))', 'total = total * extent')
    ("operator", 'return left if function == "min" else right\n        if right.at_most(left)', 'return right if function == "min" else left\n        if right.at_most(left)')
)  # fmt: skip

(
    RUNTIME.file("tilec/tile/windows.py", "tests/api/test_windows.py::test_what_needs_all_rows_is_refused_with_the_reason",
                 "tests/api/test_windows.py")
    ("bound", 'if ends[0] < 0 or ends[1] + count > step.constant:', 'if ends[0] < 0:')
    ("safety", 'if (self.axis, self.step) not in ((None, None), (axis, step.constant)):', 'if False:')
    ("safety", 'if self._has(self.dim, value):', 'if False:')
    ("safety", 'return NoWindows(f"it writes {value.tensor}, which has no rows of {self.dim}", value.span)', 'continue')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/windowed.py", "tests/api/test_windows.py::test_windows_begin_where_a_binding_may_if_enough_rows_fit",
                 "tests/api/test_windows.py")
    ("index", 'whole, offset, size = arrays[name].buffer, first * row, count * row', 'whole, offset, size = arrays[name].buffer, first, count * row')
    ("bound", 'count = min(rows, total - first)', 'count = rows')
    ("order", 'self.device.copy(copies[output.name], target, count * row, target_at=first * row)', 'pass')
    ("index", 'self.device.copy(whole, copies[name], size, source_at=offset)', 'self.device.copy(whole, copies[name], size)')
    ("safety", 'unit = lcm(unit, _rows_to_align(size, _ALIGNMENT if name in aligned else _WORD))', 'unit = lcm(unit, _rows_to_align(size, _WORD))')
    ("index", 'dims = {**self.dims, self._windows.dim: rows}', 'dims = dict(self.dims)')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/prepared.py", "tests/api/test_bind.py::test_spare_memory_is_not_reused_under_recorded_work",
                 "tests/api/test_devices.py", "tests/api/test_bind.py")
    ("safety", 'must_clear = output.name not in self._overwritten', 'must_clear = False')
    ("safety", 'self._device.submit_batches_with(buffer, of_others=True)', 'pass')
    ("condition", 'if 0 not in groups:\n                steps', 'if groups[0] > 1:\n                steps')
)  # fmt: skip

(
    RUNTIME.file("tilec/tile/written.py", "tests/tile/test_written.py")
    ("mask", '(bound.start.at_most(ZERO) or bound.start.at_most(-start)) and (dim - start).at_most(bound.limit)', '(bound.start.at_most(ZERO) or bound.start.at_most(-start))')
    ("bound", 'not step.at_most(count)', 'False')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/arguments.py", "tests/api/test_hostile_arrays.py::test_one_trailing_axis_of_1_may_come_or_go",
                 "tests/api/test_hostile_arrays.py::test_sizes_that_follow_from_others_are_checked",
                 "tests/api/test_hostile_arrays.py")
    ("safety", 'if dims.setdefault(symbol, extent) != extent:', 'if False:')
    ("index", 'return shape[:-1]\n', 'return shape[1:]\n')
    ("safety", 'if tensor.name not in shapes or shapes[tensor.name][axis] == value:\n                continue', 'continue')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/arrays.py",
                 "tests/api/test_hostile_arrays.py::test_a_float_beyond_an_i64_is_none_whatever_the_processor_makes_of_it",
                 "tests/api/test_hostile_arrays.py", "tests/api/test_calls.py")
    ("safety", 'if not _is_exact(array, result, dtype):', 'if False:')
    ("bound", 'inside = (array >= float(info.min)) & (array < float(info.max) + 1.0)', 'inside = (array >= float(info.min)) & (array <= float(info.max) + 1.0)')
    ("order", 'return np.ascontiguousarray(array, target).reshape(array.shape)', 'return array')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/staging.py",
                 "tests/runtime/test_device.py::test_what_is_longer_than_a_read_at_once_is_read_in_parts",
                 "tests/runtime/test_device.py", "tests/api/test_devices.py")
    ("bound", 'whole = -(-len(target) // 4) * 4', 'whole = len(target) // 4 * 4')
    ("index", 'self._read(source, offset + done, target[done : done + count])', 'self._read(source, offset, target[done : done + count])')
)  # fmt: skip

(
    RUNTIME.file("tilec/runtime/cache.py", "tests/runtime/test_disk.py::test_each_thing_that_decides_misses",
                 "tests/runtime/test_disk.py", "tests/api/test_calls.py")
    ("condition", 'if holds(dims):\n', 'if True:\n')
    ("condition", 'if guard_test(found.program.guards)(dims):\n                return found', 'return found')
)  # fmt: skip
