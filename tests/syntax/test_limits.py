"""Depth, length and size: what is accepted, and located errors beyond. Nothing overflows."""

import pytest

from tests.syntax.helpers import codes, parse_clean, places
from tilec.syntax.parse import MAXIMUM_SIZE


def in_kernel(text: str) -> str:
    return f"kernel k() {{\n{text}\n}}"


NESTED = {
    "parentheses": lambda count: "x = " + "(" * count + "1" + ")" * count,
    "calls": lambda count: "x = " + "f(" * count + "1" + ")" * count,
    "subscripts": lambda count: "x = " + "A[" * count + "1" + "]" * count,
    "minuses": lambda count: "x = " + "-" * count + "1",
    "negations": lambda count: "x = " + "! " * count + "y",
    "mixed": lambda count: "x = " + "-(" * (count // 2) + "1" + ")" * (count // 2),
    "fills": lambda count: "x = " + "A[0] else " * count + "1",
    "ifs": lambda count: "if a {\n" * count + "x = f(-(1))\n" + "}\n" * count,
    "whiles": lambda count: "while a { " * count + "}" * count,
    "else ifs": lambda count: "if a { }" + " else if a { }" * (count - 1),
}


@pytest.mark.parametrize("kind", NESTED)
def test_64_levels_are_accepted(kind: str) -> None:
    parse_clean(in_kernel(NESTED[kind](64)))


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("count", [66, 1000, 10_000])
def test_beyond_is_one_error(kind: str, count: int) -> None:
    assert codes(in_kernel(NESTED[kind](count))) == ["E0501"]


@pytest.mark.parametrize("opening", ["(", "[", "f(", "-", "if a {\n", "A[0] else "])
def test_unclosed_nesting(opening: str) -> None:
    assert "E0501" in codes(in_kernel("x = " + opening * 10_000))


def test_the_place_is_the_level_that_is_too_deep() -> None:
    assert places(in_kernel("x = " + "(" * 70 + "1" + ")" * 70)) == [f"E0501 2:{4 + 65}"]


@pytest.mark.parametrize(
    ("piece", "code"),
    [(" + 1.0", "E0503"), ("[:]", "E0503"), (".b", "E0503"), (" * x", "E0503"), (" && x", "E0503")],
)
def test_long_chains(piece: str, code: str) -> None:
    parse_clean(in_kernel("x = a" + piece * 200))
    assert codes(in_kernel("x = a" + piece * 300)) == [code]
    assert codes(in_kernel("x = a" + piece * 20_000)) == [code]


def test_a_long_flat_expression_is_accepted() -> None:
    parse_clean(in_kernel("x = f(" + "a * b + c, " * 2000 + ")"))


def test_statements() -> None:
    parse_clean(in_kernel("x = 1\n" * 4096))
    assert places(in_kernel("x = 1\n" * 4097)) == ["E0504 4098:1"]


def test_size() -> None:
    parse_clean("//" + "x" * (MAXIMUM_SIZE - 2))
    assert codes("//" + "x" * (MAXIMUM_SIZE - 1)) == ["E0502"]


@pytest.mark.parametrize(
    "text", ["(", "]", "{", "}", "x\n", "-", '"', "@", "/*", "let ", "kernel ", "1.", "\u00fc ", "\0"]
)
def test_repeated_pieces(text: str) -> None:
    """At most 100 diagnostics, and no exception."""
    assert 1 <= len(codes(text * 20_000)) <= 100


def test_a_number_of_many_digits() -> None:
    assert codes(in_kernel("x = " + "7" * 100_000)) == ["E0325"]
    parse_clean(in_kernel("x = 0." + "7" * 100_000))


def test_a_chain_of_comparisons_takes_linear_time() -> None:
    assert codes(in_kernel("x = " + " < ".join("a" * 20_000))) == ["E0111"]
