"""Damaged programs: whatever is cut, doubled or swapped, there are diagnostics and nothing else."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.syntax.helpers import KERNEL, parse_text
from tilec.diag.render import render_all, to_json
from tilec.source import Source
from tilec.syntax.lexer import tokenize

TOKENS = tokenize(Source("kernel", KERNEL))
MOST_ERRORS = 3
"""One damage must not be reported as many."""


def check(text: str) -> int:
    _, diagnostics = parse_text(text)
    assert render_all(diagnostics).count("-->") >= len(diagnostics)
    for diagnostic in diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        assert to_json(diagnostic)["line"]
    return sum(diagnostic.severity == "error" for diagnostic in diagnostics)


def test_every_truncation() -> None:
    assert max(check(KERNEL[:length]) for length in range(len(KERNEL))) <= MOST_ERRORS


def _deleted() -> Iterator[str]:
    for token in TOKENS:
        yield KERNEL[: token.start_pos] + KERNEL[token.end_pos :]


def _doubled() -> Iterator[str]:
    for token in TOKENS:
        yield KERNEL[: token.end_pos] + " " + KERNEL[token.start_pos :]


def _swapped() -> Iterator[str]:
    for first, second in itertools.pairwise(TOKENS):
        between = KERNEL[first.end_pos : second.start_pos]
        yield f"{KERNEL[: first.start_pos]}{second} {between}{first}{KERNEL[second.end_pos :]}"


@pytest.mark.parametrize("damage", [_deleted, _doubled, _swapped])
def test_each_token(damage) -> None:
    assert max(check(text) for text in damage()) <= MOST_ERRORS


PIECES = [
    *sorted({str(token) for token in TOKENS}),
    "\n",
    "\n  ",
    "**",
    "/*",
    '"',
    "é",
    "\t",
    "1.",
    "0x",
    "///",
    "#",
    "\r\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
@settings(max_examples=300)
def test_random_words(pieces: list[str]) -> None:
    check(" ".join(pieces))


@given(st.text(max_size=80))
@settings(max_examples=300)
def test_random_text(text: str) -> None:
    check(text)


@given(st.lists(st.tuples(st.integers(0, len(KERNEL)), st.sampled_from(PIECES)), min_size=1, max_size=4))
@settings(max_examples=300)
def test_random_insertions(insertions: list[tuple[int, str]]) -> None:
    text = KERNEL
    for place, piece in insertions:
        text = text[:place] + piece + text[place:]
    check(text)


def test_two_damages_are_two_errors() -> None:
    text = KERNEL.replace("acc *= 1.0", "acc *= ").replace("fn half(x) = x / 2.0", "fn half(x) = x / / 2.0")
    assert check(text) == 2
