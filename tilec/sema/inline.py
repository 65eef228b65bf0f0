"""Calls: built-ins become nodes, functions are inlined where they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.diag import catalog
from tilec.ops import POINTWISE
from tilec.sema import core, lookup
from tilec.sema.context import Binding, Context, TensorName, TooLargeError
from tilec.sema.effects import effects
from tilec.sema.lookup import Found
from tilec.source import Span
from tilec.syntax import ast

if TYPE_CHECKING:
    from tilec.sema.expand import Expander

INLINE_DEPTH = 64


class Inliner:
    """The part of an expander that deals with calls."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander

    # --- calls

    def call(self, node: ast.Call) -> core.Node:
        """A call in an expression."""
        expander = self.expander
        found = lookup.find(expander.context.scope, node.function, len(node.arguments), is_statement=False)
        if found is not None:
            return self._inline(node, found)
        arity = lookup.builtin_arity(node.function)
        given = sum(argument.name is None for argument in node.arguments)
        if arity is None or not arity[0] <= given <= arity[1]:
            self._look_through(node)
            return expander.poison(expander.at(node.span))
        return self._builtin(node)

    def _look_through(self, node: ast.Call) -> None:
        """The arguments of a call that means nothing may hold faults of their own."""
        for argument in node.arguments:
            if not isinstance(argument.value, ast.Name):
                self.expander.expression(argument.value)

    def _builtin(self, node: ast.Call) -> core.Node:
        expander = self.expander
        span = expander.at(node.span)
        given = [argument for argument in node.arguments if argument.name is None]
        is_choice = node.function == "where" and len(given) == 3
        operands = expander.choice(given) if is_choice else tuple(expander.expression(a.value) for a in given)
        if node.function in POINTWISE:
            return expander.emit(core.Elementwise(span, node.function, operands, node.function))
        named = next((argument.value for argument in node.arguments if argument.name is not None), None)
        axis = expander.expression(named) if named is not None and node.function in lookup.TAKES_AXIS else None
        builtin = core.Builtin(span, node.function, operands, axis)
        if node.function == "iota":
            expander.iotas.append(builtin)
        elif node.function == "extent" and isinstance(operands[0], core.WholeTensor):
            operands[0].is_subject = True
        return expander.emit(builtin)

    def statement_call(self, node: ast.Call) -> None:
        """A call of a statement function."""
        expander = self.expander
        found = lookup.find(expander.context.scope, node.function, len(node.arguments), is_statement=True)
        if found is None:
            self._look_through(node)
            expander.poison(expander.at(node.span))
        else:
            self._inline(node, found)

    def _inline(self, node: ast.Call, found: Found) -> core.Node:
        """The body at the place of the call; gives the value of an expression function (poison of a statement)."""
        expander = self.expander
        span = expander.at(node.span)
        expander.count_one(span)
        if found.function in expander.context.functions:  # recursion, which was reported
            return expander.poison(span)
        targets: dict[str, core.Place | core.Cell] = {}
        bindings = self._arguments(node, found, targets)
        if bindings is None:
            return expander.poison(span)
        outer = self._enter(node, found, bindings, targets)
        locals_: list[core.DeclareOut] = []
        for name, target in targets.items():
            place = next(p.name.span for p in found.function.parameters if p.name.name == name)
            cell = core.Cell(name, expander.at(place), "out")
            locals_.append(core.DeclareOut(span, cell, target))
            expander.emit(locals_[-1])
            expander.context.frames[0][name] = cell
        start = len(expander.block.nodes)
        value: core.Node = core.Poison(span)
        expander.body(found.function.body)
        if found.function.value is not None:
            value = expander.expression(found.function.value)
        expander.context = outer
        body = expander.block.nodes[start:] if locals_ else []
        for declared in locals_:
            declared.copies = needs_old_value(body, declared.cell)
            expander.emit(core.FinishOut(span, declared.cell, declared.target))
            if isinstance(declared.target, core.Cell):
                expander.block.written.add(declared.target)
        return value

    # --- arguments

    def _arguments(
        self,
        node: ast.Call,
        found: Found,
        targets: dict[str, core.Place | core.Cell],
    ) -> dict[str, Binding] | None:
        """What each parameter stands for, evaluated in the order of the call. None after a fault."""
        binding = lookup.bind_call(found.function, node.arguments)
        assigned = effects(found).assigned
        bindings: dict[str, Binding] = {}
        is_whole = not (binding.missing or binding.unknown or binding.twice)
        for name, value in binding.values.items():
            if name in assigned:
                target = self._target(value)
                if target is None:
                    is_whole = False
                else:
                    targets[name] = target
                continue
            bindings[name] = self._argument(value, name, found)
        return bindings if is_whole else None

    def _target(self, value: ast.Expr) -> core.Place | core.Cell | None:
        expander = self.expander
        match value:
            case ast.Name(name=name):
                found = expander.find(name)
                return found if isinstance(found, core.Cell) else None
            case ast.Index(fill=None):
                return expander.place(value)
        return None

    def _argument(self, value: ast.Expr, name: str, found: Found) -> Binding:
        expander = self.expander
        if isinstance(value, ast.Name):
            bound = expander.find(value.name)
            if isinstance(bound, TensorName):
                if name not in effects(found).used:
                    return bound
                parameter = expander.signature.parameter(bound.tensor)
                subscripts = ", ".join(":" * len(parameter.dims)) if parameter is not None else ":"
                expander.faults.error(
                    catalog.WHOLE_TENSOR_MISUSE, expander.at(value.span), function=found.function.name.name,
                    parameter=name, name=value.name, subscripts=subscripts,
                )  # fmt: skip
                return expander.poison(expander.at(value.span))
        return expander.expression(value)

    def _enter(
        self,
        node: ast.Call,
        found: Found,
        bindings: dict[str, Binding],
        targets: dict[str, core.Place | core.Cell],
    ) -> Context:
        """Makes the function's body the context, its parameters bound; gives the context that was.

        Defaults and types are evaluated in the function's own file. A dim that a type names is what it is in the
        first argument that has it.
        """
        expander = self.expander
        span: Span = expander.at(node.span)
        depth = len(expander.context.functions) + 1
        if depth > INLINE_DEPTH:
            expander.faults.error(
                catalog.NESTING_TOO_DEEP, expander.at(node.function_span), limit=INLINE_DEPTH, level=depth,
                hint="calls inside calls are nested too deeply",
            )  # fmt: skip
            raise TooLargeError
        outer = expander.context
        expander.context = Context(found.scope, span, [{}], functions=(*outer.functions, found.function))
        places = {name: value.span for name, value in lookup.bind_call(found.function, node.arguments).values.items()}
        for parameter in found.function.parameters:
            name = parameter.name.name
            if name in targets:
                continue
            place = outer_span(places[name], outer) if name in places else span
            if name not in bindings and parameter.default is not None:
                bindings[name] = expander.expression(parameter.default)
            self._name_dims(parameter, bindings[name], place)
            value = bindings[name]
            if isinstance(value, core.Node):
                if parameter.is_const:
                    value = expander.emit(core.Fixed(place, value, name))
                bindings[name] = expander.typed(value, parameter.type, name, place, found.function.name.name)
        expander.context.frames[0].update(bindings)
        return outer

    def _name_dims(self, parameter: ast.Parameter, argument: Binding, place: Span) -> None:
        """Binds the symbols that the parameter's type has for dims, where they are new."""
        expander = self.expander
        for axis, dim in enumerate(parameter.type.dims or () if parameter.type is not None else ()):
            if not isinstance(dim, ast.Name) or expander.find(dim.name) is not None:
                continue
            if lookup.find_constant(expander.context.scope, dim.name) is not None:
                continue
            if isinstance(argument, TensorName):
                subject = expander.emit(core.WholeTensor(place, argument.tensor, True))
            else:
                assert isinstance(argument, core.Node)
                subject = argument
            rank = len(parameter.type.dims or ()) if parameter.type is not None else 0
            extent = expander.emit(core.Dimension(place, subject, axis, rank))
            expander.context.frames[0][dim.name] = extent


