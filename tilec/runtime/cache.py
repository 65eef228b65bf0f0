"""The variants of a kernel that were compiled, by their guards: in memory, and on disk from process to process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tilec import driver
from tilec.driver import Compiled, compile_built
from tilec.export.manifest import source_hash
from tilec.options import Options
from tilec.runtime.disk import Store, compiler_digest
from tilec.runtime.executable import Code, Executable, from_json, to_json
from tilec.runtime.formulas import guard_test
from tilec.sema.program import KernelSignature, Program
from tilec.tile.ir import Kernel
from tilec.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What is on disk of one kernel for chosen types and constants."""

    store: Store
    program: Program
    signature: KernelSignature
    dtypes: Mapping[str, DType]
    constants: Mapping[str, bool | int | float]

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

    def put(self, compiled: Compiled) -> None:
        """Keeps what was compiled."""
        values = to_json(compiled, self.program.closure())
        if values is not None:
            self.store.put(self._key(compiled.options), values)

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
        }
        return json.loads(json.dumps(key))


class Variants:
    """A normalised tile kernel and what it was compiled to so far, one variant per set of guards and options."""

    _most = 64

    def __init__(self, kernel: Kernel, entries: Entries | None = None) -> None:
        self.kernel = kernel
        self._entries = entries
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
            return compile_built(self.kernel, dims, options)
        found = self._entries.find(self.kernel, dims, options)
        if found is None:
            found = compile_built(self.kernel, dims, options)
            self._entries.put(found)
        return found

    def count(self) -> int:
        """How many variants were compiled and kept."""
        return sum(map(len, self._variants.values()))

    def general(self, options: Options, dims: Mapping[str, int] | None = None) -> Compiled:
        """A variant for `dims` that are only partly known (none: right for every value)."""
        return compile_built(self.kernel, dims, options)


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """How the kernels of a module are built: as debug builds, and with what is kept on disk (`store`)."""

    debug: bool = False
    store: Store | None = None

    def variants(
        self,
        program: Program,
        signature: KernelSignature,
        dtypes: Mapping[str, DType],
        constants: Mapping[str, bool | int | float],
    ) -> tuple[Variants, driver.Built]:
        """The tile kernel for these types and constants. Raises CompileError."""
        built = driver.build_kernel(program, signature.name, dtypes, constants, debug=self.debug)
        entries = None
        if self.store is not None and not self.debug:
            entries = Entries(self.store, program, signature, dtypes, constants)
        return Variants(built.kernel, entries), built
