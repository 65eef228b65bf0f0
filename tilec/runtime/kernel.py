"""The Python API's kernels, which run on arrays and show what they were compiled to.

NumPy and wgpu are imported at the first launch: compiling and looking at the output needs neither.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from tilec import driver
from tilec.diag.report import Diagnostic, suggest
from tilec.errors import ArrayError, DeviceError, SandboxError
from tilec.options import Options
from tilec.runtime.cache import Build, Variants
from tilec.runtime.kept import Kept
from tilec.sema.program import KernelSignature, ParameterSignature, Program
from tilec.types import DTYPES, DType

if TYPE_CHECKING:
    from tilec.runtime.bound import Bound
    from tilec.runtime.compute import Device
    from tilec.runtime.executable import Code
    from tilec.runtime.windowed import Launchable
    from tilec.wgsl.layout import Binding


class Kernel:
    """One kernel: call it with arrays and scalars. Inputs by position or name, outputs are allocated and returned."""

    _built_kept = 64
    _prepared_kept = 512

    def __init__(
        self,
        program: Program,
        signature: KernelSignature,
        constants: Mapping[str, bool | int | float] | None = None,
        build: Build | None = None,
    ) -> None:
        self._program = program
        self._build = build or Build()
        self.write_steps: Callable[[str], None] | None = None
        """Gets a line for each step of the interpreter."""
        self._signature = signature
        self._constants = dict(constants or {})
        self._built: Kept[Variants] = Kept(self._built_kept)
        self._prepared: Kept[Launchable] = Kept(self._prepared_kept)
        self._specialised: Kept[Kernel] = Kept(self._built_kept)
        self._lock = threading.RLock()
        self.name = signature.name
        self.__doc__ = signature.doc or f"The kernel {signature.name}."

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def signature(self) -> KernelSignature:
        """Parameters with their alternatives, defaults and docs, before types are chosen."""
        return self._signature

    @property
    def is_debug(self) -> bool:
        """Whether it is a debug build."""
        return self._build.debug

    @property
    def constants(self) -> Mapping[str, bool | int | float]:
        """The scalars that `specialize` fixed."""
        return MappingProxyType(self._constants)

    def __repr__(self) -> str:
        parameters = ", ".join(_declaration(parameter) for parameter in self._signature.parameters)
        fixed = "".join(f", {name}={value}" for name, value in self._constants.items())
        return f"<tilec.Kernel {self.name}({parameters}){fixed}>"

    def specialize(self, **constants: Any) -> Kernel:
        """The kernel with scalar parameters fixed to values: the code has them as literals.

        Raises ArrayError for a name that is no scalar parameter or a value that does not fit, and CompileError where
        the kernel is refused with these values.
        """
        from tilec.runtime.scalars import scalar_value

        fixed = dict(self._constants)
        for name, value in constants.items():
            parameter = self._signature.parameter(name)
            if parameter is None or parameter.kind != "scalar":
                what = "is a tensor" if parameter is not None else self._unknown(name, "scalar")
                raise ArrayError(f"{self.name}: only scalars can be fixed, and {name} {what}")
            fixed[name] = scalar_value(value, parameter.alternatives[0], name)
        key = tuple(sorted((name, repr(value)) for name, value in fixed.items()))
        known = self._specialised.get(key)
        if known is None:
            made = Kernel(self._program, self._signature, fixed, self._build)
            made.check()  # before it is kept: what was refused is refused the next time too
            known = self._specialised.put(key, made)
        return known

    def __getitem__(self, grid: object) -> NoReturn:
        """A launch in the manner of Triton. Raises TypeError, which says how kernels are called here."""
        raise TypeError(f"{self.name}[...]: a kernel has its grid from its stores: call it, {self.name}(...)")

    def grad(
        self,
        wrt: str | Sequence[str],
        loss: str | None = None,
        *,
        in_place: bool = False,
        upstream: str | float = "tensor",
    ) -> Kernel:
        """The kernel that computes the losses and the gradient of their weighted sum with respect to the tensors `wrt`.

        `loss` is a float tensor that this kernel writes; it need not be named if it is the only one. `in_place` writes
        the gradient over `wrt`; otherwise it is a new output, `DLogits` for `Logits`, of the same shape and type.
        `upstream` says how each loss is weighted: "tensor" adds an input `DLoss` of the loss's shape, float32; "scalar"
        adds a scalar `DLoss` with the default 1.0; a number fixes it. Names that are taken get a `_` at their end.
        Raises ArrayError for names that do not fit, and CompileError, with the place, where there is no gradient or it
        would have to be added up across blocks.
        """
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        fixed = upstream if isinstance(upstream, int | float) and not isinstance(upstream, bool) else None
        how = upstream if isinstance(upstream, str) else "scalar" if fixed is not None else repr(upstream)
        key = ("grad", names, loss, in_place, how)
        known = self._specialised.get(key)
        if known is None:
            built = self._default.kernel if loss is None else None
            program, signature = driver.derive(
                self._program, self.name, names, loss, in_place=in_place, upstream=how, built=built
            )
            made = Kernel(program, signature, self._constants, self._build)
            if fixed is None:
                made.check()
            known = self._specialised.put(key, made)
        if fixed is None:
            return known
        derivation = known.signature.derivation
        assert derivation is not None
        return known.specialize(**{derivation.weights: fixed})

    def _needs_constants(self) -> list[str]:
        return [
            parameter.name
            for parameter in self._signature.parameters
            if parameter.is_const and parameter.default is None and parameter.name not in self._constants
        ]

    def check(self) -> tuple[Diagnostic, ...]:
        """Types the kernel for the first alternatives and gives the warnings. Raises CompileError with all errors.

        A kernel whose `const` parameters have no value yet is checked when they get one.
        """
        if self._needs_constants():
            return ()
        self._default  # noqa: B018
        return self._warnings

    def _unknown(self, name: str, kind: str = "") -> str:
        known = [parameter.name for parameter in self._signature.parameters if kind in ("", parameter.kind)]
        near = suggest(name, [*known, *(() if kind else self._signature.dims)])
        return f"is no parameter{f'; did you mean {near}?' if near else ''}"

    # -- building -----------------------------------------------------------------------------------------------

    @cached_property
    def _default(self) -> Variants:
        variants, built = self._build.variants(self._program, self._signature, {}, self._constants)
        self._warnings = built.warnings
        return variants

    def _variants(self, dtypes: Mapping[str, DType]) -> Variants:
        """The tile kernel for dtypes of parameters and type variables."""
        missing = self._needs_constants()
        if missing:
            raise ArrayError(f"{self.name}: {missing[0]} is const: fix it first, specialize({missing[0]}=...)")
        first = {name: types[0] for name, types in self._signature.type_variables.items()}
        first |= {p.name: p.alternatives[0] for p in self._signature.parameters if p.kind == "tensor"}
        chosen = {name: dtype for name, dtype in dtypes.items() if first.get(name) is not dtype}
        if not chosen:
            return self._default
        key = tuple(sorted((name, dtype.label) for name, dtype in chosen.items()))
        with self._lock:
            known = self._built.get(key)
            if known is None:
                made, _ = self._build.variants(self._program, self._signature, chosen, self._constants)
                known = self._built.put(key, made)
            return known

    def _asked_dtypes(self, dtypes: Mapping[str, Any] | None) -> dict[str, DType]:
        """`dtypes=` of a call: names are parameters or type variables."""
        asked: dict[str, DType] = {}
        for name, given in (dtypes or {}).items():
            parameter = self._signature.parameter(name)
            if name in self._signature.type_variables:
                alternatives = self._signature.type_variables[name]
            elif parameter is not None and parameter.kind == "tensor":
                alternatives = parameter.alternatives
            else:
                tensors = [parameter.name for parameter in self._signature.parameters if parameter.kind == "tensor"]
                known = [*self._signature.type_variables, *tensors]
                near = suggest(name, known)
                hint = f"did you mean {near}?" if near else f"there is {', '.join(known)}"
                raise ArrayError(f"{self.name}: dtypes: {name} is no tensor parameter or type variable; {hint}")
            dtype = _named(given, name)
            if dtype not in alternatives:
                listed = ", ".join(map(str, alternatives))
                raise ArrayError(f"{self.name}: dtypes: {name} may be {listed}, and {dtype} was asked for")
            asked[name if parameter is None else parameter.type_variable or name] = dtype
        return asked

    # -- looking at it ------------------------------------------------------------------------------------------

    def _compiled(
        self, dims: Mapping[str, int] | None, dtypes: Mapping[str, Any] | None, features: Sequence[str] = ()
    ) -> Code:
        from tilec.runtime.scalars import I32_HIGHEST, integer_value

        for name in dims or {}:
            if name not in self._signature.dims:
                raise ArrayError(f"{self.name}: {name} is no dim; there is {', '.join(self._signature.dims) or 'none'}")
        sizes = {name: integer_value(value, name, "a size", 0, I32_HIGHEST) for name, value in (dims or {}).items()}
        variants = self._variants(self._asked_dtypes(dtypes))
        return variants.general(Options(features=tuple(features)), sizes)

    def wgsl(
        self,
        dims: Mapping[str, int] | None = None,
        dtypes: Mapping[str, Any] | None = None,
        features: Sequence[str] = (),
    ) -> str:
        """The WGSL module, one entry point a dispatch, for WebGPU's default limits.

        `dims` are sizes that the code may rely on (none: right for all), `dtypes` as in a call, `features` the WebGPU
        features that the code may use.
        """
        return self._compiled(dims, dtypes, features).wgsl

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The bindings of group 0 that the WGSL has, by number."""
        return self._compiled(None, None).bindings

    def grid(self, **dims: int) -> tuple[int, int, int]:
        """The number of blocks along x, y and z, for dims (and scalars, where the grid depends on one) by name."""
        kernel = self._variants({}).kernel
        try:
            x, y, z = (max(0, extent.evaluate(_whole(dims))) for extent in kernel.grid)
        except KeyError as error:
            raise ArrayError(f"{self.name}: the grid depends on {error.args[0]}: grid({error.args[0]}=...)") from None
        return x, y, z

    def ir(self, after: str | None = None, dtypes: Mapping[str, Any] | None = None) -> str:
        """The tile IR as text, after all passes or after the pass of that name."""
        self._needs_statements()
        return driver.print_tile(self._variants(self._asked_dtypes(dtypes)).kernel, after)

    def plan(self, dims: Mapping[str, int] | None = None, dtypes: Mapping[str, Any] | None = None) -> str:
        """The schedule as text: dispatches, sweeps, where values live."""
        from tilec.plan.print import print_plan

        self._needs_statements()
        compiled = self._compiled(dims, dtypes)
        assert isinstance(compiled, driver.Compiled)
        return print_plan(compiled.kernel, compiled.plan)

    def _needs_statements(self) -> None:
        if self._build.sandbox is not None:
            raise SandboxError(f"{self.name} was compiled in a sandbox, from which only its code comes back")

    # -- running ------------------------------------------------------------------------------------------------

    def __call__(
        self,
        *positional: Any,
        device: Device | str | int | None = None,
        dtypes: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Any:
        """Runs the kernel and returns its results: the outputs, and the tensors that it updates.

        Inputs and scalars by position (in the source's order, outputs left out) or by name; `args` takes names that
        clash with the options. Sizes that no input has are passed by name. `device` is "numpy" (the interpreter), a
        `tilec.Device`, or what `tilec.device` takes; by default the best adapter. `dtypes` asks for storage types.
        Host arrays are never modified; with a device array among the arguments the results are device arrays.
        Raises ArrayError, DeviceError, CompileError.
        """
        from tilec.runtime.call import call

        return call(self, positional, self._named(named, args, dtypes), device, dtypes)

    def bind(
        self,
        *positional: Any,
        device: Device | str | int | None = None,
        dtypes: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Bound:
        """A prepared launch on these arguments, given as in a call: `launch()` costs little more than the driver's.

        Host arrays are uploaded now and outputs allocated, once; results are device arrays.
        Raises ArrayError, DeviceError, CompileError.
        """
        from tilec.runtime.call import bind

        return bind(self, positional, self._named(named, args, dtypes), device, dtypes)

    def _named(
        self, named: Mapping[str, Any], args: Mapping[str, Any] | None, dtypes: Mapping[str, Any] | None
    ) -> Mapping[str, Any]:
        """Arguments by name, those in `args` too."""
        for what, given in (("dtypes", dtypes), ("args", args)):
            if given is not None and not isinstance(given, Mapping):
                raise ArrayError(f"{self.name}: {what} is a dictionary by name, not {type(given).__name__}")
        for name in args or {}:
            if name in named:
                raise ArrayError(f"{self.name}: {name} is given twice, by name and in args")
        return {**named, **(args or {})}


def _declaration(parameter: ParameterSignature) -> str:
    types = "|".join(map(str, parameter.alternatives))
    if parameter.kind == "tensor":
        return f"{parameter.name}: tensor<{parameter.type_variable or types}>[{', '.join(map(str, parameter.dims))}]"
    default = "" if parameter.default is None else f" = {parameter.default}"
    return f"{'const ' if parameter.is_const else ''}{parameter.name}: {types}{default}"


def _whole(values: Mapping[str, Any]) -> dict[str, int]:
    from tilec.runtime.scalars import I32_HIGHEST, integer_value

    return {name: integer_value(value, name, "i32", -I32_HIGHEST - 1, I32_HIGHEST) for name, value in values.items()}


def _named(given: Any, what: str) -> DType:
    if isinstance(given, str) and given in DTYPES:
        return DTYPES[given]
    from tilec.runtime.arrays import dtype_named

    return dtype_named(given, what)


_is_told = False


def tell_no_device(error: DeviceError) -> None:
    """Says once a process that kernels run in the interpreter, and why."""
    global _is_told
    if not _is_told:
        _is_told = True
        warnings.warn(f"{error}; running on the NumPy interpreter", UserWarning, stacklevel=5)
