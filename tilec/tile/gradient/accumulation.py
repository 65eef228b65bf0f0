"""Loops that only add to sums: their derivative is a loop of the same rounds."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.depend import Dependence


def is_accumulation(control: ir.Value, dependence: Dependence) -> bool:
    """Whether the loop's rounds add to what it carries, as far as that depends on `x`, and do nothing else with it."""
    return False
