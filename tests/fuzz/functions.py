"""Functions of every form, written at their first call for the types of that call."""

from __future__ import annotations

from tests.fuzz.expressions import Expressions
from tests.fuzz.parts import Chooser, Expr, Mask, Variable


class Functions:
    """The file's functions; `texts` are those written so far."""

    def __init__(self, choose: Chooser, make: Expressions) -> None:
        self._choose = choose
        self._make = make
        self.texts: list[str] = []

    def _name(self) -> str:
        return f"helper{len(self.texts)}"

    def closed(self, dtype: str, mask: Mask, parameters: list[Variable], depth: int) -> Expr:
        """An expression over these variables alone."""
        kept, self._make.variables = self._make.variables, parameters
        self._make.is_closed = True
        value = self._make.tame(self._make.expr(dtype, mask, depth))
        self._make.variables, self._make.is_closed = kept, False
        return value

    def expression(self, dtype: str, mask: Mask) -> Expr | None:
        """A call of a new function whose arguments are a tile of the mask and a scalar."""
        if dtype != "f32" or len(self.texts) > 3:
            return None
        choose, make = self._choose, self._make
        x = make.tame(make.expr("f32", mask, 1))
        s = make.expr("f32", (), 1)
        name = self._name()
        parameters = [Variable("x", Expr("x", "f32", x.mask, x.size)), Variable("s", Expr("s", "f32", (), s.size))]
        form = choose.one_of(["expression", "block", "var"])
        self.texts.append("")
        place = len(self.texts) - 1
        declared = choose.one_of(["x, s", "x, s = 0.5", "x, s: f32"])
        if form == "expression":
            value = self.closed("f32", x.mask, parameters, 2)
            self.texts[place] = f"fn {name}({declared}) = {value.text}"
        else:
            first = self.closed("f32", x.mask, parameters, 1)
            parameters.append(Variable("e", Expr("e", "f32", first.mask, first.size)))
            value = self.closed("f32", x.mask, parameters, 2)
            lines = [f"  let e = {first.text}", f"  return {value.text}"]
            if form == "var":
                lines = [f"  var e = {first.text}", "  e = max(e, e * 0.25)", f"  return {value.text}"]
            self.texts[place] = "\n".join([f"fn {name}({declared}) {{", *lines, "}"])
        arguments = choose.one_of([f"{x.text}, {s.text}", f"{x.text}, s: {s.text}", f"s: {s.text}, x: {x.text}"])
        if "=" in declared and choose.flag(30):
            arguments = x.text
        return make.tame(Expr(f"{name}({arguments})", "f32", value.mask, value.size))

    def statement(self, place: str, mask: Mask) -> str:
        """A call of a new statement function, or one of std, that assigns the place."""
        choose, make = self._choose, self._make
        t = make.tame(make.expr("f32", mask, 1))
        if t.mask and t.mask[-1] and choose.flag(30):
            return f"{choose.one_of(['softmax', 'log_softmax'])}({place}, {t.text})"
        name = self._name()
        parameters = [Variable("t", Expr("t", "f32", t.mask, t.size))]
        self.texts.append("")
        at = len(self.texts) - 1
        value = self.closed("f32", t.mask, parameters, 2)
        lines = [f"  out = {value.text}"]
        if choose.flag(40):
            lines.append("  out += t")
        if choose.flag(30):
            lines = [
                "  let half = t * 0.5",
                f"  if {choose.one_of(['true', 'extent(t, 0) > 2' if t.mask else 'true'])} {{",
            ]
            lines += [f"    out = {value.text}", "  } else {", "    out = half", "  }"]
        self.texts[at] = "\n".join([f"fn {name}(out, t) {{", *lines, "}"])
        return f"{name}({place}, {t.text})"
