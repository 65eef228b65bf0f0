"""Runs one case that was found once, by every execution at hand."""

from __future__ import annotations

from tests.diff.harness import DEVICES, GENERAL_DEVICE, LOOPS, NAIVE_DEVICE
from tests.fuzz.attempts import Case


def replay(
    text: str,
    *,
    dtypes: dict[str, str] | None = None,
    constants: dict[str, bool | int | float] | None = None,
    roles: dict[str, str] | None = None,
    dims: dict[str, int],
    style: str = "normal",
    seed: int = 0,
) -> None:
    """Fails where an execution of kernel `run` leaves the range of right results."""
    case = Case(text, dtypes or {}, constants or {}, roles or {}, dims, style, seed)
    subject = case.subject()
    subject.check(case.data(subject), (*LOOPS, NAIVE_DEVICE, GENERAL_DEVICE, *DEVICES))
