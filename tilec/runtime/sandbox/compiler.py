"""The compiler as the parent sees it: the same answers as `tilec.driver`'s, made in a process of its own."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from tilec import driver
from tilec.diag import catalog
from tilec.diag.render import render_all
from tilec.diag.report import LimitReached
from tilec.errors import CompileError, InternalError, SandboxError
from tilec.options import Options
from tilec.runtime import checked
from tilec.runtime.executable import Executable, from_json
from tilec.runtime.sandbox import confine
from tilec.runtime.sandbox.limits import Sandbox
from tilec.runtime.sandbox.outlines import read_outline
from tilec.runtime.sandbox.process import PROGRAM, Broken, Exceeded, Process
from tilec.runtime.sandbox.records import Places, Texts, read_diagnostics, read_signature
from tilec.sema.files import LONGEST_PATH, Disk, Place, Refused, check_path, decoded
from tilec.sema.library import library
from tilec.sema.program import FileScope, KernelSignature, Program
from tilec.sema.resolve import MOST_FILES
from tilec.source import Source, Span
from tilec.types import DType

_MOST_QUESTIONS = 100_000
_LEAST_BYTES = 128 << 20
"""With less memory a process may end before the compiler in it is loaded."""

_Read = TypeVar("_Read")


class SandboxedCompiler:
    """One program, compiled outside. No text of it is parsed in this process.

    Work inside one `session` shares a process, and its limits; other work has a process each. Every answer is checked
    for its shape; places in it are places of the texts that were read here. `program` is what the process runs.
    """

    def __init__(self, source: Path | Source, limits: Sandbox, *, debug: bool = False, program: str = PROGRAM) -> None:
        self.limits = limits
        self.debug = debug
        self._source = source
        self._program = program
        self._files = _Files(source)
        self._known: dict[tuple[int | None, str], Source] = {}
        self._process: Process | None = None
        self._sessions = 0
        self._is_loaded = False
        self._built: dict[str, int] = {}
        self._lock = threading.RLock()

    # --- what it does ----------------------------------------------------------------------------------------

    @contextmanager
    def session(self) -> Iterator[None]:
        """A process for what is asked inside."""
        with self._lock:
            self._sessions += 1
            try:
                yield
            finally:
                self._sessions -= 1
                if not self._sessions:
                    self._end()

    def load(self) -> driver.Loaded:
        """The program, whose kernels have no statements here. Raises as `driver.parse_file` does, and SandboxError."""
        with self.session():
            answer, places = self._load()
            return self._reading(lambda: self._loaded(answer, places))

    def build(
        self,
        program: Program,
        signature: KernelSignature,
        dtypes: Mapping[str, DType],
        constants: Mapping[str, bool | int | float],
    ) -> driver.Built:
        """The outline of a kernel. Raises as `driver.build_kernel` does."""
        with self.session():
            answer, places = self._build(_build_request(program, signature, dtypes, constants, self.debug))
            return self._reading(
                lambda: driver.Built(
                    read_outline(answer["value"], signature, places),
                    tuple(read_diagnostics(answer["diagnostics"], places))
                )
            )

    def compile(
        self,
        program: Program,
        signature: KernelSignature,
        dtypes: Mapping[str, DType],
        constants: Mapping[str, bool | int | float],
        kernel: Any,
        dims: Mapping[str, int] | None,
        options: Options,
    ) -> Executable:
        """The code of a kernel, whose outline is `kernel`. Raises as `driver.compile_built` does."""
        with self.session():
            request = _build_request(program, signature, dtypes, constants, self.debug)
            if str(request) not in self._built:
                self._build(request)
            number = self._built[str(request)]
            answer, places = self._ask(
                {"do": "compile", "built": number, "dims": None if dims is None else dict(dims),
                 "options": asdict(options)}
            )  # fmt: skip
            return self._reading(lambda: from_json(answer["value"], kernel, options, places.sources))

    def _loaded(self, answer: Mapping[str, Any], places: Places) -> driver.Loaded:
        own = places.sources[len(library().sources) :]
        checked.check(bool(own))
        files = [FileScope(source) for source in own]
        signatures = [read_signature(one, files[0], places) for one in checked.items(answer["value"])]
        program = Program(files[0], files, {one.name: one for one in signatures})
        return driver.Loaded(program, tuple(read_diagnostics(answer["diagnostics"], places)))

    # --- asking ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._process = Process(self.limits, self._program)
        ready = self._reading(lambda: set(map(str, checked.items(self._receive()["ready"]))))
        missing = confine.required() - ready
        if missing:
            raise SandboxError(f"this system does not hold the sandbox's limits: {', '.join(sorted(missing))}")

    def _load(self) -> tuple[Mapping[str, Any], Places]:
        if self._process is None:
            self._start()
        source = self._source
        named = (source.name, source.text) if isinstance(source, Source) else (str(source), None)
        answer = self._ask({"do": "load", "name": named[0], "text": named[1]})
        self._is_loaded = True
        return answer

    def _build(self, request: Mapping[str, Any]) -> tuple[Mapping[str, Any], Places]:
        if not self._is_loaded:
            self._load()
        answer = self._ask(request)
        self._built[str(request)] = len(self._built)
        return answer

    def _ask(self, request: Mapping[str, Any]) -> tuple[Mapping[str, Any], Places]:
        """An answer that holds a value. Raises CompileError, InternalError."""
        assert self._process is not None
        self._process.send(request)
        for _ in range(_MOST_QUESTIONS):
            message = self._receive()
            if "locate" in message or "read" in message:
                self._process.send(self._reading(lambda message=message: self._files.answer(message)))
                continue
            return self._reading(lambda message=message: self._checked(message))
        raise self._broken("it asked for too many files")

    def _receive(self) -> Mapping[str, Any]:
        assert self._process is not None
        try:
            return self._process.receive()
        except Exceeded as exceeded:
            raise self._over(str(exceeded)) from None
        except Broken as broken:
            if self.limits.memory_bytes < _LEAST_BYTES:  # it did not come as far as to say so
                raise self._over(f"{self.limits.memory_bytes:,} bytes of memory") from None
            raise self._broken(str(broken)) from None

    def _checked(self, message: Mapping[str, Any]) -> tuple[Mapping[str, Any], Places]:
        """The answer, and the places that it speaks of."""
        found = Texts(self._files.texts).sources(message["sources"])
        keys = [(file, source.name) for (file, _), source in zip(message["sources"], found, strict=True)]
        known = [self._known.setdefault(key, source) for key, source in zip(keys, found, strict=True)]
        places = Places([*library().sources, *known])
        match message.get("failure"):
            case None:
                return message, places
            case "refused":
                diagnostics = read_diagnostics(message["diagnostics"], places)
                raise CompileError(diagnostics, render_all if diagnostics else None)
            case "memory":
                raise self._over(f"{self.limits.memory_bytes:,} bytes of memory")
        raise InternalError(checked.text(message["stage"], 1000), checked.text(message["text"], 10_000))

    def _reading(self, read: Callable[[], _Read]) -> _Read:
        """What `read` makes of an answer; one of another shape is no answer."""
        try:
            return read()
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise self._broken("it answered what the compiler does not answer") from error

    def _over(self, limit: str) -> CompileError:
        source = self._source
        if not isinstance(source, Source):
            source = Source(str(source), self._files.texts.get(0, ""))
        return LimitReached(catalog.SANDBOX_LIMIT, Span(source, 0, 0), limit=limit).as_error()

    def _broken(self, why: str) -> InternalError:
        return InternalError("the sandbox", f"the compiler's process failed: {why}")

    def _end(self) -> None:
        process, self._process = self._process, None
        self._is_loaded = False
        self._built.clear()
        if process is not None:
            process.end()


def _build_request(
    program: Program,
    signature: KernelSignature,
    dtypes: Mapping[str, DType],
    constants: Mapping[str, bool | int | float],
    debug: bool,
) -> dict[str, Any]:
    return {
        "do": "build",
        "kernel": signature.name,
        "derivations": [asdict(one.derivation) for one in program.kernels.values() if one.derivation is not None],
        "dtypes": {name: dtype.label for name, dtype in dtypes.items()},
        "constants": dict(constants),
        "debug": debug,
    }


class _Files:
    """Answers what the process asks about files: from disk, each question once, so that a program stays what it was."""

    def __init__(self, source: Path | Source) -> None:
        self._disk = Disk()
        is_text = isinstance(source, Source)
        self._places = [self._disk.main(Path(source.name) if isinstance(source, Source) else source)]
        self._numbers = {self._places[0].key: 0}
        self._answers: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        self.texts: dict[int, str] = {0: source.text} if is_text else {}

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises ValueError for what is no question."""
        if "read" in question:
            number = checked.integer(question["read"], 0, len(self._places) - 1)
            key: tuple[Any, ...] = (number,)
            if key not in self._answers:
                checked.check(len(self.texts) <= MOST_FILES)
                self._answers[key] = self._read(number)
        else:
            importing, parts = checked.items(question["locate"], 2)
            number = checked.integer(importing, 0, len(self._places) - 1)
            names = tuple(checked.text(part) for part in checked.items(parts, LONGEST_PATH))
            checked.check(sum(map(len, names)) <= LONGEST_PATH)
            key = (number, names)
            if key not in self._answers:
                self._answers[key] = self._locate(self._places[number], names)
        return self._answers[key]

    def _locate(self, importing: Place, parts: Sequence[str]) -> Mapping[str, Any]:
        # The process has looked at the path already, but is not believed.
        name = "/".join(parts)
        if not parts or ".." in parts or any("/" in part or "\\" in part for part in parts):
            return {"file": None, "reason": "", "outside": True}
        try:
            check_path(name, parts)
            place = self._disk.locate(importing, parts)
        except Refused as refused:
            return {"file": None, "reason": refused.reason, "outside": refused.is_outside}
        number = self._numbers.setdefault(place.key, len(self._places))
        if number == len(self._places):
            self._places.append(place)
        return {"file": number}

    def _read(self, number: int) -> Mapping[str, Any]:
        try:
            data = self._disk.read(self._places[number])
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError)
            return {"data": None, "missing": missing, "reason": getattr(error, "strerror", "") or "not readable"}
        with suppress(UnicodeDecodeError):  # which is said by the process, without a word of the content
            self.texts[number] = decoded(data)
        return {"data": base64.b64encode(data).decode()}
