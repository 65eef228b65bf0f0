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
from tilec.types import DTYPES

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
            value = self._inline(node, found)
            assert value is not None
            return value
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

    def _inline(self, node: ast.Call, found: Found) -> core.Node | None:
        """The body at the place of the call; gives the value of an expression function."""
        expander = self.expander
        span = expander.at(node.span)
        expander.count_one(span)
        if found.function in expander.context.functions:  # recursion, which was reported
            return expander.poison(span)
        targets: dict[str, core.Place | core.Cell] = {}
        bindings = self._arguments(node, found, targets)
        if bindings is None:
            return expander.poison(span)
        outer = expander.context
        locals_ = self._enter(node, found, bindings, targets)
        start = len(expander.block.nodes)
        value: core.Node | None = None
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
    ) -> list[core.DeclareOut]:
        """Makes the function's body the context, its parameters bound; gives the locals of its out parameters.

        Defaults and types are evaluated in the function's own file. A dim that a type names is what it is in the
        first argument that has it; then all types are checked, whose dims may be formulas of those and of parameters.
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
        values = lookup.bind_call(found.function, node.arguments).values
        places = {name: outer_span(value.span, outer) for name, value in values.items()}
        parameters = found.function.parameters
        for parameter in parameters:  # before any name of the function's own is there for a default to see
            name = parameter.name.name
            if name not in targets and name not in bindings and parameter.default is not None:
                bindings[name] = expander.expression(parameter.default)
        frame = expander.context.frames[0]
        frame.update(bindings)
        locals_: list[core.DeclareOut] = []
        for parameter in parameters:
            name = parameter.name.name
            if name in targets:
                cell = frame[name] = core.Cell(name, expander.at(parameter.name.span), "out")
                locals_.append(core.DeclareOut(span, cell, targets[name]))
                expander.emit(locals_[-1])
        typed = [parameter for parameter in parameters if parameter.type is not None]
        subjects = {
            parameter.name.name: self._subject(frame[parameter.name.name], places.get(parameter.name.name, span))
            for parameter in typed
        }
        for parameter in typed:
            name = parameter.name.name
            self._name_dims(parameter, found, subjects[name], places.get(name, span))
        for parameter in parameters:
            name = parameter.name.name
            value, place = frame[name], places.get(name, span)
            if not isinstance(value, core.Node):
                self._check_exact(parameter, found, subjects.get(name), place)
                continue
            if parameter.is_const:
                value = expander.emit(core.Fixed(place, value, name))
            frame[name] = expander.typed(value, parameter.type, name, place, found.function.name.name)
        return locals_

    def _subject(self, argument: Binding, place: Span) -> core.Node:
        """What a parameter's type is the type of."""
        match argument:
            case TensorName(tensor=tensor):
                return self.expander.emit(core.WholeTensor(place, tensor, True))
            case core.Cell():
                return self.expander.emit(core.OutPlace(place, argument))
        return argument

    def _name_dims(self, parameter: ast.Parameter, found: Found, subject: core.Node, place: Span) -> None:
        """Binds the symbols that the parameter's type has for dims, where they are new."""
        expander = self.expander
        for axis, dim in enumerate(parameter.type.dims or () if parameter.type is not None else ()):
            if not isinstance(dim, ast.Name) or expander.find(dim.name) is not None:
                continue
            if lookup.find_constant(expander.context.scope, dim.name) is not None:
                continue
            extent = expander.emit(core.Dimension(place, subject, axis, _declared(parameter, found)))
            expander.context.frames[0][dim.name] = extent

    def _check_exact(self, parameter: ast.Parameter, found: Found, subject: core.Node | None, place: Span) -> None:
        """The declared type of a parameter that stands for memory, a whole tensor or an out parameter's place."""
        expander, type_ = self.expander, parameter.type
        if type_ is None or subject is None:
            return
        dtypes = [DTYPES[element.name] for element in type_.elements if element.name in DTYPES]
        if len(dtypes) < max(1, len(type_.elements)):
            expander.poison(place)
            return
        is_tensor = isinstance(subject, core.WholeTensor)
        if not is_tensor and not expander.is_value_type(type_, dtypes[0], parameter.name.name):
            return
        dims = tuple(expander.expression(dim) for dim in type_.dims or ())
        allowed = tuple(dtypes) if is_tensor == (type_.kind == "tensor") else ()
        expander.emit(core.Exact(place, subject, allowed, dims, _declared(parameter, found)))


def _declared(parameter: ast.Parameter, found: Found) -> core.Declared:
    type_ = parameter.type
    assert type_ is not None
    return core.Declared(parameter.name.name, found.function.name.name, type_.span.text, len(type_.dims or ()))


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
