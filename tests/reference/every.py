"""Every function of the library that has a gradient, in one form: the rows of both tables."""

from __future__ import annotations

from tests.reference.table import ROWS, Argument, Row
from tests.reference.training_table import LOSSES, Input, Loss

# Statistics of a batch, which torch takes as they are, and labels and limits that nothing but conditions looks at
_CONSTANT = {
    ("batch_norm", "Mean"), ("batch_norm", "Variance"), ("threshold", "bound"), ("hardshrink", "bound"),
}  # fmt: skip


def _input(row: Row, argument: Argument) -> Input:
    is_constant = (row.function, argument.name) in _CONSTANT
    return Input(argument.name, argument.kind, argument.draw, argument.value, is_constant)


def _loss(row: Row) -> Loss:
    inputs = tuple(_input(row, argument) for argument in row.arguments)
    label = row.label.removeprefix(row.function)
    return Loss(row.function, inputs, row.torch, row.result, label, row.twin, row.form)


EVERY: tuple[Loss, ...] = (*map(_loss, ROWS), *LOSSES)
