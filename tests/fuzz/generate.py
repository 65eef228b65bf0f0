"""Draws whole programs: a space of tiles, statements over it, functions, and the parameters that they need."""

from __future__ import annotations

from tests.fuzz.expressions import Expressions
from tests.fuzz.functions import Functions
from tests.fuzz.parts import Axis, Choices, Chooser, Expr, Mask, Program, Space, Tensor, Variable, joined, padded
from tests.fuzz.reads import MOST_TENSORS, Reads
from tests.fuzz.spaces import draw_space

DTYPES = ["f32", "f32", "f32", "i32", "bool", "u32"]


class _Writer:
    """Writes the body of one kernel."""

    def __init__(self, choose: Chooser, reports: bool) -> None:
        self.choose, self.has_reports = choose, reports
        self.top, self.prelude = draw_space(choose)
        self.reads = Reads(choose, self.top)
        self.make = Expressions(choose, self.reads)
        self.make.space = self.top
        self.functions = Functions(choose, self.make)
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.room = choose.integer(1, 8)
        self.has_returned = False
        self.stored: set[int] = set()
        self.made_reports = 0

    def emit(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def name(self, base: str) -> str:
        self.names += 1
        return f"{base}{self.names}"

    # --- values ----------------------------------------------------------------------------------------------

    def mask(self) -> Mask:
        """Any mask of the space, the full one most often."""
        choose, space = self.choose, self.make.space
        if choose.flag(60) or not space.rank:
            return space.full
        mask = tuple(choose.flag(60) for _ in space.axes)
        return mask if any(mask) else ()

    def value(self, dtype: str, mask: Mask, depth: int | None = None) -> Expr:
        depth = self.choose.integer(1, 3) if depth is None else depth
        made = self.functions.expression(dtype, mask) if self.choose.flag(15) else None
        made = made or self.make.expr(dtype, mask, depth)
        return self.make.tame(made)

    def declare(self, value: Expr, base: str, *, mutable: bool = False, text: str = "") -> Variable:
        variable = Variable(self.name(base), value, mutable, self.make.space.axes if any(value.mask) else ())
        self.emit(f"{'var' if mutable else 'let'} {variable.name} = {text or value.text}")
        self.make.variables.append(variable)
        return variable

    # --- statements ------------------------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.make.budget > 0:
                self.statement()

    def statement(self) -> None:
        kinds = [self.let, self.let, self.store, self.store, self.variable, self.assign, self.call]
        kinds.append(self.gradient)
        if self.depth < 4:
            kinds += [self.branch, self.chunks, self.repeat, self.loop_while, self.point_store]
        if self.depth == 1 and not self.has_returned and self.lines:
            kinds.append(self.leave)
        if self.has_reports:
            kinds += [self.report] * 4
        self.choose.one_of(kinds)()

    def report(self) -> None:
        """A `print` or an `assert` of any value: tells of it, and changes nothing."""
        self.made_reports += 1
        if self.choose.flag(60):
            value = self.value(self.choose.one_of(DTYPES), self.mask(), 1)
            self.emit(f'print("p{self.made_reports}", {value.text})')
        else:
            self.emit(f'assert {self.value("bool", self.mask(), 1).text}, "a{self.made_reports}"')

    def let(self) -> None:
        self.declare(self.value(self.choose.one_of(DTYPES), self.mask()), "v")

    def variable(self) -> None:
        """A `var`, sometimes of a declared tile type that its value is stretched to."""
        dtype = self.choose.one_of(["f32", "f32", "i32"])
        if self.choose.flag(50):
            mask = self.mask()
            extents = [a.extent if has else "1" for a, has in zip(self.make.space.axes, mask, strict=False)]
            if mask:
                number = "0.0" if dtype == "f32" else "0"
                value = Expr("", dtype, mask, 1.0)
                variable = Variable(self.name("acc"), value, True, self.make.space.axes)
                start = number if self.choose.flag(60) else self.make.expr(dtype, (), 1).text
                self.emit(f"var {variable.name}: tile<{dtype}>[{', '.join(extents)}] = {start}")
                self.make.variables.append(variable)
                return
        self.declare(self.value(dtype, self.mask()), "acc", mutable=True)

    def assign(self) -> None:
        """To a `var` in scope: as it stands, or added to."""
        fitting = [v for v in self.make.variables if v.is_mutable and self._is_here(v)]
        if not fitting:
            self.variable()
            return
        target = self.choose.one_of(fitting)
        value = self.value(target.value.dtype, target.value.mask)
        if padded(value.mask, 4) != padded(target.value.mask, 4):
            return
        forms = ["{t} = {x}", "{t} += {x}", "{t} = max({t}, {x})", "{t} = {t} * {half} + {x}", "{t} -= {x}"]
        half = "0.5" if target.value.dtype == "f32" else "3"
        form = self.choose.one_of(forms)
        self.emit(form.format(t=target.name, x=value.text, half=half))
        target.value = Expr(target.name, target.value.dtype, target.value.mask, 4 * (target.value.size + value.size))

    def _is_here(self, variable: Variable) -> bool:
        """Whether the variable's axes are those of the space where the statement stands."""
        if not variable.axes:
            return True
        rank = self.make.space.rank
        own = padded(variable.value.mask, rank)
        return all(not has or (variable.axes[at].span == self.make.space.axes[at].span) for at, has in enumerate(own))

    def gradient(self) -> None:
        """The gradient of an expression of one read tile, used like any other value."""
        mask = self.mask()
        if not any(mask):
            return
        read = self.reads.tile("f32", mask, self.make.space)
        if "[" not in read.text:
            return
        x = self.declare(self.make.tame(read), "x")
        y = self.functions.closed("f32", x.value.mask, [x], 2)
        y = Expr(f"({x.name} * 0.5 + {y.text})", "f32", joined(x.value.mask, y.mask), 1e6)
        y_name = self.name("y")
        self.emit(f"let {y_name} = {y.text}")
        self.declare(Expr(f"grad({y_name}, {x.name})", "f32", x.value.mask, 1e9), "g")

    # --- stores ----------------------------------------------------------------------------------------------

    def store(self) -> None:
        """To an output or in place."""
        choose, space = self.choose, self.make.space
        target = self._target()
        if target is None:
            self.let()
            return
        mask = self._local_mask(target)
        if mask is None:
            return
        value = self._stored_value(target, mask)
        place = self.reads.subscript(target, space)
        forms = ["="]
        if target.compute in ("f32", "i32"):
            forms += ["+="] if target.in_place or id(target) in self.stored else []
            if target.compute == "f32" and target.in_place:
                forms += ["*=", "-="]
        self.emit(f"{place} {choose.one_of(forms)} {value.text}")
        self.stored.add(id(target))
        target.written = True

    def _target(self) -> Tensor | None:
        choose = self.choose
        own = self._own_masks()
        known = [t for t in self.reads.tensors if t.role == "out" or t.in_place]
        known = [t for t in known if self._local_mask(t) is not None]
        if known and (choose.flag(50) or len(self.reads.tensors) >= MOST_TENSORS - 1):
            return choose.one_of(known)
        if len(self.reads.tensors) >= MOST_TENSORS - 1 or not own:
            return known[0] if known else None
        mask = choose.one_of(own)
        compute = choose.one_of(["f32", "f32", "i32", "bool", "u32"])
        target = self.reads.declare(compute, mask, "out")
        if choose.flag(30):
            target.in_place = True
            target.role = {"f32": "float", "bool": "bool"}.get(compute, "int")
        return target

    def _own_masks(self) -> list[Mask]:
        """Masks of tensors of which each block may store its own part: those with every block axis."""
        masks = [self.top.full]
        for at, axis in enumerate(self.top.axes):
            if not axis.is_block and self.top.rank > 1:
                masks.append(tuple(place != at for place in range(self.top.rank)))
        if not any(axis.is_block for axis in self.top.axes):
            masks += [(False,) * (self.top.rank - 1) + (True,)] if self.top.rank > 1 else []
        return masks

    def _local_mask(self, tensor: Tensor) -> Mask | None:
        return tensor.mask

    def _stored_value(self, target: Tensor, mask: Mask) -> Expr:
        """A value of the tensor's type that broadcasts to the mask."""
        choose = self.choose
        part = mask
        if choose.flag(20):
            part = tuple(has and choose.flag(60) for has in mask)
        value = self.value(target.compute, part if any(part) else ())
        if target.compute == "f32" and choose.flag(10):
            value = self.value("i32", part if any(part) else ())
        return value

    def point_store(self) -> None:
        """One element of a tensor that has a place for each block."""
        blocks = [axis for axis in self.top.axes if axis.is_block]
        if len(self.reads.tensors) >= MOST_TENSORS - 1 or self.make.space is not self.top:
            self.store()
            return
        dims = tuple(f"ceildiv({axis.dim}, {axis.extent})" for axis in blocks)
        compute = self.choose.one_of(["f32", "f32", "i32"])
        value = self.value(compute, ())
        if not blocks:
            dims = ("3",)
            index = self.choose.one_of(["0", "2", "5"])
        else:
            index = ", ".join(f"ctx.block.{name}" for name, _ in zip("xyz", blocks, strict=False))
        target = self.reads.declare(compute, (False,) * self.top.rank, "out", dims)
        target.mask = (False,) * self.top.rank
        target.role = "point"
        self.emit(f"{target.name}[{index}] = {value.text}")

    # --- control ---------------------------------------------------------------------------------------------

    def _scoped(self, body: list[object] | None = None) -> tuple[int, int]:
        self.depth += 1
        return len(self.make.variables), len(self.lines)

    def _end(self, scope: tuple[int, int]) -> None:
        if len(self.lines) == scope[1]:
            self.emit(f"let {self.name('unused')} = 0")
        del self.make.variables[scope[0] :]
        self.depth -= 1

    def condition(self) -> str:
        choose = self.choose
        made = self.make.expr("bool", (), choose.integer(0, 1))
        options = [made.text]
        if any(axis.is_block for axis in self.top.axes):
            options.append("ctx.block.x % 2 == 0")
        return choose.one_of(options)

    def branch(self) -> None:
        self.emit(f"if {self.condition()} {{")
        scope = self._scoped()
        self.statements(self.choose.integer(1, 2))
        self._end(scope)
        if self.choose.flag(50):
            self.emit("} else {")
            scope = self._scoped()
            self.statements(self.choose.integer(1, 2))
            self._end(scope)
        self.emit("}")

    def leave(self) -> None:
        self.has_returned = True
        self.emit(f"if {self.condition()} {{")
        self.depth += 1
        self.emit("return")
        self.depth -= 1
        self.emit("}")

    def _ensure_accumulator(self) -> None:
        if not any(v.is_mutable and self._is_here(v) for v in self.make.variables):
            self.variable()

    def _jump(self) -> None:
        """Perhaps a `break` or `continue`."""
        if self.choose.flag(20):
            self.emit(f"if {self.condition()} {{")
            self.depth += 1
            self.emit(self.choose.one_of(["break", "continue"]))
            self.depth -= 1
            self.emit("}")

    def repeat(self) -> None:
        """A counted loop over tiles of the same space."""
        self._ensure_accumulator()
        choose = self.choose
        index = self.name("i")
        stops = ["3", "1", "5", "0"]
        if self.top.axes:
            stops.append(f"min({self.top.axes[-1].dim}, 4)")
        bounds = choose.one_of(["0, {n}", "1, {n}", "0, {n}, 2", "-1, {n}"]).format(n=choose.one_of(stops))
        self.emit(f"for {index} in range({bounds}) {{")
        scope = self._scoped()
        self.make.variables.append(Variable(index, Expr(index, "i32", (), 300.0)))
        self.assign()
        self._jump()
        self.statements(choose.integer(0, 2))
        self._end(scope)
        self.emit("}")

    def chunks(self) -> None:
        """A loop over chunks of an axis that blocks have whole."""
        choose, outer = self.choose, self.make.space
        whole = [at for at, axis in enumerate(outer.axes) if axis.is_whole]
        if not whole:
            self.repeat()
            return
        self._ensure_accumulator()
        at = choose.one_of(whole)
        axis = outer.axes[at]
        start = self.name("c")
        extent = choose.one_of(["32", "8", "64", "1", "5"])
        self.emit(f"for {start} in range(0, {axis.dim}, {extent}) {{")
        scope = self._scoped()
        inner = Axis(axis.dim, f"{start} :+ {extent}", extent, start)
        self.make.space = Space((*outer.axes[:at], inner, *outer.axes[at + 1 :]))
        self.make.variables.append(Variable(start, Expr(start, "i32", (), 300.0)))
        self.assign()
        self._jump()
        self.statements(choose.integer(0, 2))
        self.make.space = outer
        self._end(scope)
        self.emit("}")

    def loop_while(self) -> None:
        self._ensure_accumulator()
        counter = self.name("n")
        self.emit(f"var {counter} = 0")
        limit = self.choose.integer(0, 4)
        condition = f"{counter} < {limit}"
        if self.choose.flag(40):
            condition += f" && {self.make.expr('bool', (), 1).text}"
        self.emit(f"while {condition} {{")
        scope = self._scoped()
        self.make.variables.append(Variable(counter, Expr(counter, "i32", (), 8.0)))
        self.emit(f"{counter} += 1")
        self.assign()
        self._jump()
        self.statements(self.choose.integer(0, 1))
        self._end(scope)
        self.emit("}")

    def call(self) -> None:
        """A statement function on a var, or on a place of a tensor."""
        choose = self.choose
        fitting = [v for v in self.make.variables if v.is_mutable and self._is_here(v) and v.value.dtype == "f32"]
        outs = [t for t in self.reads.tensors if t.role == "out" and t.compute == "f32" and not t.in_place]
        if fitting and choose.flag(60):
            target = choose.one_of(fitting)
            self.emit(self.functions.statement(target.name, target.value.mask))
        elif outs:
            tensor = choose.one_of(outs)
            self.emit(self.functions.statement(self.reads.subscript(tensor, self.make.space), tensor.mask))
        else:
            self.store()

    # --- the whole -------------------------------------------------------------------------------------------

    def write(self) -> Program:
        self.statements(self.room)
        # A kernel stores something, and every axis of the grid is decided by a store over the whole space.
        if not any(t.mask == self.top.full and id(t) in self.stored for t in self.reads.tensors) or self.choose.flag(
            50
        ):
            self._last_store()
        return self._program()

    def _last_store(self) -> None:
        self.make.budget = max(self.make.budget, 4)
        value = self.value("f32", self.top.full, 2)
        target = self.reads.declare("f32", self.top.full, "out")
        self.emit(f"{self.reads.subscript(target, self.top)} = {value.text}")
        self.stored.add(id(target))

    def _program(self) -> Program:
        choose = self.choose
        type_variable = ""
        floats = [t for t in self.reads.tensors if t.dtypes == ("f32", "f16", "bf16")]
        if floats and choose.flag(40):
            type_variable = "T"
            for tensor in floats:
                tensor.type_variable = "T"
        parameters = []
        for tensor in self.reads.tensors:
            dtypes = tensor.type_variable or "|".join(tensor.dtypes)
            parameters.append(f"{tensor.name}: tensor<{dtypes}>[{', '.join(tensor.dims)}]")
        for scalar in self.reads.scalars:
            default = f" = {scalar.default}" if scalar.default else ""
            parameters.append(f"{'const ' if scalar.is_const else ''}{scalar.name}: {scalar.dtype}{default}")
        head = f"kernel run{'<T: f32|f16|bf16>' if type_variable else ''}({', '.join(parameters)}) {{"
        prelude = [f"  {line}" for line in self.prelude]
        text = "\n".join([*self.functions.texts, head, *prelude, *self.lines, "}", ""])
        dims = sorted({axis.dim for axis in self.top.axes})
        blocks = {axis.dim: int(axis.extent) for axis in self.top.axes if axis.is_block}
        return Program(text, "run", self.reads.tensors, self.reads.scalars, dims, blocks)


def draw_program(choices: Choices, reports: bool = False) -> Program:
    """One program; the same choices give the same program. `reports`: with `assert` and `print` statements."""
    return _Writer(Chooser(choices), reports).write()
