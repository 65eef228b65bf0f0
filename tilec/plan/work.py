"""What a round computes for an element of its sweep, and what its states are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilec.ops import POINTWISE
from tilec.ops.spec import Helper
from tilec.plan.groups import component_dtypes, group_states
from tilec.plan.ir import Phase, Plan, Roles, Round, Sink
from tilec.plan.schedule import phase_rounds
from tilec.plan.screened import screened_conditions, usual_side
from tilec.plan.walk import children, operand_roles
from tilec.tile import ir as tile
from tilec.types import DType

FUNCTIONS = frozenset(
    {
        "sqrt", "rsqrt", "exp", "exp2", "exp_fast", "expm1", "log", "log2", "log1p", "logaddexp", "pow", "sin", "cos",
        "tanh", "sigmoid", "softplus", "erf",
    }
)  # fmt: skip
"""Operations that a device has few units for, or that are made of such."""

# Instructions an element. A helper guards special values; a function's helper reduces its argument too.
_HELPER, _FUNCTION = 4, 6
_SHIFTED, _BEST, _PLAIN = 5, 6, 1
_TERM = 3
"""For each moment, and for a mean that they are relative to."""
_ADDRESS = 4
"""For a granule that is loaded or stored at once, else for each element."""
_UNPACK = {DType.F16: 16, DType.BF16: 1, DType.I8: 3, DType.U8: 2, DType.BOOL: 2, DType.I64: 3}
_BUILT_IN = 2
"""A conversion by a built-in that the device is trusted with."""
_PACK = {DType.F16: 24, DType.BF16: 6, DType.I8: 3, DType.U8: 3, DType.BOOL: 2, DType.I64: 3}


@dataclass(slots=True)
class Work:
    """An element's: `functions` by name and number, `operations` (instructions, estimated). `reductions` are the ops
    that the round's states give, `state_words` the registers that hold them."""

    functions: dict[str, int] = field(default_factory=dict)
    operations: float = 0.0
    reductions: list[str] = field(default_factory=list)
    state_words: int = 0

    @property
    def function_count(self) -> int:
        return sum(self.functions.values())

    def count(self, name: str) -> None:
        self.functions[name] = self.functions.get(name, 0) + 1
        self.operations += _FUNCTION


def work_of(
    kernel: tile.Kernel,
    plan: Plan,
    phase: Phase,
    item: Round,
    vectors: frozenset[str],
    trusted: Sequence[str] = (),
) -> Work:
    """The work of a round, for one element of its sweep; nothing if it has no sweep."""
    work = Work()
    built_in = {DType.F16: _BUILT_IN} if "f16" in trusted else {}
    unpack, pack = {**_UNPACK, **built_in}, {**_PACK, **built_in}
    sinks = [sink for each in phase_rounds(phase.items) for sink in each.sinks]
    leaves = {sink.value for sink in sinks if sink.kind in ("reduce", "pick")}
    values: dict[tuple[tile.Value, Roles], None] = {}
    singled = screened_conditions(plan.homes, phase, item)
    for sink in item.wide:
        if sink.kind not in ("pick", "reduce"):
            _collect(sink.operand, sink, plan, leaves, values, singled)
    roles = {sink.value: sink for sink in item.wide}
    for group in group_states(item.reductions):
        for each in group.inputs:
            _collect(each, roles[group.reductions[0]], plan, leaves, values)
    for value, _ in values:
        if isinstance(value, tile.Pointwise):
            _count_pointwise(value, work)
        elif isinstance(value, tile.Load):
            _count_access(kernel, plan, phase, value.tensor, vectors, unpack, work)
    for sink in item.wide:
        if sink.kind == "store":
            _count_access(kernel, plan, phase, sink.store.tensor, vectors, pack, work)
        elif sink.kind != "reduce":
            work.operations += _ADDRESS
    _count_states(item, work, plan.trusts_exp)
    return work


def _collect(
    root: tile.Value,
    sink: Sink,
    plan: Plan,
    leaves: set[tile.Value],
    found: dict[tuple[tile.Value, Roles], None],
    singled: Sequence[tile.Value] = (),
) -> None:
    """The values that are computed or loaded for each element, with their roles: not what a job has once, nor what only
    elements that conditions single out are computed with."""
    stack = [(root, operand_roles(root.type.shape, sink.roles), sink.kind != "publish")]
    while stack:
        value, roles, is_home_read = stack.pop()
        is_leaf = value in leaves or (is_home_read and value in plan.homes)
        if is_leaf or (value, roles) in found or not any(role.startswith("s") for role in roles):
            continue
        usual = usual_side(value, singled)
        if usual is not None:
            stack.append((usual, operand_roles(usual.type.shape, roles), True))
            continue
        found[value, roles] = None
        if not isinstance(value, tile.Load):
            stack.extend((operand, own, True) for operand, own in children(value, roles))


def _count_pointwise(value: tile.Pointwise, work: Work) -> None:
    if value.op in FUNCTIONS:
        work.count(value.op)
        return
    operand = value.operands[-1].type.dtype
    form = POINTWISE[value.op].wgsl.get(operand)
    work.operations += _HELPER if isinstance(form, Helper) and operand is DType.F32 else 1


def _count_access(
    kernel: tile.Kernel,
    plan: Plan,
    phase: Phase,
    tensor: str,
    vectors: frozenset[str],
    conversions: dict[DType, int],
    work: Work,
) -> None:
    work.operations += _ADDRESS / (phase.mapping.granule if tensor in vectors else 1)
    if tensor not in plan.shadows:
        work.operations += conversions.get(kernel.tensor(tensor).dtype, 0)


def _count_states(item: Round, work: Work, trusts_exp: bool) -> None:
    work.state_words = len(component_dtypes(item, trusts_exp))
    for group in group_states(item.reductions):
        work.reductions += [reduction.op for reduction in group.reductions]
        if group.kind == "shifted":
            work.count("exp")
            work.operations += _SHIFTED - 1 + _TERM * (len(group.terms) - 1)
        elif group.kind == "mean":
            work.operations += _TERM * (len(group.terms) + 1)
        elif group.kind == "best":
            work.operations += _BEST
        else:
            work.operations += _PLAIN
