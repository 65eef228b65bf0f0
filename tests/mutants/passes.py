"""Mutants of the passes: laws that hold no longer, conditions that are missing, gradients, what is needed where."""

from tests.mutants.table import Table

PASSES = Table("passes", ("tests/passes/test_whole_kernels.py", "tests/gradients/test_edges.py",
                          "tests/gradients/test_control.py", "tests/gradients/test_against_torch.py"))  # fmt: skip

(
    PASSES.file("tilec/tile/passes/simplify.py", "tests/passes/test_simplify.py::test_a_view_that_drops_an_axis_with_bounds",
                "tests/passes/test_simplify.py")
    ("identity", 'zero = -0.0 if value.type.dtype is DType.F32 else 0', 'zero = 0.0 if value.type.dtype is DType.F32 else 0')
    ("identity", 'zero = 0.0 if value.type.dtype is DType.F32 else 0\n    left, right = value.operands\n    return left if _is_constant(right, zero) else None', 'zero = 0.0 if value.type.dtype is DType.F32 else 0\n    left, right = value.operands\n    return left if _is_constant(right, zero) else right if _is_constant(left, zero) else None')
    ("identity", 'neutral = value.op == "and"', 'neutral = value.op == "or"')
    ("mask", 'if new is not None and new.type == value.type:\n            return new', 'if new is not None and new.type.shape == value.type.shape:\n            return new')
    ("order", 'swapped = ir.Pointwise(value.type, value.span, "where", (inner, other, chosen), name=value.name)', 'swapped = ir.Pointwise(value.type, value.span, "where", (inner, chosen, other), name=value.name)')
    ("mask", 'if any(bounds for axis, bounds in enumerate(x.type.active) if axis not in axes):\n        return None', 'pass')
    ("condition", 'return chosen if condition.value else other', 'return other if condition.value else chosen')
    ("condition", '**dict.fromkeys(("abs", "floor", "ceil", "round", "trunc", "f16", "bf16"), (_again,)),', '**dict.fromkeys(("abs", "floor", "ceil", "round", "trunc", "f16", "bf16", "exp"), (_again,)),')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/merge_equal.py", "tests/passes/test_merge_equal.py")
    ("safety", 'self._versions[tensor] = self._stores', 'pass')
    ("safety", 'if not isinstance(control, ir.If):\n            self._store(stored_tensors(control))', 'pass')
    ("condition", 'if known is not None and region in rewriter.open_regions:', 'if known is not None:')
    ("condition", 'return (repr(number),)  # tells', 'return (number,)  # tells')
    ("index", 'spans = tuple(index.count if isinstance(index, ir.SpanIndex) else None for index in indices)', 'spans = ()')
    ("condition", 'return (type(value), value.type, *self._attributes(value, numbers))', 'return (type(value), value.type.dtype, *self._attributes(value, numbers))')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/forward_stores.py", "tests/passes/test_forward_stores.py")
    ("rounding", 'DType.F16: ("f16",),', 'DType.F16: (),')
    ("mask", 'if inside is None or active != inside:', 'if inside is None:')
    ("bound", 'return index.is_nonnegative and (index + 1).at_most(extent)', 'return index.is_nonnegative and index.at_most(extent)')
    ("index", 'return left.count == right.count and _same_scalar(left.start, right.start)', 'return _same_scalar(left.start, right.start)')
    ("index", 'if region == rewriter.open_regions[-1] and _same_place', 'if _same_place')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/drop_dead.py", "tests/passes/test_drop_dead.py")
    ("condition", 'isinstance(value, ir.Store | ir.Report)]', 'isinstance(value, ir.Store)]')
    ("index", 'if count < index:', 'if False:')
    ("condition", 'self._pending += [initial[index], body.yields[index]]', 'self._pending += [initial[index]]')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/fold_constants.py", "tests/passes/test_fold_constants.py")
    ("bound", 'if start >= stop:', 'if start >= stop - 1:')
    ("condition", 'value.then if condition else value.otherwise', 'value.otherwise if condition else value.then')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/raise_reductions.py",
                "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[rows that their number singles out]",
                "tests/plan/test_corners.py::test_every_plan_gives_what_is_right[a logarithm beside another maximum]",
                "tests/passes/test_raise_reductions.py::test_what_is_no_pick",
                "tests/passes/test_raise_reductions.py::test_a_logarithm_that_another_tile_is_reduced_by",
                "tests/passes/test_raise_reductions.py")
    ("condition", 'if operand is x and difference.type == x.type and _axes(largest) == _axes(total):', 'if operand is x and difference.type == x.type:')
    ("mask", 'return value.type.rank == 0 or (value.type.shape[-1].is_one and not value.type.active[-1])', 'return value.type.rank == 0 or value.type.shape[-1].is_one')
    ("index", 'value.axis == value.type.rank - 1 and value.type.dtype is DType.I32', 'value.type.dtype is DType.I32')
    ("condition", 'if not isinstance(zero, ir.Const) or zero.value != 0 or x.type.rank == 0:', 'if not isinstance(zero, ir.Const) or x.type.rank == 0:')
    ("condition", 'if hot.guard is not None:', 'if False:')
    ("condition", 'if total is None or _exponent(total) is not shifted or value.type != shifted.type:', 'if total is None or value.type != shifted.type:')
    ("condition", 'divisor.operand is not exponential or value.type', 'value.type')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/split_logsumexp.py", "tests/passes/test_split_logsumexp.py")
    ("operator", 'rewriter.emit(make_pointwise("sub", (difference, rest), value.span, value.name))', 'rewriter.emit(make_pointwise("add", (difference, rest), value.span, value.name))')
    ("order", 'make_pointwise("sub", (largest, right), value.span)', 'make_pointwise("sub", (right, largest), value.span)')
)  # fmt: skip

