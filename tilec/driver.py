"""The whole pipeline, top to bottom: source -> program -> tile kernel -> plan -> loop program -> WGSL.

Stages are imported where they are used: a caller that only checks a file does not load the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tilec.diag.deadline import limited
from tilec.diag.report import Diagnostic, LimitReached, Reporter
from tilec.errors import ArrayError, CompileError, InternalError, TilecError
from tilec.facts import Facts
from tilec.options import Options
from tilec.source import Source
from tilec.types import DType

if TYPE_CHECKING:
    from tilec.loop.ir import Program as LoopProgram
    from tilec.plan.cost import PlanCost
    from tilec.plan.ir import Plan
    from tilec.plan.profile import Profile
    from tilec.sema.files import Files
    from tilec.sema.program import KernelSignature, Program
    from tilec.tile.ir import Kernel
    from tilec.wgsl.emit import Emitted
    from tilec.wgsl.layout import Binding

Constant: TypeAlias = "bool | int | float"
Constants: TypeAlias = Mapping[str, Constant]
DTypes: TypeAlias = Mapping[str, DType]

FEATURES = ("shader-f16", "subgroups")
"""WebGPU features that a caller may allow the output to use."""

STAGES = ("ast", "tile", "plan", "loop", "wgsl")
"""What `dump` prints, in the order of the pipeline; `tile@PASS` is the tile IR after that pass."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Names what fails inside: anything but a `TilecError` becomes an `InternalError` of that stage."""
    try:
        yield
    except LimitReached as limit:
        raise limit.as_error() from None
    except (TilecError, MemoryError):
        raise
    except Exception as error:
        raise InternalError(name, f"{type(error).__name__}: {error}") from error


# --- source to program ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A program that was read without errors; `warnings` are what was found on the way."""

    program: Program
    warnings: tuple[Diagnostic, ...]

    @property
    def signatures(self) -> Mapping[str, KernelSignature]:
        return self.program.kernels


def parse_file(program: str | Path | Source, files: Files | None = None) -> Loaded:
    """Reads a file (or a text) with what it imports (`files` None: from disk). Raises CompileError with all faults."""
    from tilec.sema.resolve import load_program

    reporter = Reporter()
    with limited(), stage("reading the program"):
        loaded = load_program(program, reporter, files)
    reporter.raise_if_errors()
    return Loaded(loaded, reporter.warnings)


# --- program to tile kernel ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A kernel for chosen dtypes and constants, normalised: what the interpreter runs and the planner plans."""

    kernel: Kernel
    warnings: tuple[Diagnostic, ...]


def build_kernel(
    program: Program,
    name: str,
    dtypes: DTypes | None = None,
    constants: Constants | None = None,
    verify: bool = False,
    debug: bool = False,
) -> Built:
    """The tile kernel `name` with the semantic passes applied; for `debug` with what it asserts and prints, and with
    reports of where NaNs and infinities come from. Raises CompileError with everything found."""
    with limited():
        return _build_kernel(program, name, dict(dtypes or {}), dict(constants or {}), verify, debug)


def _build_kernel(
    program: Program, name: str, chosen: dict[str, DType], fixed: dict[str, Constant], verify: bool, debug: bool
) -> Built:
    from tilec.sema.infer import build_kernel as infer

    constants, reporter = fixed, Reporter()
    signature = program.kernels[name]
    forward = signature.derivation.forward if signature.derivation is not None else name
    if signature.derivation is not None:
        chosen, fixed = _of_forward(signature, chosen, fixed)
    with stage(f"inferring the types of kernel {forward}"):
        kernel = infer(program, forward, dtypes=chosen, constants=fixed, reporter=reporter)
    reporter.raise_if_errors()
    from tilec.tile.passes import NORMALISE
    from tilec.tile.passes.drop_reports import drop_reports
    from tilec.tile.passes.watch_values import watch_values

    kernel = kernel if debug else _run_passes(kernel, [drop_reports], verify)
    if signature.derivation is not None:
        kernel = _derive_kernel(kernel, signature, reporter, constants)
    passes = [*NORMALISE, watch_values] if debug else NORMALISE
    return Built(_run_passes(kernel, passes, verify), reporter.warnings)


