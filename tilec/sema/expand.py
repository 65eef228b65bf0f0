"""Turns a kernel's tree into the core form: names resolved, calls inlined, jumps made into flags.

Names and calls were checked by `names` (which reports); what is wrong becomes `Poison` here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.sema import core, lookup
from tilec.sema.constants import OPERATORS, PREDECLARED, evaluate_const
from tilec.sema.context import Binding, Context, TensorName, TooLargeError
from tilec.sema.effects import children, walk_statements
from tilec.sema.faults import Faults
from tilec.sema.flow import flags_set_by, for_loop, guarded, jump, while_loop
from tilec.sema.inline import Inliner
from tilec.sema.program import KernelSignature
from tilec.source import Span
from tilec.syntax import ast
from tilec.types import DTYPES, DType

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
        self.guards: list[tuple[core.Node, bool]] = []
        """The conditions of the `where`s whose sides are expanded at the moment."""

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
        self.count_one(node.span)
        check_time(node.span)
        self.block.nodes.append(node)
        return node

    def count_one(self, span: Span) -> None:
        """Counts a node or a call (a function may give what it got). Raises TooLargeError after reporting."""
        self.count += 1
        if self.count > NODE_LIMIT:
            name = self.signature.name
            self.faults.error(catalog.EXPANSION_TOO_LARGE, span, name=name, limit=f"{NODE_LIMIT:,}")
            raise TooLargeError

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
            flags = flags_set_by(self, statement) if rest else []
            if flags:
                guarded(self, statement.span, flags, rest)
                return

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
                while_loop(self, node)
            case ast.For():
                for_loop(self, node)
            case ast.Break() | ast.Continue() | ast.Return():
                jump(self, node, span)
            case ast.Require():
                condition = self.expression(node.condition)
                self.emit(core.Requires(span, condition, node.message.value))
            case ast.Assert():
                condition = self.expression(node.condition)
                named = tuple((name.name, self.name(name)) for name in self.values_named(node.condition))
                self.emit(core.Asserts(span, condition, node.message.value, named, tuple(self.guards)))
            case ast.Print():
                label = node.label.value if node.label is not None else node.value.span.text
                self.emit(core.Prints(span, self.expression(node.value), label))

    def definition(self, node: ast.Let | ast.Var) -> core.Node:
        value = self.typed(self.expression(node.value), node.type, node.name.name, self.at(node.value.span))
        if not value.name and not isinstance(value, core.Literal):
            value.name = node.name.name
        return value

    def declare(self, node: ast.Var) -> None:
        value = self.definition(node)
        cell = core.Cell(node.name.name, self.at(node.name.span))
        self.emit(core.Declare(self.at(node.span), cell, value))
        self.context.frames[-1].setdefault(node.name.name, cell)

    def values_named(self, condition: ast.Expr) -> list[ast.Name]:
        """The names in the condition that stand for values, each once."""
        found: dict[str, ast.Name] = {}
        stack: list[ast.Expr] = [condition]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name) and isinstance(self.find(node.name), core.Node | core.Cell):
                found.setdefault(node.name, node)
            stack += reversed(children(node))
        return list(found.values())

    def choice(self, arguments: Sequence[ast.Argument]) -> tuple[core.Node, ...]:
        """The operands of a `where`: what is asserted on a side of it must hold where that side is taken."""
        condition = self.expression(arguments[0].value)
        operands = [condition]
        for argument, wanted in zip(arguments[1:], (True, False), strict=True):
            self.guards.append((condition, wanted))
            operands.append(self.expression(argument.value))
            self.guards.pop()
        return tuple(operands)

    def typed(
        self, value: core.Node, type_: ast.TypeExpr | None, subject: str, span: Span, function: str = ""
    ) -> core.Node:
        """A value against a declared type: converted to it where it is used, or reported."""
        if type_ is None:
            return value
        dtype = DTYPES.get(type_.elements[0].name) if type_.elements else None
        if dtype is None:
            return self.poison(span)
        if not self.is_value_type(type_, dtype, subject):
            return self.poison(span)
        dims = None if type_.kind == "scalar" else tuple(self.expression(dim) for dim in type_.dims or ())
        return self.emit(core.Typed(span, value, dtype, dims, subject, type_.span.text, function))

    def is_value_type(self, type_: ast.TypeExpr, dtype: DType, subject: str) -> bool:
        """Whether a value can have the type, whose elements are `dtype`; reported otherwise."""
        span = self.at(type_.span)
        if type_.kind == "tensor":
            hint = "inside a kernel values are `tile<...>[...]` or scalars"
            expected = f"`{type_.span.text}`"
            self.faults.error(
                catalog.DECLARED_TYPE, span, hint=hint, name=subject, expected=expected, found="no tensor"
            )
        elif not dtype.is_compute:
            self.faults.error(catalog.STORAGE_TYPE, span, type=dtype, what=f"`{subject}`", compute=dtype.compute)
        return type_.kind != "tensor" and dtype.is_compute

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
        """A value for what was not understood, which has been reported, here or by `names`."""
        self.faults.give_up(span)
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
                use = core.Use(span, found)
                self.block.nodes.append(use)  # not counted: it becomes nothing
                return use
        const = lookup.find_constant(self.context.scope, node.name)
        if const is not None:
            constant = evaluate_const(*const, self.faults.reporter)
            if constant is None:
                return self.poison(span)
            literal = self.emit(core.Literal(span, constant.value, "" if constant.is_weak else str(constant.dtype)))
            if constant.is_weak or isinstance(constant.value, bool | float):
                return literal
            return self.emit(core.Typed(span, literal, constant.dtype, None, node.name, str(constant.dtype)))
        if node.name in PREDECLARED:
            return self.emit(core.Literal(span, PREDECLARED[node.name]))
        return self.poison(span)

    def index(self, node: ast.Index) -> core.Node:
        base = self.find(node.value.name) if isinstance(node.value, ast.Name) else None
        if isinstance(base, TensorName):
            place = self.place(node)
            fill = self.expression(node.fill) if node.fill is not None else None
            span = self.at(node.span)
            return self.emit(core.TensorRead(span, place, fill)) if place else self.poison(span)
        operand = self.expression(node.value)
        parts = self.parts(node.subscripts)
        if node.fill is not None:
            self.expression(node.fill)
            if not isinstance(operand, core.Poison):
                self.faults.error(catalog.FILL_ON_TILE, self.at(node.fill.span), text=node.value.span.text)
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
