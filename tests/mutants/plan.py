"""Mutants of the plan: what meets in a phase or round, order and fences, owners of words and vectors, sizes and guards."""

from tests.mutants.table import Table

PLAN = Table("plan", ("tests/plan/test_corners.py", "tests/loop/test_needed_barriers.py", "tests/plan/test_lowering.py",
                      "tests/diff/test_planted_races.py"))  # fmt: skip

(
    PLAN.file("tilec/plan/schedule.py")
    ("safety", 'if self._overwrites_its_reads(sink, walker):', 'if False:')
    ("safety", 'return any(conflict(access, write) and relation(access, write, 0) != "own" for access in accesses[:-1])', 'return False')
    ("order", 'if any(map(opened.touched.conflicts, needs.accesses)):', 'if False:')
    ("order", 'if any(value in opened.registers for value, _ in needs.leaves):\n                return number', 'pass',
     "what one phase has in registers no earlier one has: it refuses the sink itself")
    ("barrier", 'if how == "block":\n                    return False', 'if how == "block":\n                    how = "job"')
    ("order", 'lowest = max(lowest, item if is_same_round else item + 1)', 'lowest = max(lowest, item)')
    ("barrier", 'if how == "job":\n                    fence_after = max(fence_after, item)', 'pass')
    ("order", 'is_same_round = how == "own" and (sink.is_narrow or not _reads_back(before, access))', 'is_same_round = how == "own"')
    ("order", 'lowest = max(lowest, item if sink.is_narrow or value is reference else item + 1)', 'lowest = max(lowest, item)')
    ("barrier", 'if not any(getattr(other, "fence", False) for other in items[fence_after + 1 : number + 1]):', 'if not any(getattr(other, "fence", False) for other in items[: number + 1]):')
    ("condition", 'if isinstance(item, Round) and (sink.is_narrow or not item.wide or item.swept == swept):', 'if isinstance(item, Round):')
    ("safety", 'return before.memory == access.memory and (before.writes or access.writes)', 'return before.memory == access.memory and before.writes and access.writes')
    ("condition", 'if any(axis in reduced for axis in fixed):\n        return None', 'pass')
    ("condition", 'if missing:\n        return None\n    if sink.kind in', 'if sink.kind in')
    ("condition", 'return tied if len(set(tied.values())) == len(tied) else None', 'return tied')
    ("condition", 'if not role.startswith("a"):\n                return None', 'if not role.startswith("a"):\n                continue')
    ("mask", 'if any((extent.constant or 0) < 1 for extent in kept):\n        return False', 'pass')
)  # fmt: skip

(
    PLAN.file("tilec/plan/walk.py")
    ("safety", 'same = left.roles == right.roles and left.starts == right.starts', 'same = left.roles == right.roles')
    ("safety", 'if same and (left.is_narrow == right.is_narrow) and (is_wide or left.is_narrow):', 'if same:')
    ("safety", 'if right.roles.index(kept) != axis or left.starts[axis] != right.starts[axis]:', 'if right.roles.index(kept) != axis:')
    ("safety", 'if kept not in left.roles or kept not in right.roles:\n            return "block"', 'if kept not in left.roles or kept not in right.roles:\n            return "job"')
    ("safety", 'return "own" if left.is_narrow and right.is_narrow else "job"', 'return "own" if left.is_narrow else "job"')
    ("safety", 'return "own" if left.is_narrow and right.is_narrow else "job"', 'return "own" if right.is_narrow else "job"')
    ("barrier", 'return "own" if left.is_narrow and right.is_narrow else "job"', 'return "job"')
    ("safety", 'if isinstance(value, tile.Load) and value.tensor in self.written:', 'if False:')
    ("index", 'offset = len(roles) - len(shape)\n    return tuple("." if', 'offset = 0\n    return tuple("." if')
)  # fmt: skip

(
    PLAN.file("tilec/plan/order.py")
    ("order", 'time = sink.position * 2 + 1 if access.writes else _time(access, position)', 'time = sink.position * 2 + 1')
    ("order", 'before[number].add(maker)', 'pass')
    ("order", 'first, second = (number, other) if time < other_time else (other, number)', 'first, second = (other, number)')
    ("order", 'return position[load] * 2 + 2', 'return position[load] * 2')
)  # fmt: skip

(
    PLAN.file("tilec/plan/touched.py")
    ("safety", 'if not (access.writes or representative.writes):\n                continue', 'if not representative.writes:\n                continue')
    ("safety", 'if same is not None:\n                yield same', 'pass')
    ("safety", 'yield from elsewhere[:1]', 'yield from elsewhere[1:2]')
    ("safety", 'return any(access.writes or before.writes for before in self._representatives(groups))', 'return any(before.writes for before in self._representatives(groups))')
)  # fmt: skip

