"""Copies of regions."""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.rewrite import Rewriter


class Copier(Rewriter):
    """Copies regions: every instruction of a copy is new, and so are the arguments of its loops."""

    def __init__(self) -> None:
        super().__init__(lambda rewriter, value: None)

    def copied(self, region: ir.Region) -> ir.Region:
        """A copy of the region, with what `replace` said put in."""
        copy = self.region(region)
        return ir.Region(list(copy.body), copy.yields)

    def _rebuilt(self, value: ir.Value) -> ir.Value:
        if isinstance(value, ir.For):
            index = replace(value.index)
            index.name = f"{value.index.name.split('.')[0]}.{index.number}"
            self.replace(value.index, index)
            return replace(super()._rebuilt(value), index=index)
        new = super()._rebuilt(value)
        return replace(new) if new is value else new

    def _argument(self, argument: ir.Argument) -> ir.Argument:
        new = super()._argument(argument)
        if new is argument:
            new = replace(argument)
            self.replace(argument, new)
        return new
