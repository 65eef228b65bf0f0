"""A kernel whose text is too long is refused as soon as that is certain: what it costs is counted in calls."""

from __future__ import annotations

import cProfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.hostile.families import FAMILIES
from tilec import driver
from tilec.diag.report import LimitReached
from tilec.loop.limits import LONGEST_TEXT
from tilec.loop.lower import frame, lower
from tilec.loop.lower.length import Length
from tilec.options import Options
from tilec.source import Source
from tilec.tile.ir import Kernel

ROOT = Path(__file__).resolve().parents[2]
FEW_LONG_ROWS = {"M": 8, "N": 1 << 20}
"""A dispatch a sweep, each of which combines what all sweeps before it left."""
FORMS = (Options(), Options(fusion=False), Options(split=1))


def built(family: str, count: int) -> Kernel:
    program = driver.parse_file(Source("chain.ph", FAMILIES[family](count))).program
    return driver.build_kernel(program, "k").kernel


def calls_until_refused(family: str, count: int, dims: Mapping[str, int] | None) -> int:
    """Calls of functions that lowering takes until it refuses the kernel."""
    kernel, plan = driver._plan(built(family, count), dims, Options())
    profile = cProfile.Profile(builtins=False)
    with pytest.raises(LimitReached, match="E0512"):
        profile.runcall(lower, kernel, plan)
    return sum(entry.callcount for entry in profile.getstats())


def test_lowering_ends_where_the_text_is_too_long() -> None:
    """With twice as many links it goes no further, though the whole would be four times as much."""
    short, long = (calls_until_refused("rowmean and rowvar", count, FEW_LONG_ROWS) for count in (18, 36))
    assert long < 1.3 * short


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Length]:
    """The lengths of all programs that are lowered."""
    found: list[Length] = []

    class Recorded(Length):
        def __init__(self, kernel: Kernel) -> None:
            super().__init__(kernel)
            found.append(self)

    monkeypatch.setattr(frame, "Length", Recorded)
    return found


FILES = [ROOT / f"tests/kernels/{name}.ph" for name in ("layout", "optimisers", "reductions", "storage")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_more_is_counted_than_is_written(path: Path, counted: list[Length]) -> None:
    """So that nothing is refused that would be short enough."""
    loaded = driver.parse_file(path)
    for name in loaded.signatures:
        for options in FORMS:
            text = driver.compile_kernel(loaded.program, name, options=options).wgsl
            assert 0 < counted[-1].characters <= len(text), name


@pytest.mark.parametrize("family", ["elementwise", "rowmean and rowvar", "nested ifs", "gradient of rowprod", "picks"])
@pytest.mark.parametrize("options", FORMS, ids=["grouped", "naive", "split"])
def test_most_is_counted_of_what_is_written(family: str, options: Options, counted: list[Length]) -> None:
    text = driver.compile_built(built(family, 6), options=options).wgsl
    assert len(text) * 0.7 < counted[-1].characters <= len(text) < LONGEST_TEXT
