"""Every row has every column, a reference of the right types, and a page that shows it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tilec.ops import (
    POINTWISE,
    REDUCTIONS,
    RULES,
    Helper,
    Infix,
    Operand,
    PointwiseOp,
    Signature,
    TypeRuleError,
    apply_rule,
)
from tilec.ops.document import operations_page
from tilec.ops.reference import (
    NUMPY_DTYPES,
    REDUCE_REFERENCE,
    REFERENCE,
    WIDE,
    bf16_bits,
    bf16_from_bits,
    evaluate,
    reduce,
)
from tilec.types import DType
from tilec.wgsl.helpers import HELPERS, helper_closure

F32, I32, U32, BOOL = COMPUTE = (DType.F32, DType.I32, DType.U32, DType.BOOL)


def signatures(row):
    """All that the row's rule accepts, by the operands' dtypes."""
    for dtypes in itertools.product(COMPUTE, repeat=row.arity if isinstance(row, PointwiseOp) else 1):
        try:
            yield apply_rule(row.rule, [Operand(dtype) for dtype in dtypes])
        except TypeRuleError:
            continue


@pytest.mark.parametrize("row", POINTWISE.values(), ids=POINTWISE)
def test_columns_are_filled(row):
    assert POINTWISE[row.name] is row
    assert row.rule in RULES
    assert row.special in ("guarded", "hardware")
    assert len(row.derivative) == len(row.domain) == row.arity
    assert row.doc.endswith(".")
    assert row.bound.source
    assert all(domain.low < domain.high for domain in row.domain)
    assert not row.commutes or row.arity == 2
    assert set(row.wgsl) <= set(COMPUTE)
    for form in row.wgsl.values():
        if isinstance(form, Helper):
            assert form.name in HELPERS
        if isinstance(form, Infix):
            assert row.arity <= 2


@pytest.mark.parametrize("row", POINTWISE.values(), ids=POINTWISE)
def test_the_rule_has_a_form_and_a_reference_for_what_it_accepts(row):
    found = list(signatures(row))
    assert found
    for signature in found:
        key = signature.operands[1] if row.rule == "where" else signature.operands[0]
        assert key in row.wgsl
        again = apply_rule(row.rule, [Operand(dtype) for dtype in signature.operands])
        assert again == signature, "converted operands are their own conversion"
        result = evaluate(row.name, *(np.ones(3, NUMPY_DTYPES[dtype]) for dtype in signature.operands))
        assert result.dtype == NUMPY_DTYPES[signature.result]
        assert result.shape == (3,)


@pytest.mark.parametrize("row", [row for row in POINTWISE.values() if row.commutes], ids=lambda row: row.name)
def test_operands_of_what_commutes_may_change_places(row):
    for signature in signatures(row):
        left, right = signature.operands
        assert left is right
        some = np.array([0, 1, 2, 1], NUMPY_DTYPES[left]), np.array([1, 0, 2, 3], NUMPY_DTYPES[left])
        np.testing.assert_array_equal(evaluate(row.name, *some), evaluate(row.name, *some[::-1]))


def test_forms_are_only_for_what_the_rule_accepts():
    for row in POINTWISE.values():
        keys = {each.operands[1] if row.rule == "where" else each.operands[0] for each in signatures(row)}
        assert set(row.wgsl) == keys, row.name


def test_references_and_rows_are_the_same_set():
    assert set(REFERENCE) == set(POINTWISE)
    assert set(WIDE) <= set(REFERENCE)
    assert set(REDUCE_REFERENCE) == set(REDUCTIONS)


@pytest.mark.parametrize("row", REDUCTIONS.values(), ids=REDUCTIONS)
def test_reductions(row):
    assert row.rule in RULES
    assert row.combine in POINTWISE
    assert row.state in ("plain", "best", "shifted")
    assert row.doc.endswith(".")
    for signature in signatures(row):
        (dtype,) = signature.operands
        none = reduce(row.name, np.ones((2, 3), NUMPY_DTYPES[dtype]), np.zeros((2, 3), np.bool_), (1,))
        assert none.shape == (2, 1)
        assert none.dtype == NUMPY_DTYPES[signature.result]
        assert (none == row.identity[dtype]).all()
        empty = reduce(row.name, np.ones((2, 0), NUMPY_DTYPES[dtype]), np.ones((2, 0), np.bool_), (1,))
        assert (empty == row.identity[dtype]).all()
        values = np.arange(4).astype(NUMPY_DTYPES[dtype])[None, :, None]
        mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], np.bool_)[:, :, None]
        broad = reduce(row.name, values, mask, (1,))
        whole = reduce(row.name, np.broadcast_to(values, mask.shape), mask, (1,))
        np.testing.assert_array_equal(broad, whole, "a mask may be broader than the values")
    assert {signature.operands[0] for signature in signatures(row)} == set(row.identity)


def test_helpers_stand_alone_and_in_order():
    for name, (text, needs) in HELPERS.items():
        assert f"fn {name}(" in text
        for other in HELPERS:
            assert (f"{other}(" in text.replace(f"fn {name}(", "")) == (other in needs) or _is_inside(other, text), name
        texts = helper_closure([name])
        assert texts[-1] == text
        assert len(texts) == len(set(texts))


def _is_inside(name, text):
    """Whether the name occurs only as the end of a longer one."""
    return all(before[-1:].isalnum() or before.endswith("_") for before in text.split(f"{name}(")[:-1])


def test_the_page_is_current():
    page = Path(__file__).parents[2] / "docs" / "ops.md"
    assert page.read_text(encoding="utf-8") == operations_page(), "python -m tilec.ops.document > docs/ops.md"


WEAK = Operand(I32, True)


@pytest.mark.parametrize(
    ("rule", "operands", "expected"),
    [
        ("arithmetic", [Operand(BOOL), Operand(BOOL)], Signature((I32, I32), I32)),
        ("arithmetic", [Operand(BOOL), Operand(F32)], Signature((F32, F32), F32)),
        ("arithmetic", [WEAK, WEAK], Signature((I32, I32), I32, True)),
        ("arithmetic", [WEAK, Operand(U32)], Signature((U32, U32), U32)),
        ("arithmetic", [Operand(F32), WEAK], Signature((F32, F32), F32)),
        ("arithmetic", [WEAK, Operand(BOOL)], Signature((I32, I32), I32)),
        ("signed", [WEAK], Signature((I32,), I32, True)),
        ("float", [Operand(I32)], Signature((F32,), F32)),
        ("float_division", [WEAK, Operand(F32)], Signature((F32, F32), F32)),
        ("integer", [WEAK, Operand(U32)], Signature((U32, U32), U32)),
        ("comparison", [WEAK, Operand(F32)], Signature((F32, F32), BOOL)),
        ("comparison", [Operand(BOOL), Operand(BOOL)], Signature((I32, I32), BOOL)),
        ("equality", [Operand(BOOL), Operand(BOOL)], Signature((BOOL, BOOL), BOOL)),
        ("equality", [Operand(BOOL), WEAK], Signature((I32, I32), BOOL)),
        ("where", [Operand(BOOL), WEAK, Operand(F32)], Signature((BOOL, F32, F32), F32)),
        ("where", [Operand(BOOL), WEAK, WEAK], Signature((BOOL, I32, I32), I32, True)),
        ("where", [Operand(BOOL), Operand(BOOL), Operand(BOOL)], Signature((BOOL, BOOL, BOOL), BOOL)),
        ("to_i32", [Operand(F32)], Signature((F32,), I32)),
        ("sum", [Operand(BOOL)], Signature((I32,), I32)),
        ("index", [Operand(F32)], Signature((F32,), I32)),
    ],
)
def test_rules_convert(rule, operands, expected):
    assert apply_rule(rule, operands) == expected


@pytest.mark.parametrize(
    ("rule", "operands", "reason", "positions"),
    [
        ("arithmetic", [Operand(I32), Operand(U32)], "mixed", (0, 1)),
        ("arithmetic", [Operand(U32), Operand(F32)], "mixed", (1, 0)),
        ("comparison", [Operand(U32), Operand(BOOL)], "mixed", (1, 0)),
        ("where", [Operand(BOOL), Operand(I32), Operand(U32)], "mixed", (1, 2)),
        ("signed", [Operand(U32)], "float_or_signed", (0,)),
        ("float", [Operand(U32)], "mixed", (0,)),
        ("float_division", [WEAK, Operand(I32)], "division", (0, 1)),
        ("integer", [Operand(I32), Operand(F32)], "integer", (1,)),
        ("logical", [Operand(BOOL), Operand(I32)], "bool", (1,)),
        ("where", [Operand(F32), Operand(F32), Operand(F32)], "bool", (0,)),
    ],
)
def test_rules_refuse(rule, operands, reason, positions):
    with pytest.raises(TypeRuleError) as caught:
        apply_rule(rule, operands)
    assert caught.value.reason == reason
    assert caught.value.positions == positions
    assert str(caught.value)


def test_a_nan_stays_one_in_bf16() -> None:
    """Also one whose payload is in the bits that are cut off."""
    words = np.array([0x7F800001, 0xFF800001, 0x7FC00000, 0x7F80FFFF], np.uint32)
    assert np.isnan(bf16_from_bits(bf16_bits(words.view(np.float32)))).all()
