"""The fixtures: `CODE.ph` for every row of the catalog, compiled as a user's file.

The first line is `// expect: CODE at LINE:COLUMN`. Lines that begin with `//!` say how to compile:
`//! dtype A=i32`, `//! const n=0.5`, `//! open OTHER.ph` (compile that file instead), `//! encode latin-1` (the file is
saved so), `//! chain 70` (beside 70 files, each of which imports the next),
`//! folder 70` (beside a folder of 70 files),
`//! seconds 0` (so long may it take), `//! sandbox 0` (so long in a sandbox),
`//! grad A` (derive the gradient kernels of `Loss`). `<<65 "(">>` in the text stands for the quoted characters 65
times.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilec import driver
from tilec.diag.deadline import limited
from tilec.diag.report import Diagnostic
from tilec.errors import CompileError
from tilec.runtime.sandbox.compiler import SandboxedCompiler
from tilec.runtime.sandbox.limits import Sandbox
from tilec.source import Source
from tilec.types import DTYPES, DType

FOLDER = Path(__file__).parent
_REPEATED = re.compile(r'<<(\d+) "(.*?)">>')


@dataclass(frozen=True)
class Fixture:
    path: Path
    code: str
    place: str
    directives: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        written = self.path.read_text(encoding="utf-8")
        return _REPEATED.sub(lambda match: match[2].replace("\\n", "\n") * int(match[1]), written)


def load(path: Path) -> Fixture:
    lines = path.read_text(encoding="utf-8").splitlines()
    match = re.fullmatch(r"// expect: ([EW]\d{4}) at (\d+:\d+)", lines[0])
    assert match, f"{path.name}: the first line says what is expected"
    directives = [re.fullmatch(r"//! (\w+) (.*)", line) for line in lines if line.startswith("//!")]
    return Fixture(path, match[1], match[2], tuple((one[1], one[2]) for one in directives if one))


def all_fixtures() -> list[Fixture]:
    return [load(path) for path in sorted(FOLDER.glob("[EW]*.ph"))]


def compile_fixture(fixture: Fixture) -> tuple[Diagnostic, ...]:
    """Everything that compiling all kernels of the file says."""
    program: Path | Source = fixture.path
    dtypes: dict[str, DType] = {}
    constants: dict[str, float] = {}
    gradient = ""
    for word, rest in fixture.directives:
        name, _, value = rest.partition("=")
        match word:
            case "open":
                program = FOLDER / rest
            case "dtype":
                dtypes[name] = DTYPES[value]
            case "const":
                constants[name] = float(value)
            case "encode":
                return _encoded(fixture, rest)
            case "chain":
                return _with_chain(fixture, int(rest))
            case "folder":
                return _with_folder(fixture, int(rest))
            case "seconds":
                with limited(float(rest)):
                    return diagnostics_of(program)
            case "sandbox":
                return _in_a_sandbox(fixture, float(rest))
            case "grad":
                gradient = rest
            case _:
                raise AssertionError(f"{fixture.path.name}: {word}")
    if _REPEATED.search(fixture.path.read_text(encoding="utf-8")):
        program = Source(str(fixture.path), fixture.text)
    return diagnostics_of(program, dtypes, constants, gradient)


def _encoded(fixture: Fixture, encoding: str) -> tuple[Diagnostic, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.ph"
        path.write_bytes(fixture.text.encode(encoding))
        return diagnostics_of(path)


def _in_a_sandbox(fixture: Fixture, seconds: float) -> tuple[Diagnostic, ...]:
    try:
        SandboxedCompiler(fixture.path, Sandbox(seconds=seconds)).load()
    except CompileError as error:
        return tuple(one for one in error.diagnostics if isinstance(one, Diagnostic))
    return ()


def _with_chain(fixture: Fixture, length: int) -> tuple[Diagnostic, ...]:
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        for number in range(length):
            # An import is relative to its file and never climbs, so that each file needs a folder of its own.
            below = files.joinpath(*["deep"] * (number + 1))
            below.mkdir()
            below.joinpath(f"{number}.ph").write_text(f'import "deep/{number + 1}.ph"\n')
        files.joinpath("main.ph").write_text(fixture.text)
        return diagnostics_of(files / "main.ph")


def _with_folder(fixture: Fixture, length: int) -> tuple[Diagnostic, ...]:
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) / "parts"
        parts.mkdir()
        for number in range(length):
            parts.joinpath(f"{number}.ph").write_text(f"fn part{number}(x) = x\n")
        Path(folder, "main.ph").write_text(fixture.text)
        return diagnostics_of(Path(folder) / "main.ph")


def diagnostics_of(
    program: Path | Source,
    dtypes: dict[str, DType] | None = None,
    constants: dict[str, float] | None = None,
    gradient: str = "",
) -> tuple[Diagnostic, ...]:
    """What the compiler says about a program and each of its kernels."""
    found: list[Diagnostic] = []
    try:
        loaded = driver.parse_file(program)
        found += loaded.warnings
        for forward in loaded.signatures:
            program, name = loaded.program, forward
            if gradient:
                program, signature = driver.derive(program, forward, [gradient], "Loss", in_place=False)
                name = signature.name
            built = driver.build_kernel(program, name, dtypes, constants)
            found += built.warnings
            _ = driver.compile_built(built.kernel).wgsl
    except CompileError as error:
        found += error.diagnostics
    return tuple(dict.fromkeys(found))


def where(diagnostic: Diagnostic) -> str:
    span = diagnostic.place
    return ":".join(map(str, span.source.line_column(span.start)))