def outer_span(span: Span, context: Context) -> Span:
    """A place in the caller, reached as the caller was."""
    return span if context.via is None else span.through(context.via)


def needs_old_value(nodes: list[core.Node], cell: core.Cell) -> bool:
    """Whether an out parameter's local is read before it is surely assigned, or may end unassigned."""
    state = _scan(nodes, cell)
    return state != "assigned"


def _scan(nodes: list[core.Node], cell: core.Cell) -> str:
    """"read" if the cell is read before it is assigned, "assigned" if it surely is, else "open"."""
    for node in nodes:
        state = _scan_node(node, cell)
        if state != "open":
            return state
    return "open"


def _scan_node(node: core.Node, cell: core.Cell) -> str:
    match node:
        case core.CellRead() if node.cell is cell:
            return "read"
        case core.DeclareOut() if node.target is cell and node.copies:
            return "read"
        case core.CellWrite() if node.cell is cell:
            return "assigned"
        case core.FinishOut() if node.target is cell:
            return "assigned"
        case core.Branch():
            states = {_scan(node.then.nodes, cell), _scan(node.otherwise.nodes, cell)}
            if "read" in states:
                return "read"
            return "assigned" if states == {"assigned"} else "open"
        case core.ForLoop():
            return "read" if _scan(node.body.nodes, cell) == "read" else "open"
        case core.WhileLoop():
            return "read" if "read" in (_scan(node.test.nodes, cell), _scan(node.body.nodes, cell)) else "open"
    return "open"
