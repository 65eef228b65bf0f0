"""The Python API: `compile` gives a `Module` of `Kernel`s."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilec import driver
from tilec.diag.report import Diagnostic, suggest
from tilec.errors import CompileError
from tilec.runtime.cache import Build
from tilec.runtime.disk import choose_store
from tilec.runtime.kernel import Kernel
from tilec.source import Source
from tilec.text import printable

if TYPE_CHECKING:
    from tilec.runtime.sandbox.limits import Sandbox


class CompileWarning(UserWarning):
    """What the compiler warns about."""


def compile(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    name: str = "inline.ph",
    debug: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    sandbox: bool | Sandbox = False,
) -> Module:
    """Compiles a `.ph` file, or a source text that diagnostics call `name`. Gives a module of its kernels.

    Raises CompileError with all diagnostics: syntax, names, types and shapes of every kernel, for the first alternative
    of each type. Warnings go through `warnings` as CompileWarning. Imports of a text are looked for beside `name`.
    With `debug` the kernels check what they assert and print what they print, say where a NaN or infinity that they
    store was made and which elements of outputs they never wrote; they are slower.
    What is compiled for launches is kept on disk for other processes: in the folder `cache`, not at all if it is False,
    otherwise among the user's caches, or where the environment variable TILEC_CACHE says (empty: not at all).
    With `sandbox` a stranger's source is compiled in a process of its own, now and for launches, within the limits of
    a `Sandbox` (True: the usual ones). Such kernels run on devices, not in the interpreter. Raises SandboxError where
    there can be no such process.
    """
    if (path is None) == (source is None):
        raise CompileError(["compile takes a path, or source=... and a name for it"])
    if source is not None and not isinstance(source, str):
        raise CompileError([f"source must be a str, not {type(source).__name__}"])
    if source is None and not isinstance(path, (str, os.PathLike)):
        raise CompileError([f"a path must be a str or a path, not {type(path).__name__}"])
    if isinstance(path, str) and ("\n" in path or "{" in path):
        raise CompileError(["this is the text of a program, not a path: compile(source=...)"])
    program = Source(name, source) if source is not None else Path(path or "")
    if sandbox is False:
        return Module(driver.parse_file(program), Build(debug, choose_store(cache)))
    from tilec.runtime.sandbox.compiler import SandboxedCompiler
    from tilec.runtime.sandbox.limits import Sandbox

    limits = Sandbox() if sandbox is True else sandbox
    if not isinstance(limits, Sandbox):
        raise CompileError([f"sandbox is True or a tilec.Sandbox, not {type(sandbox).__name__}"])
    compiler = SandboxedCompiler(program, limits, debug=debug)
    with compiler.session():
        return Module(compiler.load(), Build(debug, choose_store(cache), compiler))


class Module:
    """The kernels of one program: `m.kernels`, `m.token_loss`, `m["token_loss"]`."""

    def __init__(self, loaded: driver.Loaded, build: Build | None = None) -> None:
        self._program = loaded.program
        self.kernels: Mapping[str, Kernel] = MappingProxyType(
            {name: Kernel(loaded.program, signature, build=build) for name, signature in loaded.signatures.items()}
        )
        """The kernels by name, in the order of the source."""
        found = list(loaded.warnings)
        errors: list[object] = []
        for kernel in self.kernels.values():
            try:
                found += kernel.check()
            except CompileError as error:
                errors += error.diagnostics
        if errors:
            from tilec.diag.render import render_all

            raise CompileError(_unique([*found, *errors]), render_all)
        self.warnings: tuple[Diagnostic, ...] = tuple(_unique(found))
        """What the compiler warned about."""
        for warning in self.warnings:
            warnings.warn(str(warning), CompileWarning, stacklevel=4)

    def __getitem__(self, name: str) -> Kernel:
        if name not in self.kernels:
            raise KeyError(_no_kernel(name, self.kernels))
        return self.kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        kernels = self.__dict__.get("kernels", {})
        if name not in kernels:
            raise AttributeError(_no_kernel(name, kernels))
        return kernels[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.kernels]

    def __repr__(self) -> str:
        return f"<tilec.Module {printable(self._program.scope.source.name)}: {', '.join(self.kernels) or 'no kernel'}>"


def _no_kernel(name: str, kernels: Mapping[str, Kernel]) -> str:
    near = suggest(name, kernels)
    hint = f"did you mean {near}?" if near else f"there is {', '.join(kernels) or 'none'}"
    return f"no kernel is called {name!r}; {hint}"


def _unique(diagnostics: Sequence[Any]) -> list[Any]:
    return list({(str(one), getattr(one, "label", "")): one for one in diagnostics}.values())
