"""The whole program: its dispatches in order, their uniforms, buffers and scratch."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import add, as_word, compare, const, multiply, signed
from tilec.loop.lower.code import TID, WORKGROUP
from tilec.loop.lower.combine import choose_arrays
from tilec.loop.lower.frame import Bindings, Frame
from tilec.loop.lower.jobs import ItemLowering
from tilec.loop.lower.memory import to_bits, unpacked
from tilec.loop.lower.split import lower_step
from tilec.loop.verify import verify_host_extents
from tilec.plan.ir import Dispatch, Plan
from tilec.plan.packed import all_phases
from tilec.tile import ir as tile
from tilec.types import DType, Extent, apply, element_count

_U32 = DType.U32


def lower(kernel: tile.Kernel, plan: Plan) -> ir.Program:
    """Per-thread code for every dispatch of the plan."""
    bindings = Bindings(kernel, plan)
    available: set[tile.Value] = set()
    dispatches: list[ir.Dispatch] = []
    for number, dispatch in enumerate(plan.dispatches):
        frame = Frame(kernel, plan, bindings, dispatch.threads)
        frame.available = available
        frame.vectors = dispatch.vectors
        frame.workgroup_words = plan.workgroup_words
        workgroups = _lower_dispatch(frame, dispatch)
        count = bindings.extent(workgroups, _U32)
        field = count.field if isinstance(count, ir.Uniform) else _literal_field(bindings, workgroups)
        name = kernel.name if len(plan.dispatches) == 1 else f"{kernel.name}_{number}"
        dispatches.append(
            ir.Dispatch(
                name, dispatch.threads, workgroups, field, tuple(frame.used.values()),
                tuple(frame.shared.values()), frame.code.statements,
            )
        )
    fields = tuple(bindings.fields.values())
    program = ir.Program(
        kernel.name, tuple(dispatches), fields, bindings.scratch_words, tuple(plan.guards), plan.subgroup, plan.log
    )
    verify_host_extents(program)
    return program


def _literal_field(bindings: Bindings, workgroups: Extent) -> ir.UniformField:
    key = (workgroups, _U32)
    if key not in bindings.fields:
        bindings.fields[key] = ir.UniformField(f"workgroups_{workgroups}", _U32, extent=workgroups)
    return bindings.fields[key]


def _lower_dispatch(frame: Frame, dispatch: Dispatch) -> Extent:
    if dispatch.kind in ("unpack", "pack"):
        return _copy(frame, dispatch)
    choose_arrays(frame, all_phases(dispatch.items))
    lowering = ItemLowering(frame)
    if dispatch.kind == "jobs":
        return lowering.spread(dispatch.phase, dispatch.merges_blocks)
    if dispatch.kind in ("split", "finish"):
        return lower_step(lowering, dispatch)
    grid = frame.kernel.grid
    frame.set_block(signed(WORKGROUP))
    lowering.lower(dispatch.items)
    frame.code.drop_last_barrier()
    return grid[0] * grid[1] * grid[2]


def _copy(frame: Frame, dispatch: Dispatch) -> Extent:
    """Every thread takes one word of a packed tensor from or to the tensor's shadow."""
    assert dispatch.tensor is not None
    parameter = frame.kernel.tensor(dispatch.tensor)
    shadow = frame.plan.shadows[dispatch.tensor]
    code, elements = frame.code, parameter.dtype.elements_per_word
    total = element_count(parameter.dims)
    count = frame.bindings.extent(total, _U32)
    word = code.let("word", add(multiply(WORKGROUP, const(dispatch.threads, _U32)), TID))
    first = code.let("first", multiply(word, const(elements, _U32)))
    base = frame.bindings.extent(frame.bindings.offsets[shadow], _U32)
    buffer, scratch = frame.tensor_buffer(parameter.name), frame.scratch_buffer()
    with code.when(code.let("exists", compare("lt", first, count))):
        joined = code.declare("joined", const(0, _U32))
        for place in range(elements):
            number = code.let("number", add(first, const(place, _U32)))
            at = code.let("at", add(base, number))
            with code.when(compare("lt", number, count) if place else None):
                if dispatch.kind == "unpack":
                    value = unpacked(frame, parameter.dtype, buffer, number)
                    code.emit(ir.StoreElement(scratch, at, as_word(value), True))
                else:
                    value = code.let("value", _from_word(ir.Load(scratch, at), shadow.dtype))
                    bits = ir.Bits("shl", (to_bits(parameter.dtype, value), const(place * 32 // elements, _U32)), _U32)
                    code.assign(joined, ir.Bits("or", (joined, bits), _U32))
        if dispatch.kind == "pack":
            code.emit(ir.StoreElement(buffer, word, joined, True))
    words = apply("ceildiv", total, Extent.of(elements))
    return apply("ceildiv", words, Extent.of(dispatch.threads))


def _from_word(word: ir.Expr, dtype: DType) -> ir.Expr:
    if dtype is DType.BOOL:
        return compare("ne", word, const(0, _U32))
    return ir.Bits("bitcast", (word,), dtype)

