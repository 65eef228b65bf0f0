"""From a kernel's core form to typed tile IR."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.errors import InternalError
from tilec.sema import core
from tilec.sema.access import decide_access, given_dims
from tilec.sema.attributes import Attributes, read_attributes
from tilec.sema.blocks import check_blocks
from tilec.sema.builder import Builder, Scalar
from tilec.sema.builtins import block_index, infer_builtin, infer_tile_subscript
from tilec.sema.cells import assign, declare, declare_out, finish_out, read_cell
from tilec.sema.constants import Constant, adapt, constant_of
from tilec.sema.context import TooLargeError
from tilec.sema.control import infer_branch, infer_for, infer_while
from tilec.sema.coverage import check_coverage
from tilec.sema.declared import check_exact, check_fixed, check_type, infer_dimension, infer_out_place
from tilec.sema.elementwise import infer_elementwise
from tilec.sema.expand import Expander
from tilec.sema.faults import Faults
from tilec.sema.grid import infer_grid
from tilec.sema.items import Iotas, Item, Solution
from tilec.sema.memory import infer_read, infer_write
from tilec.sema.program import KernelSignature, ParameterSignature, Program
from tilec.sema.reports import infer_assert, infer_print
from tilec.sema.requirements import infer_requirement
from tilec.tile import ir
from tilec.types import DType, Extent, Symbol, TileType

TRIALS = 8


def build_kernel(
    program: Program,
    kernel_name: str,
    *,
    dtypes: Mapping[str, DType] | None = None,
    constants: Mapping[str, Scalar] | None = None,
    reporter: Reporter,
) -> ir.Kernel:
    """The kernel as tile IR for chosen storage types and constants.

    `dtypes` are by parameter or type variable, the first alternative otherwise; `constants` by scalar parameter.
    Raises CompileError with everything that `reporter` holds when there is an error.
    """
    kernel = try_build_kernel(program, kernel_name, dtypes=dtypes, constants=constants, reporter=reporter)
    reporter.raise_if_errors()
    if kernel is None:
        raise InternalError("sema.infer", f"{kernel_name} gave neither a kernel nor a diagnostic")
    return kernel


def try_build_kernel(
    program: Program,
    kernel_name: str,
    *,
    dtypes: Mapping[str, DType] | None = None,
    constants: Mapping[str, Scalar] | None = None,
    reporter: Reporter,
) -> ir.Kernel | None:
    """`build_kernel` that leaves faults to the reporter: None after an error of this kernel."""
    signature = program.kernels[kernel_name]
    faults = Faults(reporter)
    try:
        kernel = _build(signature, dtypes or {}, constants or {}, faults)
        return kernel if program.is_sound else None
    except TooLargeError:
        return None
    except RecursionError:
        hint = "its calls and expressions are nested too deeply, one inside the other"
        faults.error(catalog.NESTING_TOO_DEEP, signature.node.name.span, hint=hint, limit=64, level=64)
        return None


def look_through(program: Program, reporter: Reporter) -> None:
    """Reports what is wrong inside the kernels of a program that is known to be faulty, so that one run finds all."""
    for signature in program.kernels.values():
        missing = [p for p in signature.parameters if p.is_const and p.default is None and p.kind == "scalar"]
        assumed: dict[str, Scalar] = {p.name: p.alternatives[0] is DType.BOOL or 1 for p in missing}
        try_build_kernel(program, signature.name, constants=assumed, reporter=reporter)


def _build(
    signature: KernelSignature, dtypes: Mapping[str, DType], constants: Mapping[str, Scalar], faults: Faults
) -> ir.Kernel | None:
    tensors = _tensors(signature, dtypes, faults)
    fixed = _constants(signature, constants, faults)
    attributes = read_attributes(signature, faults, fixed)
    expander = Expander(signature, faults)
    body = expander.expand()
    builder = _run(signature, tensors, fixed, attributes, body, expander.iotas, faults)
    is_read_whole = len(signature.parameters) == len(signature.node.parameters)
    if not is_read_whole:
        faults.give_up(signature.node.name.span)
    if faults.count:
        return None  # rules between blocks presume a program that is understood
    grid = infer_grid(builder, attributes)
    if grid is not None:
        check_blocks(builder, grid, attributes)
    if faults.count or grid is None:
        return None
    access = decide_access(builder)
    check_coverage(builder, grid, attributes, access)
    used = tuple(
        ir.TensorParameter(
            t.name, t.dtype, t.alternatives, t.type_variable, t.dims, access.get(t.name, "in"), t.doc, t.span
        )
        for t in tensors.values()
    )
    if not any(tensor.access != "in" for tensor in used):
        faults.warning(catalog.NEVER_STORES, signature.node.name.span, name=signature.name)
    scalars = tuple(
        ir.ScalarParameter(p.name, p.alternatives[0], p.default, p.is_const, p.doc, p.span)
        for p in signature.parameters
        if p.kind == "scalar" and p.name not in fixed
    )
    names = tuple(p.name for p in signature.parameters if p.name not in fixed)
    return ir.Kernel(
        signature.name, used, scalars, names, {name: value.value for name, value in fixed.items()}, signature.dims,
        given_dims(signature.dims, used), grid, tuple(builder.requirements), ir.Region(builder.body),
        attributes.threads, signature.doc, signature.node.name.span,
    )  # fmt: skip


def _run(
    signature: KernelSignature,
    tensors: dict[str, ir.TensorParameter],
    constants: Mapping[str, Constant],
    attributes: Attributes,
    body: core.Block,
    iotas: list[core.Builtin],
    faults: Faults,
) -> Builder:
    """Types the body: in trials until no further iota is solved, then once more for good."""
    solutions = Iotas({node: Solution(0) for node in iotas})
    keys: dict = {}

    def builder(trial: bool) -> Builder:
        own = Faults(faults.reporter, is_silent=True) if trial else faults
        return Builder(signature, tensors, constants, own, solutions, trial, attributes.bound, keys)

    for trial in range(TRIALS):
        if all(solution.is_solved for solution in solutions.solutions.values()):
            break
        solutions.is_changed = False
        run_block(builder(True), body)
        if not solutions.is_changed:
            solutions.settle(only_first=trial < TRIALS - 2)
        if not solutions.is_changed:
            break
    final = builder(False)
    run_block(final, body)
    return final


# --- parameters


def _tensors(
    signature: KernelSignature, dtypes: Mapping[str, DType], faults: Faults
) -> dict[str, ir.TensorParameter]:
    """The tensor parameters with the storage types that were asked for."""
    for name in dtypes:
        parameter = signature.parameter(name)
        if name not in signature.type_variables and (parameter is None or parameter.kind != "tensor"):
            known = [p.name for p in signature.parameters if p.kind == "tensor"] + list(signature.type_variables)
            expected = "given for " + ", ".join(f"`{n}`" for n in known) if known else "given for no parameter"
            faults.error(
                catalog.BAD_DTYPE_CHOICE, signature.node.name.span, name=name, expected=expected, found=dtypes[name]
            )
    tensors = {}
    for parameter in signature.parameters:
        if parameter.kind != "tensor":
            continue
        wanted = dtypes.get(parameter.name)
        if wanted is None and parameter.type_variable is not None:
            wanted = dtypes.get(parameter.type_variable)
        if wanted is not None and wanted not in parameter.alternatives:
            expected = " or ".join(f"`{dtype}`" for dtype in parameter.alternatives)
            faults.error(
                catalog.BAD_DTYPE_CHOICE, parameter.span, name=parameter.name, expected=expected, found=wanted
            )
            wanted = None
        tensors[parameter.name] = ir.TensorParameter(
            parameter.name, wanted or parameter.alternatives[0], parameter.alternatives, parameter.type_variable,
            parameter.dims, "in", parameter.doc, parameter.span,
        )  # fmt: skip
    return tensors


def _constants(
    signature: KernelSignature, given: Mapping[str, Scalar], faults: Faults
) -> dict[str, Constant]:
    """The scalar parameters that are fixed: those given, and `const` ones by their defaults."""
    fixed: dict[str, Constant] = {}
    for name, value in given.items():
        parameter = signature.parameter(name)
        if parameter is None or parameter.kind != "scalar":
            place = parameter.span if parameter is not None else signature.node.name.span
            problem = "it is a tensor" if parameter is not None else "there is no such parameter"
            faults.error(catalog.BAD_CONST_ARGUMENT, place, name=name, found=repr(value), problem=problem)
            continue
        adapted = _adapted(parameter, value)
        if adapted is None:
            problem = f"it must be `{parameter.alternatives[0]}`"
            faults.error(catalog.BAD_CONST_ARGUMENT, parameter.span, name=name, found=repr(value), problem=problem)
        else:
            fixed[name] = adapted
    for parameter in signature.parameters:
        if not parameter.is_const or parameter.name in given or parameter.kind != "scalar":
            continue
        if parameter.default is not None:
            fixed[parameter.name] = Constant(parameter.default, parameter.alternatives[0])
        else:
            faults.error(
                catalog.BAD_CONST_ARGUMENT, parameter.span, name=parameter.name, found="missing",
                problem="it has no default and must be given when the kernel is compiled",
            )  # fmt: skip
            fixed[parameter.name] = Constant(1, parameter.alternatives[0])
    return fixed


def _adapted(parameter: ParameterSignature, value: Scalar) -> Constant | None:
    dtype = parameter.alternatives[0]
    if isinstance(value, bool | int | float):
        return adapt(constant_of(value), dtype)
    return None


# --- the walk


def run_block(builder: Builder, block: core.Block) -> None:
    """Infers every node of a block, in order."""
    for node in block.nodes:
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(builder, node)
        else:
            item = builder.items[node] = _VALUES[type(node)](builder, node)
            if node.name and item.value is not None and not item.value.name:
                item.value.name = node.name


def _literal(builder: Builder, node: core.Literal) -> Item:
    constant = constant_of(node.value)
    if isinstance(node.value, float) and node.text:
        is_lost = abs(constant.value) == float("inf") or (constant.value == 0.0 and node.value != 0.0)
        if is_lost and abs(node.value) != float("inf"):
            builder.faults.warning(catalog.LITERAL_OVERFLOW, node.span, text=node.text, value=constant.value)
    extent = Extent.of(int(node.value)) if constant.dtype is DType.I32 else None
    return Item(node.span, constant=constant, extent=extent)


def _parameter(builder: Builder, node: core.ParameterRead) -> Item:
    constant = builder.constants.get(node.parameter)
    parameter = builder.signature.parameter(node.parameter)
    assert parameter is not None
    if constant is not None:
        extent = Extent.of(int(constant.value)) if constant.dtype is DType.I32 else None
        return Item(node.span, constant=constant, extent=extent)
    dtype = parameter.alternatives[0]
    value = builder.emit(ir.Scalar(TileType(dtype), node.span, parameter.name, name=parameter.name))
    extent = Extent.of(Symbol(parameter.name, "scalar", nonnegative=False)) if dtype is DType.I32 else None
    return Item(node.span, value, extent=extent)


def _dim(builder: Builder, node: core.DimRead) -> Item:
    return Item(node.span, extent=Extent.of(Symbol(node.dim, "dim")), is_weak=True)


def _whole_tensor(builder: Builder, node: core.WholeTensor) -> Item:
    if node.is_subject:
        return Item(node.span)  # not poison: `extent` asks for the tensor itself
    subscripts = ", ".join(":" * len(builder.tensors[node.tensor].dims))
    builder.faults.error(catalog.TENSOR_AS_VALUE, node.span, name=node.span.text, subscripts=subscripts)
    return builder.poison(node.span)


_VALUES = {
    core.Poison: lambda builder, node: builder.poison(node.span),
    core.Literal: _literal,
    core.ParameterRead: _parameter,
    core.DimRead: _dim,
    core.BlockRead: lambda builder, node: block_index(builder, node.axis, node.span),
    core.Use: lambda builder, node: builder.items[node.operand].used_at(node.span),
    core.CellRead: read_cell,
    core.Elementwise: infer_elementwise,
    core.Builtin: infer_builtin,
    core.Typed: check_type,
    core.Dimension: infer_dimension,
    core.OutPlace: infer_out_place,
    core.Fixed: check_fixed,
    core.TensorRead: infer_read,
    core.WholeTensor: _whole_tensor,
    core.TileSubscript: infer_tile_subscript,
}
_STATEMENTS = {
    core.Declare: declare,
    core.DeclareOut: declare_out,
    core.FinishOut: finish_out,
    core.Exact: check_exact,
    core.CellWrite: lambda builder, node: assign(builder, node.cell, builder.items[node.value], node.span),
    core.TensorWrite: infer_write,
    core.Branch: lambda builder, node: infer_branch(builder, node, run_block),
    core.ForLoop: lambda builder, node: infer_for(builder, node, run_block),
    core.WhileLoop: lambda builder, node: infer_while(builder, node, run_block),
    core.Requires: infer_requirement,
    core.Asserts: infer_assert,
    core.Prints: infer_print,
}

