"""The variants of a kernel that were compiled, by their guards: in memory, and on disk from process to process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tilec import driver
from tilec.driver import Constants, DTypes, compile_built
from tilec.export.manifest import source_hash
from tilec.options import Options
from tilec.runtime.disk import Store, compiler_digest
from tilec.runtime.executable import Code, Executable, from_json, to_json
from tilec.runtime.formulas import guard_test
from tilec.sema.program import KernelSignature, Program
from tilec.tile.ir import Kernel
from tilec.types import DType

if TYPE_CHECKING:
    from tilec.runtime.sandbox.compiler import SandboxedCompiler

Compiler: TypeAlias = "Callable[[Kernel, Mapping[str, int] | None, Options], Code]"


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What is on disk of one kernel for chosen types and constants."""

    store: Store
    program: Program
    signature: KernelSignature
    dtypes: Mapping[str, DType]
    constants: Mapping[str, bool | int | float]
    is_sandboxed: bool = False

    def find(self, kernel: Kernel, dims: Mapping[str, int], options: Options) -> Executable | None:
        """One that is right for these dims."""
        sources = self.program.closure()
        for values in self.store.find(self._key(options)):
            try:
                found = from_json(values, kernel, options, sources)
            except ValueError:
                continue
            if guard_test(found.program.guards)(dims):
                return found
        return None

    def put(self, compiled: Code) -> None:
        """Keeps what was compiled."""
        self.store.put(self._key(compiled.options), to_json(compiled, self.program.closure()))

    def _key(self, options: Options) -> dict[str, Any]:
        """All that decides what the compiler writes, but for sizes, which guards speak of."""
        derivation = self.signature.derivation
        key = {
            "compiler": compiler_digest(),
            "sources": source_hash(self.program.closure()),
            "kernel": self.signature.name,
            "derivation": None if derivation is None else asdict(derivation),
            "dtypes": {name: dtype.label for name, dtype in self.dtypes.items()},
            # As texts: NaN is not equal to itself, and 1, 1.0 and True are.
            "constants": {name: repr(value) for name, value in self.constants.items()},
            "options": asdict(options),
            # What a stranger's program made of its compiler is for callers that ask for the sandbox too.
            "sandbox": self.is_sandboxed,
        }
        return json.loads(json.dumps(key))


class Variants:
    """A normalised tile kernel and what it was compiled to so far, one variant per set of guards and options."""

    _most = 64

    def __init__(self, kernel: Kernel, entries: Entries | None = None, compiler: Compiler | None = None) -> None:
        self.kernel = kernel
        self._entries = entries
        self._compiler = compiler
        self._variants: dict[Options, list[tuple[Callable[[Mapping[str, int]], bool], Code]]] = {}
        self._lock = threading.RLock()

    def for_dims(self, dims: Mapping[str, int], options: Options) -> Code:
        """The variant that is right for these dims, compiled now if there is none yet."""
        with self._lock:
            known = self._variants.setdefault(options, [])
            for place, (holds, code) in enumerate(known):
                if holds(dims):
                    if place:
                        known.insert(0, known.pop(place))
                    return code
            code = self._new(dims, options)
            known.insert(0, (guard_test(code.program.guards), code))
            del known[self._most :]
            return code

    def _new(self, dims: Mapping[str, int], options: Options) -> Code:
        if self._entries is None:
            return self._compile(dims, options)
        found: Code | None = self._entries.find(self.kernel, dims, options)
        if found is None:
            found = self._compile(dims, options)
            self._entries.put(found)
        return found

    def _compile(self, dims: Mapping[str, int] | None, options: Options) -> Code:
        if self._compiler is not None:
            return self._compiler(self.kernel, dims, options)
        return compile_built(self.kernel, dims, options)

    def count(self) -> int:
        """How many variants were compiled and kept."""
        return sum(map(len, self._variants.values()))

    def general(self, options: Options, dims: Mapping[str, int] | None = None) -> Code:
        """A variant for `dims` that are only partly known (none: right for every value)."""
        return self._compile(dims, options)


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """How the kernels of a module are built: as debug builds, with what is kept on disk (`store`), in a sandbox."""

    debug: bool = False
    store: Store | None = None
    sandbox: SandboxedCompiler | None = None

    def build(
        self, program: Program, signature: KernelSignature, dtypes: DTypes, constants: Constants
    ) -> driver.Built:
        """The tile kernel for these types and constants, or its outline. Raises CompileError."""
        if self.sandbox is not None:
            return self.sandbox.build(program, signature, dtypes, constants)
        return driver.build_kernel(program, signature.name, dtypes, constants, debug=self.debug)

    def compiler(
        self, program: Program, signature: KernelSignature, dtypes: DTypes, constants: Constants
    ) -> Compiler | None:
        """What makes code of that kernel, if not this process's own compiler."""
        sandbox = self.sandbox
        if sandbox is None:
            return None
        return lambda kernel, dims, options: sandbox.compile(
            program, signature, dtypes, constants, kernel, dims, options
        )

    def variants(
        self, program: Program, signature: KernelSignature, dtypes: DTypes, constants: Constants
    ) -> tuple[Variants, driver.Built]:
        """The kernel for these types and constants, to be compiled. Raises CompileError."""
        built = self.build(program, signature, dtypes, constants)
        entries = None
        if self.store is not None and not self.debug:
            entries = Entries(self.store, program, signature, dtypes, constants, self.sandbox is not None)
        return Variants(built.kernel, entries, self.compiler(program, signature, dtypes, constants)), built
