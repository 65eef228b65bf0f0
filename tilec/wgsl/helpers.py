"""The helper functions of emitted code by name, and which of them a set of names needs."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.wgsl.helpers_functions import FUNCTION_HELPERS
from tilec.wgsl.helpers_numbers import NUMBER_HELPERS
from tilec.wgsl.helpers_packing import PACKING_HELPERS
from tilec.wgsl.trusted import trusted_helpers

HELPERS: dict[str, tuple[str, tuple[str, ...]]] = {**NUMBER_HELPERS, **PACKING_HELPERS, **FUNCTION_HELPERS}
"""By name: the text of one WGSL function of that name, and the names of the helpers that it calls."""


def helper_closure(names: Iterable[str], trusted: tuple[str, ...] = ()) -> list[str]:
    """The texts of the named helpers and of all that they call, each once, called ones first."""
    simple = trusted_helpers(trusted)
    order: dict[str, str] = {}

    def visit(name: str) -> None:
        if name not in order:
            text, needs = (simple[name], ()) if name in simple else HELPERS[name]
            for needed in needs:
                visit(needed)
            order[name] = text

    for name in sorted(names):
        visit(name)
    return list(order.values())