(
    PASSES.file("tilec/tile/passes/split_moments.py", "tests/plan/test_moments.py::test_what_is_masked_adds_nothing",
                "tests/passes/test_split_moments.py")
    ("operator", 'both = left + (_negated(right) if value.op == "sub" else right)', 'both = left + right')
    ("condition", 'return replace(part, factor=Operation("neg", (part.factor,)))', 'return part')
    ("state", 'a.exponent + b.exponent,', 'a.exponent,')
    ("mask", 'if part.masks and (part.power or part.weights):', 'if False:')
    ("mask", 'a.masks or b.masks,', 'a.masks and b.masks,')
)  # fmt: skip

(
    PASSES.file("tilec/tile/moments.py",
                "tests/plan/test_moments.py::test_sums_over_other_lanes_than_the_maximum_or_the_mean",
                "tests/plan/test_moments.py")
    ("mask", 'if term is None or value.operand.type != reference.x.type:', 'if term is None:')
    ("condition", 'case factor if not reaches(factor, reference.reduction):', 'case factor if True:')
    ("index", 'return is_whole and sorted(reduction.axes) == sorted(total.axes)', 'return is_whole',
     "a phase has one set of swept axes: what sums over others stands in another one, and takes no maximum with it; axes "
     "of extent 1 may differ within a phase, and have one lane")
    ("mask", 'masks = self.masks and (power > 0 or self.weight is not None)', 'masks = False')
)  # fmt: skip