(
    PLAN.file("tilec/plan/make.py", "tests/plan/test_mapping.py::test_several_phases_of_many_blocks_are_one_dispatch")
    ("order", 'dispatches.insert(0, Dispatch("unpack"', 'dispatches.append(Dispatch("unpack"')
    ("safety", 'if around or is_between:\n                        missing.add(load)', 'pass')
    ("safety", 'is_between = self.position[load] < self.position[store] < sink.position and store not in own', 'is_between = False')
    ("safety", 'around = set(self.loops[store]) & set(self.loops[sink.value]) - set(self.loops[load])', 'around = set()')
    ("barrier", 'if all_phases and is_known and (len(items) == 1 or (is_one_block and is_grouped)):', 'if all_phases and is_known:')
)  # fmt: skip

(
    PLAN.file("tilec/plan/control.py",
              "tests/fuzz/test_regressions.py::test_program_is_right_everywhere[a_variable_read_before_a_store_and_carried_behind_it]",
              "tests/plan/test_lowering.py", "tests/fuzz/test_regressions.py")
    ("safety", 'values += zip(_initials(node), in_registers, strict=True)', 'pass')
    ("safety", 'if value not in self.walker.homes and any(other in reads for other in slots if other not in (None, slot)):\n                raise NeedsHome({value})', 'pass')
    ("condition", 'if is_missing or (made is not None and any(role != "." for role in made[1])):', 'if is_missing:',
     "a scalar is reduced over every axis, so that no condition is a row's register")
)  # fmt: skip

(
    PLAN.file("tilec/plan/packed.py", "tests/diff/test_planted_races.py", "tests/plan/test_lowering.py")
    ("safety", 'if not (is_single_row or facts.divides(elements, pitch)):\n        return False', 'pass')
    ("safety", 'if not all(factor % elements == 0 for _, factor in start.terms):\n        return False', 'pass')
    ("safety", 'elif all(_has_word_owner(sink, parameter, facts) for _, sink in uses):', 'elif any(_has_word_owner(sink, parameter, facts) for _, sink in uses):')
    ("safety", 'if sink.roles[-1] != "s0" or sum(role.startswith("s") for role in sink.roles) != 1:\n        return False', 'pass')
    ("safety", 'return facts.divides(elements, last.count) or (last.count == pitch and start.constant == 0)', 'return True')
)  # fmt: skip

(
    PLAN.file("tilec/plan/vectors.py",
              "tests/fuzz/test_regressions.py::test_program_is_right_everywhere[a_mean_of_one_element_beside_whole_words]",
              "tests/plan/test_corners.py", "tests/plan/test_lowering.py", "tests/plan/test_rows.py")
    ("mask", 'if item.swept or item.wide]', 'if item.swept]')
    ("safety", 'if not _divides(elements, access.starts[-1], facts) or not _divides(elements, parameter.dims[-1], facts):\n        return False', 'pass')
    ("mask", 'if sink.roles[offset + axis].startswith("s") and not _are_aligned(bounds, divisor, facts):\n            return False', 'pass')
    ("safety", 'fits = regular and _is_aligned(kernel, sink, access, facts) if is_swept else not access.writes', 'fits = regular and _is_aligned(kernel, sink, access, facts) if is_swept else True')
    ("bound", 'return not any(factor % divisor for factor in rest) and facts.divides(divisor, Extent(known))', 'return facts.divides(divisor, Extent(known))')
)  # fmt: skip

(
    PLAN.file("tilec/plan/rows.py",
              "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[rows that are stored beside themselves too]",
              "tests/fuzz/test_regressions.py::test_program_is_right_everywhere[one_row_beside_rows_in_turn]",
              "tests/plan/test_rows.py")
    ("index", 'is_swept and access.roles[0] in rows and', 'is_swept and')
    ("mask", 'sink.is_whole = _is_inside(kernel, sink)', 'sink.is_whole = True')
    ("bound", 'start.is_nonnegative and (dim - start - count).is_nonnegative', 'start.is_nonnegative')
    ("bound", 'start.is_nonnegative and (dim - start - count).is_nonnegative', '(dim - start - count).is_nonnegative')
    ("safety", 'turns = granule // common if written else 1', 'turns = 1')
    ("safety", 'if facts.divides(size, pitch)), 1)', 'if facts.divides(size, pitch)), 2)')
    ("safety", 'if turns > 1 and not _are_numbered(kernel, phase, start, turns):\n        return', 'pass')
    ("index", 'return rest.constant is not None and rest.constant % turns == 0', 'return rest.constant is not None')
)  # fmt: skip

