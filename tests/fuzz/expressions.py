"""Well-typed expressions of a type and a mask. Every float stays far from overflow unless its inputs are special."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.fuzz.forms import (
    AXIS_REDUCTIONS,
    BINARY,
    FLOAT_LITERALS,
    INTEGER_LITERALS,
    LIMIT,
    ROW_REDUCTIONS,
    TOTALS,
    UNARY,
    WHOLE_ROWS,
)
from tests.fuzz.parts import Chooser, Expr, Mask, Space, Variable, joined, padded

if TYPE_CHECKING:
    from tests.fuzz.reads import Reads


class Expressions:
    """Draws expressions over a space, from variables in scope and tensors that it may read."""

    def __init__(self, choose: Chooser, reads: Reads) -> None:
        self._choose = choose
        self._reads = reads
        self.variables: list[Variable] = []
        self.space: Space = Space(())
        # How many operations the program still has room for
        self.budget = 40
        # Inside a function: the only values are its parameters
        self.is_closed = False

    def expr(self, dtype: str, mask: Mask, depth: int) -> Expr:
        """Of the dtype, of a mask that broadcasts to `mask` exactly when padded."""
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self._leaf(dtype, mask)
        match dtype:
            case "f32":
                return self._float(mask, depth)
            case "i32":
                return self._integer(mask, depth)
            case "u32":
                return self._unsigned(mask, depth)
            case _:
                return self._bool(mask, depth)

    def tame(self, value: Expr) -> Expr:
        """The value, brought back to a moderate size."""
        if value.dtype != "f32" or value.size <= LIMIT:
            return value
        if self._choose.flag(50):
            return Expr(f"tanh({value.text})", "f32", value.mask, 1.0)
        return Expr(f"clamp({value.text}, -1000.0, 1000.0)", "f32", value.mask, 1000.0)

    # --- leaves ----------------------------------------------------------------------------------------------

    def _leaf(self, dtype: str, mask: Mask) -> Expr:
        rank = self.space.rank
        fitting = [
            variable
            for variable in self.variables
            if variable.value.dtype == dtype and self._fits(variable, mask, rank)
        ]
        if fitting and self._choose.flag(60):
            variable = fitting[-1 - self._choose.integer(0, min(len(fitting) - 1, 3))]
            return Expr(variable.name, dtype, variable.value.mask, variable.value.size)
        if self.is_closed:
            return self._closed_leaf(dtype, mask)
        if any(mask):
            if dtype == "i32" and self._choose.flag(25):
                return self._iota(mask)
            return self.tame(self._reads.tile(dtype, mask, self.space))
        return self._scalar_leaf(dtype)

    def _closed_leaf(self, dtype: str, mask: Mask) -> Expr:
        """Made of a parameter if one has the mask, else a number."""
        rank = self.space.rank
        for variable in self.variables:
            own = variable.value
            if any(mask) and own.dtype == "f32" and padded(own.mask, rank) == padded(mask, rank):
                forms = {"f32": "{x}", "i32": "i32(clamp({x}, -99.0, 99.0))", "bool": "({x} > 0.25)"}
                text = forms.get(dtype, "u32(abs(clamp({x}, -99.0, 99.0)))").format(x=variable.name)
                return Expr(text, dtype, own.mask, own.size)
        literals = {"f32": FLOAT_LITERALS, "i32": INTEGER_LITERALS, "bool": ["true", "false"]}
        text = self._choose.one_of(literals.get(dtype, ["u32(3)"]))
        return Expr(text, dtype, (), 128.0)

    def _fits(self, variable: Variable, mask: Mask, rank: int) -> bool:
        own = variable.value.mask
        if len(own) > rank or padded(own, rank) != padded(mask, rank):
            return False
        # Variables of an outer space have its extents: they fit where those axes are the same.
        if not variable.axes:
            return True
        return all(
            not has or (there.extent, there.span) == (here.extent, here.span)
            for has, there, here in zip(padded(own, rank), variable.axes, self.space.axes, strict=True)
        )

    def _iota(self, mask: Mask) -> Expr:
        """Indices along one of the mask's axes; a tile of the mask gives them their rank."""
        mask = padded(mask, self.space.rank)
        at = self._choose.one_of([at for at, has in enumerate(mask) if has][::-1])
        if at == len(mask) - 1 and sum(mask) == 1:
            return Expr(f"iota({at}, {self.space.axes[at].extent})", "i32", mask, 1e3)
        other = self._reads.tile("i32", mask, self.space)
        own_axis = at - (len(mask) - len(other.mask))  # the read may leave leading axes out
        if own_axis < 0 or not other.mask:
            return other
        return Expr(f"(iota({own_axis}, {self.space.axes[at].extent}) + {other.text})", "i32", other.mask, 1e3)

    def _scalar_leaf(self, dtype: str) -> Expr:
        choose = self._choose
        if choose.flag(40):
            found = self._reads.scalar(dtype, self.space)
            if found is not None:
                return found
        match dtype:
            case "f32":
                text = choose.one_of(FLOAT_LITERALS)
                return Expr(text, "f32", (), abs(float(text)))
            case "i32":
                return Expr(choose.one_of(INTEGER_LITERALS), "i32", (), 128)
            case "u32":
                return Expr(f"u32({choose.integer(0, 9)})", "u32", (), 9)
            case _:
                return Expr(choose.one_of(["true", "false"]), "bool")

    # --- floats ----------------------------------------------------------------------------------------------

    def _float(self, mask: Mask, depth: int) -> Expr:
        forms: list[Callable[[Mask, int], Expr]] = [self._unary, self._binary, self._binary, self._select]
        if self.space.rank:
            forms += [self._reduced, self._reduced]
        if len(mask) == self.space.rank and mask and mask[-1] and self.space.axes[-1].extent:
            forms.append(self._whole_row)
        forms += [self._converted, self._picked]
        return self._choose.one_of(forms)(mask, depth)

    def _unary(self, mask: Mask, depth: int) -> Expr:
        template, size = UNARY[self._choose.one_of(list(UNARY))]
        x = self.tame(self.expr("f32", mask, depth - 1))
        return Expr(template.format(x=x.text), "f32", x.mask, size(x.size))

    def _pair(self, dtype: str, mask: Mask, depth: int) -> tuple[Expr, Expr]:
        """Two operands whose broadcast has the mask; one of them may be smaller."""
        first = self.tame(self.expr(dtype, mask, depth - 1))
        other = self._smaller(mask) if self._choose.flag(50) else mask
        second = self.tame(self.expr(dtype, other, depth - 1))
        return (first, second) if self._choose.flag(70) else (second, first)

    def _smaller(self, mask: Mask) -> Mask:
        """Some of the mask's axes; perhaps a scalar."""
        part = tuple(has and self._choose.flag(50) for has in mask)
        return part if any(part) else ()

    def _binary(self, mask: Mask, depth: int) -> Expr:
        template, size = self._choose.one_of(BINARY)
        x, y = self._pair("f32", mask, depth)
        return Expr(template.format(x=x.text, y=y.text), "f32", joined(x.mask, y.mask), size(x.size, y.size))

    def _select(self, mask: Mask, depth: int) -> Expr:
        condition = self.expr("bool", mask if self._choose.flag(60) else self._smaller(mask), depth - 1)
        x, y = self._pair("f32", mask, depth)
        text = f"where({condition.text}, {x.text}, {y.text})"
        return Expr(text, "f32", joined(condition.mask, x.mask, y.mask), max(x.size, y.size))

    def _reduced(self, mask: Mask, depth: int) -> Expr:
        """A reduction that leaves the mask, by taking an axis that the mask has not."""
        rank = self.space.rank
        if not mask:
            return self._total(depth)
        mask = padded(mask, rank)
        missing = [at for at, has in enumerate(mask) if not has]
        if not missing:
            return self._binary(mask, depth)
        axis = missing[-1] if self._choose.flag(70) else self._choose.one_of(missing)
        operand = tuple(has or at == axis for at, has in enumerate(mask))
        x = self.tame(self.expr("f32", operand, depth - 1))
        if padded(x.mask, rank) != operand:
            return x
        axis -= rank - len(x.mask)
        result = tuple(has and at != axis for at, has in enumerate(x.mask))
        if axis == len(x.mask) - 1 and self._choose.flag(80):
            template, size = self._choose.one_of(ROW_REDUCTIONS)
            return Expr(template.format(x=x.text), "f32", result, size(x.size))
        template, size = self._choose.one_of(AXIS_REDUCTIONS)
        return Expr(template.format(x=x.text, k=axis), "f32", result, size(x.size))

    def _total(self, depth: int) -> Expr:
        x = self.tame(self.expr("f32", self.space.full, depth - 1))
        if not x.mask:
            return x
        template, size = self._choose.one_of(TOTALS)
        return Expr(template.format(x=x.text), "f32", (), size(x.size))

    def _whole_row(self, mask: Mask, depth: int) -> Expr:
        x = self.tame(self.expr("f32", mask, depth - 1))
        if not x.mask or not x.mask[-1]:
            return x
        return Expr(self._choose.one_of(WHOLE_ROWS).format(x=x.text), "f32", x.mask, max(20.0, 2 * x.size))

    def _picked(self, mask: Mask, depth: int) -> Expr:
        """`pick`, by its name or spelled with `iota`."""
        rank = self.space.rank
        if not mask or padded(mask, rank)[-1]:
            return self._converted(mask, depth)
        mask = padded(mask, rank)
        index = self.expr("i32", mask, min(depth - 1, 1))
        if self._choose.flag(40) and not self.is_closed:
            vector = self._reads.tile("f32", (*(False,) * (rank - 1), True), self.space)
        else:
            vector = self.tame(self.expr("f32", (*mask[:-1], True), depth - 1))
        if not vector.mask or not vector.mask[-1]:
            return vector
        if self._choose.flag(50):
            text = f"pick({vector.text}, {index.text})"
        else:
            axis = max(len(index.mask), len(vector.mask)) - 1
            text = f"rowsum(where(iota({axis}) == {index.text}, {vector.text}, 0.0))"
        whole = joined(index.mask, vector.mask)
        return Expr(text, "f32", (*whole[:-1], False), vector.size)

    def _converted(self, mask: Mask, depth: int) -> Expr:
        kind = self._choose.one_of(["i32", "bool", "u32"])
        x = self.expr(kind, mask, depth - 1)
        return Expr(f"f32({x.text})", "f32", x.mask, 1e4 if kind != "bool" else 1.0)

    # --- integers --------------------------------------------------------------------------------------------

    def _integer(self, mask: Mask, depth: int) -> Expr:
        choose = self._choose
        kind = choose.one_of(["binary", "binary", "of_float", "unary", "select", "of_bool", "of_unsigned", "reduced"])
        match kind:
            case "of_float":
                x = self.expr("f32", mask, depth - 1)
                return Expr(
                    f"i32(clamp({choose.one_of(['round', 'floor'])}({x.text}), -1000.0, 1000.0))", "i32", x.mask
                )
            case "unary":
                x = self.expr("i32", mask, depth - 1)
                return Expr(
                    choose.one_of(["-{x}", "abs({x})", "sign({x})", "square({x} % 100)"]).format(x=x.text),
                    "i32",
                    x.mask,
                )
            case "select":
                condition = self.expr("bool", mask, depth - 1)
                x, y = self._pair("i32", mask, depth)
                return Expr(
                    f"where({condition.text}, {x.text}, {y.text})", "i32", joined(condition.mask, x.mask, y.mask)
                )
            case "of_bool":
                x = self.expr("bool", mask, depth - 1)
                return Expr(f"i32({x.text})", "i32", x.mask)
            case "of_unsigned":
                x = self.expr("u32", mask, depth - 1)
                return Expr(f"i32({x.text})", "i32", x.mask)
            case "reduced":
                return self._reduced_integer(mask, depth)
        form = choose.one_of(
            ["({x} + {y})", "({x} - {y})", "({x} * {y})", "min({x}, {y})", "max({x}, {y})", "({x} % {y})",
             "div({x}, {y})", "ceildiv({x}, max({y}, 1))"]
        )  # fmt: skip
        x, y = self._pair("i32", mask, depth)
        return Expr(form.format(x=x.text, y=y.text), "i32", joined(x.mask, y.mask))

    def _reduced_integer(self, mask: Mask, depth: int) -> Expr:
        rank = self.space.rank
        if not mask or padded(mask, rank)[-1]:
            return self._leaf("i32", mask)
        mask = padded(mask, rank)
        kind = self._choose.one_of(["i32", "f32", "bool"])
        x = self.expr(kind, (*mask[:-1], True), depth - 1)
        if not x.mask or not x.mask[-1]:
            return self._leaf("i32", mask)
        forms = {
            "i32": ["rowsum({x})", "rowmax({x})", "rowmin({x})", "rowprod({x})", "rowargmax({x})"],
            "f32": ["rowargmax({x})", "rowargmin({x})"],
            "bool": ["rowsum({x})"],
        }
        return Expr(self._choose.one_of(forms[kind]).format(x=x.text), "i32", (*x.mask[:-1], False))

    def _unsigned(self, mask: Mask, depth: int) -> Expr:
        if self._choose.flag(40):
            x = self.expr("i32", mask, depth - 1)
            return Expr(f"u32({x.text})", "u32", x.mask)
        form = self._choose.one_of(
            [
                "({x} + {y})",
                "({x} * {y})",
                "min({x}, {y})",
                "max({x}, {y})",
                "div({x}, {y})",
                "({x} % {y})",
                "({x} - {y})",
            ]
        )
        x, y = self._pair("u32", mask, depth)
        return Expr(form.format(x=x.text, y=y.text), "u32", joined(x.mask, y.mask))

    # --- bools -----------------------------------------------------------------------------------------------

    def _bool(self, mask: Mask, depth: int) -> Expr:
        choose = self._choose
        kind = choose.one_of(["compare", "compare", "compare_integers", "logical", "not", "test", "reduced"])
        if kind == "reduced" and mask and not padded(mask, self.space.rank)[-1]:
            mask = padded(mask, self.space.rank)
            x = self.expr("bool", (*mask[:-1], True), depth - 1)
            if x.mask and x.mask[-1]:
                return Expr(
                    choose.one_of(["rowany({x})", "rowall({x})"]).format(x=x.text), "bool", (*x.mask[:-1], False)
                )
        match kind:
            case "logical":
                x, y = self._pair("bool", mask, depth)
                return Expr(f"({x.text} {choose.one_of(['&&', '||'])} {y.text})", "bool", joined(x.mask, y.mask))
            case "not":
                x = self.expr("bool", mask, depth - 1)
                return Expr(f"(!{x.text})", "bool", x.mask)
            case "test":
                x = self.expr("f32", mask, depth - 1)
                return Expr(f"{choose.one_of(['isnan', 'isinf', 'isfinite'])}({x.text})", "bool", x.mask)
            case "compare_integers":
                x, y = self._pair("i32", mask, depth)
                return Expr(
                    f"({x.text} {choose.one_of(['<', '==', '!=', '>=', '>', '<='])} {y.text})",
                    "bool",
                    joined(x.mask, y.mask),
                )
        x, y = self._pair("f32", mask, depth)
        return Expr(f"({x.text} {choose.one_of(['<', '>', '<=', '>='])} {y.text})", "bool", joined(x.mask, y.mask))
