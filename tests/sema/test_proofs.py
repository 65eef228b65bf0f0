"""Proofs are sound: whatever is claimed holds for every value that is tried."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tilec.sema.proofs import is_nonnegative, largest, least
from tilec.tile.wrapping import stays
from tilec.types import Apply, Extent, Opaque, Symbol, apply, element_count

V, M = Symbol("V", "dim"), Symbol("M", "dim")
N = Symbol("n", "scalar", nonnegative=False)
K, L = Opaque(1, None), Opaque(2, None, nonnegative=True)
ATOMS = [V, M, N, K, L]
RANGES = {K: (Extent.of(-2), Extent.of(N) + 3), L: (Extent.of(0), Extent.of(V) - 1)}


def leaves() -> st.SearchStrategy[Extent]:
    return st.sampled_from(ATOMS).map(Extent.of) | st.integers(-9, 9).map(Extent.of)


def grown(inner: st.SearchStrategy[Extent]) -> st.SearchStrategy[Extent]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda pair: pair[0] + pair[1]),
        two.map(lambda pair: pair[0] - pair[1]),
        st.tuples(inner, st.integers(-4, 4)).map(lambda pair: pair[0] * pair[1]),
        st.tuples(st.sampled_from(["min", "max"]), two).map(lambda drawn: apply(drawn[0], *drawn[1])),
        st.tuples(st.sampled_from(["div", "ceildiv", "mod"]), inner, st.integers(1, 5)).map(
            lambda drawn: apply(drawn[0], drawn[1], Extent.of(drawn[2]))
        ),
    )


EXTENTS = st.recursive(leaves(), grown, max_leaves=8)


def value(extent: Extent, known: dict) -> int:
    result = extent.substitute(lambda atom: Extent.of(known[atom]) if atom in known else None).constant
    assert result is not None
    return result


@settings(max_examples=300, deadline=None)
@given(EXTENTS, st.data())
def test_proofs_hold(extent: Extent, data: st.DataObject):
    claims = [(extent, is_nonnegative(extent, RANGES)), (-extent, is_nonnegative(-extent, RANGES))]
    low, high = least(extent, RANGES), largest(extent, RANGES)
    for _ in range(20):
        known = {V: data.draw(st.integers(0, 12)), M: data.draw(st.integers(0, 12)), N: data.draw(st.integers(-9, 9))}
        if known[V] < 1 or known[N] + 3 < -2:
            continue  # a loop that makes no round
        known[K] = data.draw(st.integers(-2, known[N] + 3))
        known[L] = data.draw(st.integers(0, known[V] - 1))
        for claimed, is_proved in claims:
            assert not is_proved or value(claimed, known) >= 0
        assert value(low, known) <= value(extent, known) <= value(high, known)


def test_what_the_language_needs_is_proved():
    v, m, i = Extent.of(V), Extent.of(M), Extent.of(L)
    half = apply("div", v, Extent.of(2))
    for extent in (
        v - half - half,
        v - i - 1,
        m - apply("min", m, v),
        apply("max", m, v) - m,
        apply("ceildiv", v, Extent.of(8)) * 8 - v,
        Extent.of(7) - apply("mod", v, Extent.of(8)),
        v * m - half * m,
    ):
        assert is_nonnegative(extent, RANGES), str(extent)
    for extent in (v - m, v - 1, half * 2 - v, Extent.of(N)):
        assert not is_nonnegative(extent, RANGES), str(extent)


def test_bounds_are_proved_to_the_last_one_and_no_further():
    v, m, i = Extent.of(V), Extent.of(M), Extent.of(L)
    eight = Extent.of(8)
    for extent in (
        Extent.of(7) - apply("mod", v, eight),
        apply("div", v, eight) * 8 - v + 7,
        v + 7 - apply("ceildiv", v, eight) * 8,
        v - apply("div", v, eight) * 8,
        v - i - 1,
        apply("max", m + 1, v) - m - 1,
        m - apply("min", m, v),
    ):
        assert is_nonnegative(extent, RANGES), str(extent)
        assert not is_nonnegative(extent - 1, RANGES), str(extent - 1)


def test_a_negative_extent_counts_no_element():
    """Two of them neither: their product is positive."""
    m, n = Extent.of(M), Extent.of(N)
    count = element_count([m - 3, n - 5])
    for rows, columns in (0, 0), (1, 4), (3, 6), (1, 7), (5, 2), (5, 8):
        assert count.evaluate({"M": rows, "n": columns}) == max(rows - 3, 0) * max(columns - 5, 0)
    assert element_count([m, Extent.of(V) + 2]) == m * (Extent.of(V) + 2)


def test_the_smaller_and_the_larger_are_told_by_proof():
    m = Extent.of(M)
    for pair in ((m, m + 2), (m + 2, m)):
        assert apply("min", *pair) == m
        assert apply("max", *pair) == m + 2


# --- formulas of i32s that wrap

HUGE = st.sampled_from([-(2**31), -(2**31) + 1, -(2**30), -9, -1, 0, 1, 9, 2**30, 2**31 - 9, 2**31 - 1])


def parts(extent: Extent) -> list[Extent]:
    """The extent and all that it applies functions to."""
    inner = [argument for monomial, _ in extent.terms for atom in monomial if isinstance(atom, Apply)
             for argument in atom.arguments]  # fmt: skip
    return [extent, *(part for argument in inner for part in parts(argument))]


@settings(max_examples=500, deadline=None)
@given(EXTENTS, st.data())
def test_what_is_claimed_to_stay_never_leaves_i32(extent: Extent, data: st.DataObject):
    if not stays(extent, {}):
        return
    for _ in range(10):
        known = {
            V: data.draw(st.integers(0, 9)),
            M: data.draw(st.integers(0, 9)),
            N: data.draw(HUGE),
            K: data.draw(HUGE),
        }
        known[L] = max(0, data.draw(HUGE))
        for part in parts(extent):
            assert -(2**31) <= value(part, known) < 2**31, str(part)


def test_what_stays_and_what_may_wrap():
    n, v, i, zero = Extent.of(N), Extent.of(V), Extent.of(L), Extent.of(0)
    positive = apply("max", n, zero)
    for extent in (v * 8 + 16, n, positive, positive - 1, v - positive, apply("min", positive, v) * 2 + 3,
                   apply("mod", n, Extent.of(8)) + 8, apply("div", n, Extent.of(3)), i - 4):  # fmt: skip
        assert stays(extent, {}), str(extent)
    for extent in (n + 1, n - 1, -n, positive + 1, positive * 2, v - positive - 8, n * v, n + positive, i + 8,
                   apply("mod", positive + 16, Extent.of(8)), apply("max", positive + 16, Extent.of(3))):  # fmt: skip
        assert not stays(extent, {}), str(extent)
    for difference in (positive - i, i - positive):  # of two that have no bound above: it has none on either side
        assert not stays(apply("min", difference, Extent.of(5)) - 9, {})
        assert not stays(apply("max", difference, Extent.of(5)) + 9, {})
    assert stays(i * 8 + 8, {L: (zero, v - 1)})  # a loop over a dim
    assert not stays(i * 8, {L: (zero, n - 1)})


def test_functions_of_scalars_get_what_a_kernel_computes():
    n = Extent.of(N)
    total = apply("max", n, Extent.of(0)) + 16
    for function, other, expected in (("div", 2**29, -3), ("ceildiv", 2**29, -3), ("mod", 8, -1), ("max", 3, 3)):
        extent = apply(function, total, Extent.of(other))
        assert extent.evaluate({"n": 2**31 - 1}) == expected  # of -2**31 + 15
    assert apply("div", Extent.of(V) * Extent.of(M), Extent.of(2)).evaluate({"V": 2**16, "M": 2**16}) == 2**31
