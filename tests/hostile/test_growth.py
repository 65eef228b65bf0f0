"""Chains in which every step uses the last one several times: text and work grow at most with the square of the length.

Work is counted in calls of functions, so that the answer does not depend on the machine.
"""

from __future__ import annotations

import cProfile
import re

import pytest

from tests.fuzz.hostile import limited
from tests.hostile.families import FAMILIES
from tilec import driver
from tilec.errors import CompileError
from tilec.options import Options
from tilec.source import Source

SHORT, LONG = 8, 24
MOST = 18
"""More than the square of three, since short chains stay below the bounds that make long ones linear. What doubles with
every step would be some 2**16."""
REFUSED = {
    "functions, each calling the last twice": "E0505",
    "constants": "E0325",
    "gradient of nested loops": "E0511",
}
"""What grows by its meaning, and the cap that ends it."""


def compiled(family: str, count: int, fusion: bool) -> tuple[int, int]:
    """Calls that compiling took, and the length of the text. The time is a guard against what never ends."""
    source = Source("chain.ph", FAMILIES[family](count))
    profile = cProfile.Profile(builtins=False)
    with limited(60.0):
        profile.enable()
        try:
            program = driver.parse_file(source).program
            text = driver.compile_kernel(program, "k", options=Options(fusion=fusion)).wgsl
        finally:
            profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), len(text)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in REFUSED])
def test_work_and_text_do_not_explode(family: str) -> None:
    compiled(family, 2, True)  # what is made once in a process
    calls, length = compiled(family, SHORT, True)
    more_calls, more_length = compiled(family, LONG, True)
    assert more_calls < MOST * calls
    assert more_length < MOST * length


@pytest.mark.parametrize("family", ["where by a column", "ifs", "picks", "ragged updates", "rowmax"])
def test_so_it_is_without_fusion(family: str) -> None:
    compiled(family, 2, False)
    calls, length = compiled(family, SHORT, False)
    more_calls, more_length = compiled(family, LONG, False)
    assert more_calls < MOST * calls
    assert more_length < MOST * length


@pytest.mark.parametrize("family", REFUSED)
def test_what_grows_faster_is_refused(family: str) -> None:
    with pytest.raises(CompileError) as caught:
        compiled(family, 40, True)
    assert set(re.findall(r"error\[(E\d+)\]", str(caught.value))) == {REFUSED[family]}