(
    PASSES.file("tilec/tile/needed.py",
                "tests/plan/test_ignored_rows.py::test_an_ignored_row_is_not_read[one condition or another-one lane a row]",
                "tests/plan/test_ignored_rows.py::test_an_ignored_row_is_not_read[not one condition, but another-one lane a row]",
                "tests/plan/test_lowering.py::test_where_an_operand_that_drops_its_axes_is_needed",
                "tests/plan/test_ignored_rows.py", "tests/plan/test_lowering.py")
    ("condition", 'self.needs[value] = needs if known is None else known & needs', 'self.needs[value] = needs if known is None else known | needs')
    ("condition", 'for side, is_true in ((chosen, True), (other, False)):', 'for side, is_true in ((chosen, True), (other, True)):')
    ("condition", 'if need.is_true == (op == "and"):', 'if True:')
    ("condition", 'is_true = not need.is_true\n', 'is_true = need.is_true\n')
    ("index", 'yield value.operand, _mapped(needs, _kept_axes(value).get)', 'yield value.operand, needs')
    ("condition", 'if all(new is not None or old is None for new, old in zip(axes, need.axes, strict=True)):', 'if True:')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/rules.py", "tests/gradients/test_masks.py", "tests/gradients/test_by_hand.py",
                "tests/gradients/test_edges.py")
    ("derivative", 'scale(reverse.times(quotient, (reverse.ledger.term(value),)), -1.0)', 'reverse.times(quotient, (reverse.ledger.term(value),))')
    ("mask", 'reverse.send(value, other, guard(terms, number, False))', 'reverse.send(value, other, terms)')
    ("mask", 'reverse.send(value, chosen, guard(terms, number, True))', 'reverse.send(value, chosen, terms)')
    ("derivative", 'ledger.make("gt" if value.op == "min" else "lt", a, result)', 'ledger.make("ge" if value.op == "min" else "le", a, result)')
    ("derivative", 'share = ledger.make("div_f32", ledger.constant(1.0), emit(ledger, (count,)))', 'share = ledger.constant(1.0)')
    ("derivative", 'share = ledger.make("where", ledger.make("isnan", result), result, share)', 'pass')
    ("derivative", 'reverse.give(a, scale(_shared_evenly(reverse, largest, terms), -1.0))', 'pass')
    ("derivative", 'guards=frozenset({(number, True), (single, True)})', 'guards=frozenset({(number, True)})')
    ("derivative", 'guards=frozenset({(number, False), (none, True)})', 'guards=frozenset({(number, False)})')
    ("mask", 'reverse.send(masked, x, guard(terms, ledger.class_of(is_picked), True))', 'reverse.send(masked, x, terms)')
    ("mask", 'reverse.send(value, value.fill, guard(terms, is_active, False))', 'reverse.send(value, value.fill, terms)')
    ("mask", 'reverse.give(old, guard(terms, is_active, False))', 'reverse.give(old, terms)')
    ("derivative", 'terms if new.op == "add" else scale(terms, -1.0)', 'terms')
    ("index", 'return _viewed(reverse, terms, value.type.rank, axes)\n\n\ndef _viewed', 'return terms\n\n\ndef _viewed')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/reverse.py",
                "tests/gradients/test_edges.py::test_what_is_taken_under_many_conditions_is_nothing_where_none_holds")
    ("derivative", 'elif axes:\n            terms = sum_over(', 'elif False:\n            terms = sum_over(')
    ("mask", 'if self._is_partial(value, operand, axes):', 'if False:')
    ("derivative", 'self._adjoints.setdefault(operand.number, []).extend(terms)', 'self._adjoints[operand.number] = list(terms)')
    ("condition", 'number = self.ledger.class_of(value)\n        self.ledger.masked.add(number)\n        return (Term(1.0, ((number, 1),), shared),)', 'number = self.ledger.class_of(value)\n        return (Term(1.0, ((number, 1),), shared),)')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/sums.py", "tests/gradients/test_masks.py",
                "tests/gradients/test_edges.py::test_what_shifts_all_logits_of_a_row", "tests/gradients/test_ranks.py")
    ("derivative", 'return (ledger.count(donor, axes, keeps_axes=keeps_axes),)', 'return ONE')
    ("derivative", 'if _is_softmax(ledger, value, axes):\n                return ONE', 'if _is_softmax(ledger, value, axes):\n                return ZERO')
    ("index", 'return own == axes and ledger.class_of(reduction.operand) == ledger.class_of(a)', 'return ledger.class_of(reduction.operand) == ledger.class_of(a)')
    ("mask", 'if len(term.guards) != 1 or donor.type.active[-1]:', 'if len(term.guards) != 1:')
    ("bound", '(("ge", zero), ("lt", count))', '(("ge", zero), ("le", count))')
    ("mask", 'value = restrict(ledger, value, donor)\n    positions', 'pass\n    positions')
    ("index", 'return (powers, guards, lanes)', 'return (powers, guards)')
    ("derivative", '(narrow if is_narrow(ledger.value(factor), axes) else wide).append((factor, power))', '(narrow if True else wide).append((factor, power))')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/polynomial.py", "tests/gradients/test_counts.py::test_counts[one condition twice]")
    ("condition", 'if any((condition, not wanted) in guards for condition, wanted in guards):\n        return None', 'pass')
    ("derivative", 'powers[factor] = powers.get(factor, 0) + power', 'powers[factor] = power')
    ("condition", 'if known.get((term.powers, guards)) == term.coefficient:', 'if (term.powers, guards) in known:')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/control.py", "tests/gradients/test_control.py")
    ("state", 'stored.union(*later)', 'stored')
    ("condition", 'if any(value.number in stay and value in dependence for value in (*then.yields, *otherwise.yields)):', 'if any(value.number in stay for value in (*then.yields, *otherwise.yields)):')
    ("condition", 'if stored_tensors(value) or any(each.number in found for each in used):', 'if stored_tensors(value):')
    ("index", 'if (chosen, other) in inner:', 'if False:')
)  # fmt: skip

(
    PASSES.file("tilec/tile/gradient/accumulation.py", "tests/gradients/test_control.py")
    ("derivative", 'self.ledger.add(ir.Stop(start.type, self.ledger.span, start))', 'start')
    ("derivative", 'reverse.give(loop.initial[index], terms)', 'pass')
    ("condition", 'if any(isinstance(value, ir.Load) and value.tensor in stored for value in needed):\n        return False', 'pass')
    ("condition", 'return right.number not in reached and _keeps_shape(value, left) and _adds(argument, left, reached)', 'return _keeps_shape(value, left) and _adds(argument, left, reached)')
)  # fmt: skip