def derive(
    program: Program,
    kernel: str,
    wrt: Sequence[str],
    loss: str | None = None,
    *,
    in_place: bool = False,
    upstream: str = "tensor",
    constants: Constants | None = None,
    built: Kernel | None = None,
) -> tuple[Program, KernelSignature]:
    """The program with the gradient kernel of `kernel` beside it, and that kernel's signature.

    It computes what `kernel` does, and the gradient of the weighted sum of `loss` with respect to the tensors `wrt`,
    written over them or to new outputs. The weights are a tensor like the loss, or a scalar (`upstream`). The loss is
    the only float tensor that the kernel writes, if none is named: of `built`, or of the kernel built with `constants`.
    Raises ArrayError for names that do not fit, and CompileError; what has no gradient is found by `build_kernel`.
    """
    from tilec.sema.derived.signature import derive_program

    if loss is None:
        loss = _only_loss(built or build_kernel(program, kernel, None, constants).kernel)
    return derive_program(program, kernel, wrt, loss, in_place=in_place, upstream=upstream)


def _only_loss(built: Kernel) -> str:
    found = [tensor.name for tensor in built.tensors if tensor.access != "in" and tensor.dtype.is_float]
    if len(found) != 1:
        what = f"it writes {', '.join(found)}" if found else "it writes no float tensor"
        raise ArrayError(f"{built.name}: which tensor is the loss? {what}: say it with loss")
    return found[0]


def _of_forward(
    signature: KernelSignature, dtypes: dict[str, DType], constants: dict[str, bool | int | float]
) -> tuple[dict[str, DType], dict[str, bool | int | float]]:
    """The choices for a derived kernel as choices for the kernel that it is derived from."""
    assert signature.derivation is not None
    own = {variable: name for name, variable in signature.derivation.same_type.items()}
    added = {signature.derivation.weights, *signature.derivation.outputs.values()}
    return (
        {own.get(name, name): dtype for name, dtype in dtypes.items() if name not in added},
        {name: value for name, value in constants.items() if name not in added},
    )


def _derive_kernel(
    forward: Kernel, signature: KernelSignature, reporter: Reporter, constants: Constants
) -> Kernel:
    from tilec.sema.derived.kernel import derive_kernel

    with stage(f"deriving kernel {signature.name}"):
        kernel = derive_kernel(forward, signature, constants, reporter)
    reporter.raise_if_errors()
    assert kernel is not None
    return kernel


Pass: TypeAlias = "Callable[[Kernel], Kernel]"


def _run_passes(kernel: Kernel, passes: Sequence[Pass], verify: bool, last: str | None = None) -> Kernel:
    """The kernel after the passes, up to the one named `last`."""
    for one in passes:
        with stage(f"the pass {one.__name__} on kernel {kernel.name}"):
            kernel = one(kernel)
            if verify:
                from tilec.tile.verify import verify as verify_kernel

                verify_kernel(kernel, f"the pass {one.__name__}")
        if one.__name__ == last:
            break
    return kernel


# --- tile kernel to WGSL -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Compiled:
    """A kernel compiled for a set of facts. `guards` are the texts (over dims) under which it is right."""

    kernel: Kernel
    plan: Plan
    program: LoopProgram
    options: Options

    @property
    def guards(self) -> tuple[str, ...]:
        return tuple(self.program.guards)

    @cached_property
    def emitted(self) -> Emitted:
        """The WGSL module: text, entry points, and the source of each line."""
        from tilec.wgsl.emit import emit_module

        with stage(f"writing WGSL for kernel {self.kernel.name}"):
            return emit_module(self.program, self.options.trusted, self.kernel.span)

    @property
    def wgsl(self) -> str:
        return self.emitted.text

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """The bindings of group 0, by number."""
        from tilec.wgsl.layout import bindings

        return bindings(self.program)


def compile_built(built: Kernel, dims: Mapping[str, int] | None = None, options: Options | None = None) -> Compiled:
    """A normalised tile kernel to WGSL. `dims` are the values that the plan may rely on (none: right for all)."""
    options = options or Options()
    for feature in options.features:
        if feature not in FEATURES:
            raise CompileError([f"no feature is named {feature}; there are {', '.join(FEATURES)}"])
    with limited():
        return _compile(built, dims, options)


def _compile(built: Kernel, dims: Mapping[str, int] | None, options: Options) -> Compiled:
    from tilec.loop.lower import lower

    kernel, plan = _plan(built, dims, options)
    with stage(f"lowering kernel {built.name}"):
        program = lower(kernel, plan)
        if options.verify:
            from tilec.loop.verify import verify

            verify(program)
    _check_limits(built, program, options)
    return Compiled(kernel, plan, program, options)


def _check_limits(built: Kernel, program: LoopProgram, options: Options) -> None:
    """Raises CompileError for what every shader compiler or the device would refuse."""
    from tilec.diag import catalog
    from tilec.loop.limits import check_limits
    from tilec.wgsl.layout import DEEPEST_NESTING, deepest_nesting

    reporter = Reporter()
    check_limits(program, built, options.limits.storage_buffers, reporter)
    level = deepest_nesting(program)
    if level > DEEPEST_NESTING:
        reporter.error(catalog.NESTING_TOO_DEEP, built.span, limit=DEEPEST_NESTING, level=level)
    reporter.raise_if_errors()


