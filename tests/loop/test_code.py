"""The code under construction: what it makes of barriers."""

from __future__ import annotations

import pytest

from tests.plan.test_mapping import row_sums
from tilec.loop import ir
from tilec.loop.lower.code import Code
from tilec.loop.lower.length import Length
from tilec.types import DType

BARRIERS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.mark.parametrize(("first", "second"), BARRIERS)
def test_of_two_barriers_one_is_left_that_orders_what_either_did(first, second):
    code = Code(Length(row_sums()))
    code.emit(ir.Barrier(first))
    with code.when(None):
        code.emit(ir.Barrier(second))
    (barrier,) = code.statements
    assert isinstance(barrier, ir.Barrier)
    assert barrier.storage == (first or second)


def test_barriers_with_something_between_them_stay():
    code = Code(Length(row_sums()))
    code.emit(ir.Barrier(True))
    code.declare("sum", ir.Const(DType.F32, 0.0))
    code.emit(ir.Barrier(False))
    assert [type(each) for each in code.statements] == [ir.Barrier, ir.Declare, ir.Barrier]
