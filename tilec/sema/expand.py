"""Turns a kernel's tree into the core form: names resolved, calls inlined, jumps made into flags.

Names and calls were checked by `names` (which reports); what is wrong becomes `Poison` here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag import catalog
from tilec.sema import core, lookup
from tilec.sema.constants import OPERATORS, PREDECLARED, evaluate_const
from tilec.sema.context import Binding, Context, Loop, TensorName, TooLargeError
from tilec.sema.effects import walk_statements
from tilec.sema.faults import Faults
from tilec.sema.inline import Inliner
from tilec.sema.program import KernelSignature
from tilec.source import Span
from tilec.syntax import ast
from tilec.types import DTYPES

NODE_LIMIT = 50_000


class Expander:
    """Walks one kernel. `block` is where nodes go at the moment."""

    def __init__(self, signature: KernelSignature, faults: Faults) -> None:
        self.signature = signature
        self.faults = faults
        self.block = core.Block()
        self.count = 0
        self.iotas: list[core.Builtin] = []
        self.context = Context(signature.scope, None, [{}])

    def expand(self) -> core.Block:
        """The kernel's body. Raises TooLargeError after reporting."""
        frame = self.context.frames[0]
        for parameter in self.signature.parameters:
            if parameter.kind == "tensor":
                frame[parameter.name] = TensorName(parameter.name)
            else:
                frame[parameter.name] = self.emit(core.ParameterRead(parameter.span, parameter.name))
        for dim in self.signature.dims:
            frame.setdefault(dim, self.emit(core.DimRead(self.signature.span, dim)))
        self.body(self.signature.node.body)
        return self.block

    # --- nodes and names

    def emit(self, node: core.Node) -> core.Node:
        self.count += 1
        if self.count > NODE_LIMIT:
            name = self.signature.name
            self.faults.error(catalog.EXPANSION_TOO_LARGE, node.span, name=name, limit=f"{NODE_LIMIT:,}")
            raise TooLargeError
        self.block.nodes.append(node)
        return node

    def at(self, span: Span) -> Span:
        return span if self.context.via is None else span.through(self.context.via)

    def find(self, name: str) -> Binding | None:
        for frame in reversed(self.context.frames):
            if name in frame:
                return frame[name]
        return None

    def inside(self, block: core.Block) -> core.Block:
        """Makes `block` the place for nodes; gives the one that was."""
        previous, self.block = self.block, block
        return previous

    def outside(self, previous: core.Block) -> None:
        previous.written |= self.block.written
        self.block = previous

    def write(self, span: Span, cell: core.Cell, value: core.Node) -> None:
        self.emit(core.CellWrite(span, cell, value))
        self.block.written.add(cell)

    def flag(self, span: Span, name: str) -> core.Cell:
        """A new flag cell, false."""
        cell = core.Cell(name, span, "flag")
        self.emit(core.Declare(span, cell, self.emit(core.Literal(span, False))))
        return cell

    # --- statements

    def body(self, statements: Sequence[ast.Statement]) -> None:
        """A function's or kernel's whole body."""
        context = self.context
        jumps = (s for s in walk_statements(tuple(statements)) if isinstance(s, ast.Return))
        if any(jump.value is None for jump in jumps):
            context.returned = self.flag(self.at(statements[0].span), "returned")
        context.frames.append({})
        self.statements(statements)
        # The frame stays for the value of an expression function; the context ends with it.

    def nested(self, statements: Sequence[ast.Statement], names: dict[str, Binding] | None = None) -> core.Block:
        block = core.Block()
        previous = self.inside(block)
        self.context.frames.append(names or {})
        self.statements(statements)
        self.context.frames.pop()
        self.outside(previous)
        return block

    def statements(self, statements: Sequence[ast.Statement]) -> None:
        for position, statement in enumerate(statements):
            self.statement(statement)
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                return
            rest = statements[position + 1 :]
            flags = self.flags_set_by(statement) if rest else []
            if flags:
                self.guarded(statement.span, flags, rest)
                return

    def guarded(self, span: Span, flags: list[core.Cell], rest: Sequence[ast.Statement]) -> None:
        """The statements that follow one that may have jumped."""
        span = self.at(span)
        condition = self.none_of(span, flags)
        block = core.Block()
        previous = self.inside(block)
        self.statements(rest)
        self.outside(previous)
        self.emit(core.Branch(span, condition, block, core.Block(), "flag"))

    def none_of(self, span: Span, flags: list[core.Cell]) -> core.Node:
        jumped = self.emit(core.CellRead(span, flags[0]))
        for flag in flags[1:]:
            other = self.emit(core.CellRead(span, flag))
            jumped = self.emit(core.Elementwise(span, "or", (jumped, other), "||"))
        return self.emit(core.Elementwise(span, "not", (jumped,), "!"))

    def flags_set_by(self, statement: ast.Statement) -> list[core.Cell]:
        """The flags by which a statement may leave the block that it stands in."""
        breaks, continues, returns = _jumps((statement,))
        flags: list[core.Cell | None] = []
        if self.context.loops:
            loop = self.context.loops[-1]
            flags.append(loop.broke if breaks or returns else None)
            flags.append(loop.continued if continues else None)
        elif returns:
            flags.append(self.context.returned)
        return [flag for flag in flags if flag is not None]

    def statement(self, node: ast.Statement) -> None:
        span = self.at(node.span)
        match node:
            case ast.Let():
                self.context.frames[-1].setdefault(node.name.name, self.definition(node))
            case ast.Var():
                self.declare(node)
            case ast.Assign():
                self.assign(node)
            case ast.CallStatement():
                self.inliner.statement_call(node.call)
            case ast.If():
                self.branch(node)
            case ast.While():
                self.while_loop(node)
            case ast.For():
                self.for_loop(node)
            case ast.Break() | ast.Continue() | ast.Return():
                self.jump(node, span)
            case ast.Require():
                condition = self.expression(node.condition)
                self.emit(core.Requires(span, condition, node.message.value))

    def definition(self, node: ast.Let | ast.Var) -> core.Node:
        value = self.typed(self.expression(node.value), node.type, node.name.name, node.value.span)
        if not value.name and not isinstance(value, core.Literal):
            value.name = node.name.name
        return value

    def declare(self, node: ast.Var) -> None:
        value = self.definition(node)
        cell = core.Cell(node.name.name, self.at(node.name.span))
        self.emit(core.Declare(self.at(node.span), cell, value))
        self.context.frames[-1].setdefault(node.name.name, cell)

    def typed(
        self, value: core.Node, type_: ast.TypeExpr | None, subject: str, place: Span, function: str = ""
    ) -> core.Node:
        if type_ is None or not type_.elements:
            return value
        element, span = type_.elements[0], self.at(place)
        dtype = DTYPES.get(element.name)
        if dtype is None:
            known = "`f32`, `i32`, `u32`, `bool`"
            self.faults.error(catalog.UNKNOWN_TYPE, self.at(element.span), name=element.name, known=known)
            return self.poison(span)
        if type_.kind == "tensor" or not dtype.is_compute:
            self.faults.error(
                catalog.STORAGE_TYPE, self.at(type_.span), type=dtype, what=f"`{subject}`", compute=dtype.compute,
                hint="inside a kernel values are `tile<...>[...]` or scalars" if type_.kind == "tensor" else None,
            )  # fmt: skip
            return self.poison(span)
        dims = None if type_.kind == "scalar" else tuple(self.expression(dim) for dim in type_.dims or ())
        return self.emit(core.Typed(span, value, dtype, dims, subject, function))

    def assign(self, node: ast.Assign) -> None:
        span = self.at(node.span)
        match node.place:
            case ast.Name(name=name):
                cell = self.find(name)
                value = self.expression(node.value)
                if isinstance(cell, core.Cell):
                    if node.op != "=":
                        old = self.emit(core.CellRead(self.at(node.place.span), cell))
                        value = self.operate(span, node.op, old, value)
                    self.write(span, cell, value)
                else:
                    self.poison(span)
            case ast.Index(value=ast.Name()):
                place = self.place(node.place)
                value = self.expression(node.value)
                if place is None:
                    self.poison(span)
                    return
                if node.op != "=":
                    old = self.emit(core.TensorRead(place.span, place))
                    value = self.operate(span, node.op, old, value)
                self.emit(core.TensorWrite(span, place, value))

    def operate(self, span: Span, op: str, old: core.Node, value: core.Node) -> core.Node:
        return self.emit(core.Elementwise(span, OPERATORS[op[0]], (old, value), op))

    def branch(self, node: ast.If) -> None:
        condition = self.expression(node.condition)
        then = self.nested(node.then)
        otherwise = self.nested(node.otherwise or ())
        self.emit(core.Branch(self.at(node.span), condition, then, otherwise))

    def jump(self, node: ast.Break | ast.Continue | ast.Return, span: Span) -> None:
        loops = self.context.loops
        match node:
            case ast.Continue():
                flags = [loops[-1].continued] if loops else []
            case ast.Break():
                flags = [loops[-1].broke] if loops else []
            case _:
                flags = [self.context.returned, *(loop.broke for loop in loops)]
        for flag in flags:
            if flag is not None:
                self.write(span, flag, self.emit(core.Literal(span, True)))

    def for_loop(self, node: ast.For) -> None:
        span = self.at(node.span)
        arguments = node.iterable.arguments if isinstance(node.iterable, ast.Call) else ()
        is_range = isinstance(node.iterable, ast.Call) and node.iterable.function == "range"
        if not is_range or not 2 <= len(arguments) <= 3 or any(argument.name for argument in arguments):
            if is_range:
                problem = "takes its arguments by position" if any(a.name for a in arguments) else (
                    f"takes a start, a stop and perhaps a step, and {len(arguments)} "
                    f"{'is' if len(arguments) == 1 else 'are'} given"
                )  # fmt: skip
                self.faults.error(catalog.RANGE_MISUSE, self.at(node.iterable.span), problem=problem)
            self.nested(node.body, {node.name.name: self.poison(span)})
            return
        bounds = [self.expression(argument.value) for argument in arguments]
        index = core.LoopIndex(self.at(node.name.span), name=node.name.name)
        breaks, continues, returns = _jumps(node.body)
        loop = Loop(self.flag(span, "broke") if breaks or returns else None, None)
        body = core.Block()
        previous = self.inside(body)
        self.loop_body(node.body, loop, continues, span, {node.name.name: index})
        self.outside(previous)
        step = bounds[2] if len(bounds) == 3 else None
        self.emit(core.ForLoop(span, index, bounds[0], bounds[1], step, body, loop.broke))

    def while_loop(self, node: ast.While) -> None:
        span = self.at(node.span)
        breaks, continues, returns = _jumps(node.body)
        loop = Loop(self.flag(span, "broke") if breaks or returns else None, None)
        test = core.Block()
        previous = self.inside(test)
        condition = self.expression(node.condition)
        if loop.broke is not None:
            going = self.none_of(span, [loop.broke])
            condition = self.emit(core.Elementwise(self.at(node.condition.span), "and", (condition, going), "&&"))
        self.outside(previous)
        body = core.Block()
        previous = self.inside(body)
        self.loop_body(node.body, loop, continues, span, {})
        self.outside(previous)
        self.emit(core.WhileLoop(self.at(node.condition.span), test, condition, body))

    def loop_body(
        self, body: Sequence[ast.Statement], loop: Loop, continues: bool, span: Span, names: dict[str, Binding]
    ) -> None:
        if continues:
            loop.continued = self.flag(span, "continued")
        self.context.loops.append(loop)
        self.context.frames += [names, {}]
        self.statements(body)
        del self.context.frames[-2:]
        self.context.loops.pop()

    # --- expressions

    def expression(self, node: ast.Expr) -> core.Node:
        span = self.at(node.span)
        match node:
            case ast.Number():
                return self.emit(core.Literal(span, node.value, node.span.text))
            case ast.Bool():
                return self.emit(core.Literal(span, node.value))
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.emit(core.BlockRead(span, "xyz".index(node.name))) if _is_block(node) else self.poison(span)
            case ast.Unary():
                operand = self.expression(node.operand)
                return self.emit(core.Elementwise(span, "neg" if node.op == "-" else "not", (operand,), node.op))
            case ast.Binary():
                return self.binary(node)
            case ast.Call():
                return self.inliner.call(node)
            case ast.Index():
                return self.index(node)
        return self.poison(span)

    def poison(self, span: Span) -> core.Node:
        return self.emit(core.Poison(span))

    def binary(self, node: ast.Binary) -> core.Node:
        """A sum of a thousand terms leans to the left: its spine is walked, not recursed into."""
        spine: list[ast.Binary] = []
        left: ast.Expr = node
        while isinstance(left, ast.Binary):
            spine.append(left)
            left = left.left
        value = self.expression(left)
        for step in reversed(spine):
            operands = (value, self.expression(step.right))
            value = self.emit(core.Elementwise(self.at(step.span), OPERATORS[step.op], operands, step.op))
        return value

    def name(self, node: ast.Name) -> core.Node:
        span = self.at(node.span)
        found = self.find(node.name)
        match found:
            case core.Cell():
                return self.emit(core.CellRead(span, found))
            case TensorName(tensor=tensor):
                return self.emit(core.WholeTensor(span, tensor))
            case core.Node():
                return found
        const = lookup.find_constant(self.context.scope, node.name)
        if const is not None:
            constant = evaluate_const(*const, self.faults.reporter)
            if constant is None:
                return self.poison(span)
            literal = self.emit(core.Literal(span, constant.value, "" if constant.is_weak else str(constant.dtype)))
            if constant.is_weak or isinstance(constant.value, bool | float):
                return literal
            return self.emit(core.Typed(span, literal, constant.dtype, None, node.name))
        if node.name in PREDECLARED:
            return self.emit(core.Literal(span, PREDECLARED[node.name]))
        return self.poison(span)

    def index(self, node: ast.Index) -> core.Node:
        base = self.find(node.value.name) if isinstance(node.value, ast.Name) else None
        if isinstance(base, TensorName):
            place = self.place(node)
            fill = self.expression(node.fill) if node.fill is not None else None
            return self.emit(core.TensorRead(self.at(node.span), place, fill)) if place else self.poison(node.span)
        operand = self.expression(node.value)
        parts = self.parts(node.subscripts)
        if node.fill is not None:
            self.expression(node.fill)
        return self.emit(core.TileSubscript(self.at(node.span), operand, parts))

    def place(self, node: ast.Index) -> core.Place | None:
        """The tensor span that a place or a read names; its subscripts are evaluated here."""
        base = self.find(node.value.name) if isinstance(node.value, ast.Name) else None
        parts = self.parts(node.subscripts)
        if isinstance(base, TensorName):
            return core.Place(base.tensor, parts, self.at(node.span))
        if isinstance(base, core.Node | core.Cell) and not isinstance(base, core.Poison):
            name = node.value.span.text
            span = self.at(node.span)
            if isinstance(base, core.Cell) and base.kind == "out":
                self.faults.error(catalog.TILE_SUBSCRIPT, span, text=node.span.text)
            elif self.context.via is not None:
                self.faults.error(catalog.NOT_SUBSCRIPTABLE, span, text=name, what="no tensor")
        return None

    def parts(self, subscripts: Sequence[ast.Subscript]) -> tuple[core.Part, ...]:
        parts: list[core.Part] = []
        for node in subscripts:
            span = self.at(node.span)
            match node:
                case ast.Point():
                    parts.append(core.Part("point", span, self.expression(node.index)))
                case ast.Count():
                    start = self.expression(node.start)
                    parts.append(core.Part("count", span, start, self.expression(node.count)))
                case ast.Range():
                    start = self.expression(node.start) if node.start is not None else None
                    stop = self.expression(node.stop) if node.stop is not None else None
                    parts.append(core.Part("span", span, start, stop))
                case ast.NewAxis():
                    parts.append(core.Part("new", span))
        return tuple(parts)

    @property
    def inliner(self) -> Inliner:
        return Inliner(self)


def _is_block(node: ast.Attribute) -> bool:
    match node:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(name="ctx"), name="block"), name="x" | "y" | "z"):
            return True
    return False


def _jumps(statements: Sequence[ast.Statement]) -> tuple[bool, bool, bool]:
    """Whether the statements may break or continue the loop around them, or return."""
    breaks = continues = returns = False
    for statement in statements:
        match statement:
            case ast.Break():
                breaks = True
            case ast.Continue():
                continues = True
            case ast.Return():
                returns = True
            case ast.If():
                inner = _jumps((*statement.then, *(statement.otherwise or ())))
                breaks, continues, returns = breaks or inner[0], continues or inner[1], returns or inner[2]
            case ast.For() | ast.While():
                returns = returns or _jumps(statement.body)[2]
    return breaks, continues, returns
