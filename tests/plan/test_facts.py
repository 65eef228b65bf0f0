"""What is known of sizes: a variant's guards hold for those sizes, and only those, that are answered alike."""

from __future__ import annotations

import pytest

from tilec.facts import Facts
from tilec.runtime.formulas import guard_test
from tilec.types import Extent, Symbol

M, V = (Extent.of(Symbol(name, "dim")) for name in "MV")
QUESTIONS = {
    "a value": lambda facts, extent: facts.value(extent),
    "whether it divides": lambda facts, extent: facts.divides(4, extent),
    "a bound": lambda facts, extent: facts.at_most(extent, 9),
    "a class": lambda facts, extent: facts.size_class(extent, (3, 8, 15)),
    "the only class": lambda facts, extent: facts.size_class(extent, ()),
}


@pytest.mark.parametrize("extent", [V, V * M, V + 3, V * 2 - M], ids=str)
@pytest.mark.parametrize("question", QUESTIONS)
def test_guards_hold_for_what_is_answered_alike(question, extent):
    ask = QUESTIONS[question]
    answers = [(facts := Facts(sizes), ask(facts, extent), sizes) for sizes in ({"M": 3, "V": v} for v in range(20))]
    for facts, answer, _ in answers:
        holds = guard_test(facts.guards)
        for _, other, sizes in answers:
            assert holds(sizes) == (other == answer), (facts.guards, sizes)


@pytest.mark.parametrize("question", QUESTIONS)
def test_of_sizes_that_are_not_given_nothing_is_known_and_nothing_assumed(question):
    facts = Facts({"M": 3})
    assert not QUESTIONS[question](facts, M * V)
    assert facts.guards == []
    assert facts.divides(4, V * 8)
    assert facts.guards == []
