"""What is known of symbols at compile time. Every question is recorded: the answers are a variant's guards."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.types import Extent, Symbol


class Facts:
    """Answers from given values of dims (just in time: all; ahead of time: none or some).

    A question about an extent with a symbol of no given value is answered "not known" (None or False); then nothing is
    recorded, since code that assumes nothing is right for every value.
    """

    def __init__(self, values: Mapping[str, int] | None = None) -> None:
        self._values = dict(values or {})
        self.guards: list[str] = []
        """What the compiled variant relies on, as text in dims, such as `V % 4 == 0`; in order of asking, no
        repeats."""

    def _evaluate(self, extent: Extent) -> int | None:
        try:
            return extent.evaluate(self._values)
        except KeyError:
            return None

    def _record(self, guard: str) -> None:
        if guard not in self.guards:
            self.guards.append(guard)

    def value(self, extent: Extent) -> int | None:
        """The extent's value if known. Recorded as `extent == value` unless it is a literal."""
        if extent.constant is not None:
            return extent.constant
        value = self._evaluate(extent)
        if value is not None:
            self._record(f"{extent} == {value}")
        return value

    def divides(self, divisor: int, extent: Extent) -> bool:
        """Whether `divisor` is known to divide the extent."""
        if all(factor % divisor == 0 for _, factor in extent.terms):
            return True
        value = self._evaluate(extent)
        if value is None:
            return False
        answer = value % divisor == 0
        text = str(extent) if len(extent.terms) == 1 else f"({extent})"
        self._record(f"{text} % {divisor} {'==' if answer else '!='} 0")
        return answer

    def at_most(self, extent: Extent, limit: int) -> bool:
        """Whether the extent is known to be at most `limit`."""
        if extent.constant is not None:
            return extent.constant <= limit
        value = self._evaluate(extent)
        if value is None:
            return False
        answer = value <= limit
        self._record(f"{extent} {'<=' if answer else '>'} {limit}")
        return answer

    def size_class(self, extent: Extent, bounds: tuple[int, ...]) -> int | None:
        """The number of `bounds` (ascending) that the extent exceeds, or None. One guard per class, not per value."""
        value = extent.constant if extent.constant is not None else self._evaluate(extent)
        if value is None:
            return None
        index = sum(value > bound for bound in bounds)
        if extent.constant is None and bounds:
            low = f"{extent} > {bounds[index - 1]}" if index else ""
            high = f"{extent} <= {bounds[index]}" if index < len(bounds) else ""
            self._record(" && ".join(filter(None, (low, high))))
        return index


def known_symbols(extent: Extent) -> set[str]:
    """Names of the dims in an extent."""
    return {atom.name for atom in extent.atoms if isinstance(atom, Symbol)}
