"""Reads the texts of formulas and guards that the compiler writes, as arithmetic and nothing else.

    guard:    comparison { "&&" comparison }        comparison: sum ("==" | "!=" | "<" | "<=" | ">" | ">=") sum
    sum:      product { ("+" | "-") product }       product:    factor { ("*" | "%") factor }
    factor:   "-" factor | integer | name | function "(" sum { "," sum } ")" | "(" sum ")"
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from tilec.types import Extent, Symbol, apply

_TOKEN = re.compile(r"\s*(?:(\d{1,40})|([A-Za-z_][A-Za-z0-9_]*)|(&&|==|!=|<=|>=|[-+*%<>(),]))")
_FUNCTIONS = ("ceildiv", "div", "mod", "min", "max")
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_DEEPEST = 64
_LONGEST = 10_000
_MOST_TERMS = 1000
"""Of a product, which the compiler writes as a sum: a short text must not become a long one."""


def parse_formula(text: str, dims: Collection[str], scalars: Collection[str] = ()) -> Extent:
    """The extent that prints as `text`. `scalars` may be negative. Raises ValueError for any other text."""
    reader = _Reader(text, dims, scalars)
    result = reader.sum(0)
    reader.end()
    return result


def guard_test(guards: Sequence[str]) -> Callable[[Mapping[str, int]], bool]:
    """Whether values of dims meet all guards, as a function of them; guards are texts that `Facts` wrote.

    Raises ValueError for any other text, and the function KeyError for a name without a value.
    """
    tests = [test for guard in guards for test in _Reader(guard, None, ()).comparisons()]

    def holds(dims: Mapping[str, int]) -> bool:
        return all(compare(left.evaluate(dims), right.evaluate(dims)) for left, compare, right in tests)

    return holds


class _Reader:
    """One text from left to right. `dims` None: every name is a dim."""

    def __init__(self, text: str, dims: Collection[str] | None, scalars: Collection[str]) -> None:
        if len(text) > _LONGEST:
            raise ValueError("a formula of more than 10,000 characters")
        self._dims = dims
        self._scalars = scalars
        self._tokens: list[str] = []
        end = 0
        while text[end:].strip():
            match = _TOKEN.match(text, end)
            if match is None:
                raise ValueError(f"no formula: {text[:80]!r}")
            self._tokens.append(match.group().strip())
            end = match.end()
        self._next = 0

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._next += 1
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(f"{token!r} is missing in a formula")

    def end(self) -> None:
        """Raises ValueError if something is left."""
        if self._peek():
            raise ValueError(f"{self._peek()!r} does not belong into a formula")

    def comparisons(self) -> list[tuple[Extent, Callable[[int, int], bool], Extent]]:
        found = [self._comparison()]
        while self._peek() == "&&":
            self._take()
            found.append(self._comparison())
        self.end()
        return found

    def _comparison(self) -> tuple[Extent, Callable[[int, int], bool], Extent]:
        left = self.sum(0)
        compare = _COMPARISONS.get(self._take())
        if compare is None:
            raise ValueError("a guard compares")
        return left, compare, self.sum(0)

    def sum(self, depth: int) -> Extent:
        total = self._product(depth)
        while self._peek() in ("+", "-"):
            is_added = self._take() == "+"
            term = self._product(depth)
            total = total + term if is_added else total - term
        return total

    def _product(self, depth: int) -> Extent:
        result = self._factor(depth)
        while self._peek() in ("*", "%"):
            is_product = self._take() == "*"
            factor = self._factor(depth)
            if len(result.terms) * len(factor.terms) > _MOST_TERMS:
                raise ValueError("a product of too many terms")
            result = result * factor if is_product else apply("mod", result, factor)
        return result

    def _factor(self, depth: int) -> Extent:
        if depth > _DEEPEST:
            raise ValueError("a formula is nested too deep")
        token = self._take()
        if token == "-":
            return -self._factor(depth + 1)
        if token == "(":
            inner = self.sum(depth + 1)
            self._expect(")")
            return inner
        if token.isdecimal():
            return Extent.of(int(token))
        if token in _FUNCTIONS and self._peek() == "(":
            return self._call(token, depth)
        if not token.isidentifier():
            raise ValueError(f"{token!r} does not belong into a formula")
        return Extent.of(self._symbol(token))

    def _call(self, function: str, depth: int) -> Extent:
        self._take()
        arguments = [self.sum(depth + 1)]
        while self._peek() == ",":
            self._take()
            arguments.append(self.sum(depth + 1))
        self._expect(")")
        if len(arguments) != 2:
            raise ValueError(f"{function} takes two arguments")
        return apply(function, *arguments)

    def _symbol(self, name: str) -> Symbol:
        if self._dims is None or name in self._dims:
            return Symbol(name, "dim")
        if name not in self._scalars:
            raise ValueError(f"no size is called {name}")
        return Symbol(name, "scalar", nonnegative=False)