def _plan(built: Kernel, dims: Mapping[str, int] | None, options: Options) -> tuple[Kernel, Plan]:
    from tilec.plan.make import make_plan
    from tilec.tile.passes import PASSES
    from tilec.tile.passes.place_reports import place_reports

    kernel = _run_passes(built, [place_reports, *PASSES], options.verify)
    with stage(f"planning kernel {built.name}"):
        return kernel, make_plan(kernel, Facts(dims), options)


def guards_of(built: Kernel, dims: Mapping[str, int], options: Options) -> tuple[str, ...]:
    """The guards under which the plan for these dims is right, without the rest of the compilation."""
    return tuple(_plan(built, dims, options)[1].guards)


def compile_kernel(
    program: Program,
    kernel: str,
    dtypes: DTypes | None = None,
    constants: Constants | None = None,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
) -> Compiled:
    """From a loaded program to WGSL in one call. Raises CompileError with everything found."""
    options = options or Options()
    return compile_built(build_kernel(program, kernel, dtypes, constants, options.verify).kernel, dims, options)


# --- looking inside ------------------------------------------------------------------------------------------


def print_tile(built: Kernel, after: str | None = None) -> str:
    """The tile IR as text, at the end of the passes or after the pass named `after`. CompileError: no such pass."""
    from tilec.tile.passes import NORMALISE, PASSES
    from tilec.tile.print import print_kernel

    names = [one.__name__ for one in (*NORMALISE, *PASSES)]
    if after is not None and after not in names:
        raise CompileError([f"no pass is named {after}; there are {', '.join(names)}"])
    if after in [one.__name__ for one in NORMALISE]:
        return print_kernel(built)
    return print_kernel(_run_passes(built, PASSES, False, after))


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """How a kernel runs: `cost` is None where a size that it needs is not known, which `missing` names then."""

    compiled: Compiled
    cost: PlanCost | None
    missing: str

    @property
    def text(self) -> str:
        """The plan, the costs of a launch, and what would have to change to do better."""
        from tilec.plan.advice import advise
        from tilec.plan.cost_text import print_cost
        from tilec.plan.print import print_plan

        kernel, plan, cost = self.compiled.kernel, self.compiled.plan, self.cost
        text = print_plan(kernel, plan, cost)
        if cost is None:
            return text
        advice = advise(kernel, plan, cost) or ["nothing is lost that this plan knows of"]
        return text + print_cost(cost, cost.sizes) + "to do better\n" + "".join(f"  {line}\n" for line in advice)


def explain(
    built: Kernel, dims: Mapping[str, int] | None = None, options: Options | None = None, profile: Profile | None = None
) -> Explanation:
    """The plan of a normalised kernel with what it costs; with a profile, on that device."""
    from tilec.loop.count import count_lowered
    from tilec.plan.cost import UnknownSize
    from tilec.plan.estimate import estimate

    compiled = compile_built(built, dims, options)
    with stage(f"counting the costs of kernel {built.name}"):
        try:
            lowered = count_lowered(compiled.program)
            cost = estimate(
                compiled.kernel, compiled.plan, dims or {}, profile, lowered, compiled.options.trusted
            )
        except UnknownSize as unknown:
            return Explanation(compiled, None, str(unknown))
    return Explanation(compiled, cost, "")


def dump(
    program: Program,
    kernel: str,
    what: str,
    dtypes: DTypes | None = None,
    constants: Constants | None = None,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
    debug: bool = False,
) -> str:
    """The text of one stage: an entry of `STAGES` or `tile@PASS`. Raises CompileError for another name."""
    name, _, after = what.partition("@")
    if name not in STAGES or (after and name != "tile"):
        raise CompileError([f"no stage is named {what}; there are {', '.join(STAGES)} and tile@PASS"])
    if name == "ast":
        from tilec.export.tree import tree_text

        return tree_text(program.kernels[kernel].node)
    built = build_kernel(program, kernel, dtypes, constants, debug=debug).kernel
    if name == "tile":
        return print_tile(built, after or None)
    if name == "plan":
        from tilec.plan.print import print_plan

        return print_plan(*_plan(built, dims, options or Options()))
    compiled = compile_built(built, dims, options)
    if name == "wgsl":
        return compiled.wgsl
    from tilec.loop.print import print_program

    return print_program(compiled.program)