(
    PLAN.file("tilec/plan/screened.py", "tests/loop/test_screened.py")
    ("condition", 'op="eq" | "ne", operands', 'op="eq" | "ne" | "lt", operands')
    ("condition", 'lane(one)[one.axis] == swept and swept not in lane(other)', 'lane(one)[one.axis] == swept')
)
(
    PLAN.file("tilec/plan/mapping.py", "tests/loop/test_screened.py::test_elements_that_are_not_singled_out_are_not_compared", "tests/plan/test_mapping.py::test_a_workgroup_has_a_power_of_two_of_threads", "tests/plan/test_mapping.py::test_no_row_is_longer_than_the_plan_says", "tests/plan/test_rows.py::test_rows_a_little_longer_than_what_registers_keep", "tests/plan/test_mapping.py", "tests/loop/test_shuffles.py", "tests/plan/test_rows.py")
    ("bound", 'resident = -(-known // (lanes * granule)) or most', 'resident = known // (lanes * granule) or most')
    ("bound", 'max(0, known - 2 * granule + 2)', 'known')
    ("bound", 'return part // granule, kept, True', 'return part // granule, kept, False')
    ("bound", 'if kept and facts.size_class(width, (kept if phase.rows is None else kept + 2 * granule,)) == 1:', 'if kept:')
    ("bound", 'facts.size_class(width, (kept if phase.rows is None else kept + 2 * granule,)) == 1', 'facts.size_class(width, (kept,)) == 1')
    ("bound", 'if most and facts.at_most(width, lanes * granule * most):', 'if most and facts.at_most(width, lanes * granule * (most + 1)):')
    ("safety", 'turns=1 if phase.rows is None else phase.rows.turns', 'turns=1')
    ("rounding", '(1 << 31 if each is None or each == len(bounds) else bounds[each] for each in classes)', '(bounds[-1] if each is None or each == len(bounds) else bounds[each] for each in classes)')
    ("rounding", 'else bounds[each] for each in classes)', 'else bounds[0] - 1 for each in classes)')
    ("condition", 'if granule > 1 and lanes > _FEW_LANES else 0', 'if granule > 1 else 0')
    ("bound", 'cluster=max(1, min(lanes, options.limits.subgroup // (jobs if jobs_fastest else 1)))', 'cluster=max(1, min(lanes, options.limits.subgroup))')
    ("condition", 'or len(rounds) < 2 or len(rounds[0].swept) != 1:', 'or len(rounds) < 2:')
    ("bound", 'return 1 << (max(1, value).bit_length() - 1)', 'return max(1, value)')
)  # fmt: skip

(
    PLAN.file("tilec/plan/split.py", "tests/plan/test_split.py")
    ("barrier", 'if is_fenced and any(each.narrow for each in waiting):', 'if False:')
    ("index", 'Slot(f"partial_{number}", dtype, (jobs, parts), is_shared=True)', 'Slot(f"partial_{number}", dtype, (jobs, parts), is_shared=False)')
    ("order", 'waiting = [item]\n    if any', 'waiting = []\n    if any')
)  # fmt: skip

(
    PLAN.file("tilec/plan/groups.py", "tests/plan/test_moments.py::test_each_mean_has_its_own_moments", "tests/plan/test_moments.py")
    ("state", 'return [term.with_power(power) for power in range(term.power, -1, -1)]', 'return [term]')
    ("order", 'key=lambda term: -term.power', 'key=lambda term: term.power')
    ("condition", 'return one.op in ("rest", "max") and one.operand is other.operand and one.axes == other.axes', 'return one.op in ("rest", "max") and one.axes == other.axes')
    ("condition", 'own = [each for each in moments if each.reference == reference]', 'own = [each for each in moments if each.reference.kind == reference.kind]')
)  # fmt: skip

(
    PLAN.file("tilec/plan/needs.py", "tests/plan/test_ignored_rows.py")
    ("condition", 'if leaves is not None and leaves <= known:', 'if leaves is not None:')
    ("condition", 'is_fixed = not needs.accesses[:-1]', 'is_fixed = True')
)  # fmt: skip

(
    PLAN.file("tilec/facts.py", "tests/plan/test_facts.py", "tests/plan/test_mapping.py", "tests/api/test_calls.py", "tests/plan/test_split.py")
    ("condition", 'self._record(f"{extent} == {value}")', 'pass')
    ("condition", "self._record(f\"{text} % {divisor} {'==' if answer else '!='} 0\")", 'pass')
    ("condition", "self._record(f\"{extent} {'<=' if answer else '>'} {limit}\")", 'pass')
    ("bound", 'index = sum(value > bound for bound in bounds)', 'index = sum(value >= bound for bound in bounds)')
    ("bound", 'high = f"{extent} <= {bounds[index]}" if index < len(bounds) else ""', 'high = ""')
)  # fmt: skip
