"""Reads the signatures of kernels: types, dims as extents, defaults."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.sema import fold, lookup
from tilec.sema.constants import adapt, evaluate, evaluate_const
from tilec.sema.formulas import read_formula
from tilec.sema.program import FileScope, KernelSignature, ParameterSignature
from tilec.syntax import ast, foreign
from tilec.types import DTYPES, DType, Extent, Symbol


def read_signature(kernel: ast.Kernel, scope: FileScope, reporter: Reporter) -> KernelSignature:
    """The kernel's signature. Faults are reported; a parameter whose type is not understood is left out."""
    return _Reader(kernel, scope, reporter).read()


class _Reader:
    def __init__(self, kernel: ast.Kernel, scope: FileScope, reporter: Reporter) -> None:
        self.kernel = kernel
        self.scope = scope
        self.reporter = reporter
        self.variables: dict[str, tuple[DType, ...]] = {}
        self.dims: dict[str, ast.Name] = {}

    def read(self) -> KernelSignature:
        for variable in self.kernel.type_parameters:
            if variable.name.name in self.variables:
                self._twice("type variable", variable.name)
            self.variables[variable.name.name] = self._alternatives(variable.elements, "a type variable")
        parameters: dict[str, ParameterSignature] = {}
        names: dict[str, ast.Name] = {}
        for parameter in self.kernel.parameters:
            if parameter.name.name in names:
                self._twice("parameter", parameter.name, names[parameter.name.name])
                continue
            names[parameter.name.name] = parameter.name
            read = self._parameter(parameter)
            if read is not None:
                parameters[read.name] = read
        for name, place in self.dims.items():
            if name in names:
                notes = [(names[name].span, "a parameter here")]
                self.reporter.error(catalog.DIM_AND_TENSOR, place.span, notes=notes, name=name)
        return KernelSignature(
            self.kernel.name.name, tuple(parameters.values()), self.variables, tuple(self.dims), self.kernel.doc,
            self.kernel.span, self.kernel, self.scope,
        )  # fmt: skip

    def _twice(self, what: str, name: ast.Name, first: ast.Name | None = None) -> None:
        notes = [(first.span, "first defined here")] if first is not None else []
        self.reporter.error(catalog.DUPLICATE_DEFINITION, name.span, notes=notes, what=what, name=name.name)

    def _alternatives(self, elements: tuple[ast.Name, ...], what: str) -> tuple[DType, ...]:
        found: list[DType] = []
        for element in elements:
            if element.name in self.variables and what == "a tensor":
                found.extend(self.variables[element.name])
            elif element.name not in DTYPES:
                known = ", ".join(f"`{name}`" for name in DTYPES)
                hint = foreign.TYPES.get(element.name)
                self.reporter.error(catalog.UNKNOWN_TYPE, element.span, hint=hint, name=element.name, known=known)
            elif DTYPES[element.name] not in found:
                found.append(DTYPES[element.name])
        return tuple(found)

    def _parameter(self, node: ast.Parameter) -> ParameterSignature | None:
        name = node.name.name
        if node.type is None:
            self.reporter.error(catalog.PARAMETER_NEEDS_TYPE, node.name.span, name=name)
            return None
        if node.type.kind == "tile":
            self.reporter.error(catalog.PARAMETER_TYPE, node.type.span, name=name, found="a tile")
            return None
        if node.type.kind == "tensor":
            return self._tensor(node, node.type)
        return self._scalar(node, node.type)

    def _tensor(self, node: ast.Parameter, type_: ast.TypeExpr) -> ParameterSignature | None:
        name = node.name.name
        alternatives = self._alternatives(type_.elements, "a tensor")
        variable = next((e.name for e in type_.elements if e.name in self.variables), None)
        dims = [self._dim(dim) for dim in type_.dims or ()]
        if len(dims) > 4 or not dims:
            given = f"{len(dims)} axes"
            self.reporter.error(catalog.TENSOR_RANK, type_.span, name=name, given=given, rank=len(dims))
            return None
        if node.default is not None:
            problem, expected = "cannot exist: it is a tensor", "a tensor"
            self.reporter.error(catalog.BAD_DEFAULT, node.default.span, name=name, problem=problem, expected=expected)
        if node.is_const:
            self.reporter.error(catalog.CONST_TENSOR, node.name.span, name=name, kind="tensor")
        if not alternatives or None in dims:
            return None
        return ParameterSignature(
            name, "tensor", alternatives, variable, tuple(dim for dim in dims if dim is not None), None, False,
            node.doc, node.name.span,
        )  # fmt: skip

    def _scalar(self, node: ast.Parameter, type_: ast.TypeExpr) -> ParameterSignature | None:
        alternatives = self._alternatives(type_.elements, "a scalar")
        if not alternatives:
            return None
        dtype = alternatives[0]
        if not dtype.is_compute:
            self.reporter.error(
                catalog.STORAGE_TYPE, type_.span, type=dtype, what="a scalar parameter", compute=dtype.compute
            )
            return None
        default = None
        if node.default is not None:
            default = self._default(node, node.default, dtype)
        return ParameterSignature(
            node.name.name, "scalar", (dtype,), None, (), default, node.is_const, node.doc, node.name.span
        )

    def _default(self, node: ast.Parameter, expression: ast.Expr, dtype: DType) -> fold.Number | None:
        constant = evaluate(expression, self.scope, self.reporter, f"the default of `{node.name.name}`")
        if constant is None:
            return None
        adapted = adapt(constant, dtype)
        if adapted is None:
            found = "an integer that does not fit" if constant.is_weak else f"`{constant.dtype}`"
            self.reporter.error(
                catalog.BAD_DEFAULT, expression.span, name=node.name.name, problem=f"is {found}",
                expected=f"`{dtype}`",
            )  # fmt: skip
            return None
        return adapted.value

    def _dim(self, node: ast.Expr) -> Extent | None:
        extent = read_formula(node, self._dim_name, self._bad_dim)
        if extent is not None and extent.constant is not None and extent.constant < 0:
            self._bad_dim(node, f"it is {extent}")
            return None
        return extent

    def _dim_name(self, node: ast.Name) -> Extent | None:
        name = node.name
        found = lookup.find_constant(self.scope, name)
        if found is None:
            self.dims.setdefault(name, node)
            return Extent.of(Symbol(name, "dim"))
        constant = evaluate_const(*found, self.reporter)
        if constant is None:
            return None
        if isinstance(constant.value, int) and not isinstance(constant.value, bool) and constant.value >= 0:
            return Extent.of(constant.value)
        self._bad_dim(node, f"`{name}` is {constant.value}")
        return None

    def _bad_dim(self, node: ast.Expr, reason: str) -> None:
        self.reporter.error(catalog.BAD_DIM, node.span, text=node.span.text, reason=reason)
