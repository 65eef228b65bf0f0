"""The compiler's own process: loads everything, gives up what it does not need, then answers requests until its end.

Each request and each answer is a line of JSON. While a program is read, the process asks for its files in the same way.
"""

from __future__ import annotations

import base64
import json
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tilec import driver
from tilec.errors import CompileError, InternalError, TilecError
from tilec.options import Limits, Options
from tilec.runtime.executable import to_json
from tilec.runtime.sandbox import confine
from tilec.runtime.sandbox.outlines import write_outline
from tilec.runtime.sandbox.records import Places, write_diagnostics, write_signature, write_sources
from tilec.sema.derived.signature import derive_program
from tilec.sema.files import Place, Refused, decoded
from tilec.sema.library import library
from tilec.sema.program import Program
from tilec.source import Source
from tilec.types import DTYPES

_ROOMS = ("diag", "ops", "syntax", "sema", "tile", "plan", "loop", "wgsl", "export")
_NEEDS_NUMPY = ("interp", "reference")

_WARM_UP = """
kernel warm_up(A: tensor<f32|f16>[M, N], B: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, new] = logsumexp(x)
  A[r :+ 8, :] = grad(logsumexp(x), x)
}
"""


def main() -> None:
    """Answers on standard output what is asked on standard input."""
    _load_everything()
    server = _Server(sys.stdin.buffer, sys.stdout.buffer)
    server.send({"ready": confine.close()})
    while True:
        line = server.requests.readline()
        if not line:
            return
        server.send(server.answer(json.loads(line)))


def _load_everything() -> None:
    """All that compiling imports or reads: afterwards no file can be opened."""
    for room in _ROOMS:
        package = import_module(f"tilec.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.rpartition(".")[2].startswith(_NEEDS_NUMPY):
                import_module(module.name)
    library()
    _ = b"x".decode("utf-8-sig")  # a codec is a module that is found when it is first used
    program = driver.parse_file(Source("warm_up.ph", _WARM_UP)).program
    _ = driver.compile_kernel(program, "warm_up").wgsl


class _Asked:
    """Files that the other side reads: their places are numbers."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self.texts: dict[int, str] = {}

    def main(self, path: Path) -> Place:
        return Place(0, path)

    def locate(self, importing: Place, parts: Sequence[str]) -> Place:
        answer = self._server.ask({"locate": [importing.key, list(parts)]})
        if answer["file"] is None:
            raise Refused(answer["reason"], is_outside=answer["outside"])
        return Place(answer["file"], importing.path.parent.joinpath(*parts))

    def read(self, place: Place) -> bytes:
        answer = self._server.ask({"read": place.key})
        if answer["data"] is None:
            raise (FileNotFoundError if answer["missing"] else OSError)(1, answer["reason"])
        data = base64.b64decode(answer["data"])
        assert isinstance(place.key, int)
        with suppress(UnicodeDecodeError):
            self.texts[place.key] = decoded(data)
        return data


class _Server:
    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self.requests, self._answers = requests, answers
        self._files = _Asked(self)
        self._program: Program | None = None
        self._sources: tuple[Source, ...] = library().sources
        self._built: list[driver.Built] = []

    def send(self, message: Mapping[str, Any]) -> None:
        self._answers.write(json.dumps(message).encode() + b"\n")
        self._answers.flush()

    def ask(self, message: Mapping[str, Any]) -> Any:
        """A question within a request."""
        self.send(message)
        return json.loads(self.requests.readline())

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the compiler gives, or what it found; `sources` are those that places in it speak of."""
        places = Places(self._sources)
        value: Any = None
        found: Sequence[object] = ()
        failure: dict[str, Any] = {}
        try:
            value, found, places = self._do(request)
        except CompileError as error:
            found, failure = error.diagnostics, {"failure": "refused"}
        except InternalError as error:
            failure = {"failure": "internal", "stage": error.stage, "text": str(error).partition(": ")[2]}
        except TilecError as error:
            found, failure = [str(error)], {"failure": "refused"}
        except MemoryError:
            failure = {"failure": "memory"}
        except Exception as error:
            failure = {"failure": "internal", "stage": request["do"], "text": f"{type(error).__name__}: {error}"}
        diagnostics = write_diagnostics(found, places)
        standard = len(library().sources)
        own = write_sources(places.sources[standard:], self._files.texts)
        return {"value": value, "diagnostics": diagnostics, "sources": own, **failure}

    def _do(self, request: Mapping[str, Any]) -> tuple[Any, Sequence[object], Places]:
        match request["do"]:
            case "load":
                return self._load(request)
            case "build":
                return self._build(request)
        return self._compile(request)

    def _load(self, request: Mapping[str, Any]) -> tuple[Any, Sequence[object], Places]:
        name, text = request["name"], request["text"]
        if text is not None:
            self._files.texts[0] = text
        loaded = driver.parse_file(name if text is None else Source(name, text), self._files)
        self._program = loaded.program
        # The library's first: what a program has of its own is added behind.
        own = tuple(scope.source for scope in loaded.program.files)
        self._sources = (*library().sources, *own)
        places = Places(self._sources)
        return [write_signature(one, places) for one in loaded.signatures.values()], loaded.warnings, places

    def _build(self, request: Mapping[str, Any]) -> tuple[Any, Sequence[object], Places]:
        program = self._program
        assert program is not None
        for one in request["derivations"]:
            program, _ = derive_program(
                program, one["forward"], one["wrt"], one["loss"], in_place=one["in_place"], upstream=one["upstream"]
            )
        dtypes = {name: DTYPES[label] for name, label in request["dtypes"].items()}
        built = driver.build_kernel(program, request["kernel"], dtypes, request["constants"], debug=request["debug"])
        self._built.append(built)
        places = Places(self._sources)
        return write_outline(built.kernel, places), built.warnings, places

    def _compile(self, request: Mapping[str, Any]) -> tuple[Any, Sequence[object], Places]:
        given = request["options"]
        features, trusted = tuple(given["features"]), tuple(given["trusted"])
        options = Options(**{**given, "features": features, "trusted": trusted, "limits": Limits(**given["limits"])})
        compiled = driver.compile_built(self._built[request["built"]].kernel, request["dims"], options)
        return to_json(compiled, self._sources), (), Places(self._sources)


