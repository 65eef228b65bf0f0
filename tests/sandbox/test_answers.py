"""Every part of an answer is checked: whatever stands in its place is refused in words, or means what it says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from tilec.errors import ArrayError, CompileError, InternalError
from tilec.options import Options
from tilec.runtime.arguments import check_requirements
from tilec.runtime.sandbox import compiler as module
from tilec.runtime.sandbox.child import _Server
from tilec.runtime.sandbox.compiler import SandboxedCompiler
from tilec.runtime.sandbox.confine import required
from tilec.runtime.sandbox.limits import Sandbox
from tilec.source import Source
from tilec.text import printable

SOURCE = Source(
    "k.ph",
    """/// Doc.
fn f(x) {
  assert x > 0.0, "positive"
  return x + 1.0
}

kernel k(A: tensor<f32|f16>[M, N], B: tensor<f32>[M], s: f32 = 1.0, unused: i32 = 3) {
  require M > 2 && s < 3.0, "enough"
  let r = ctx.block.x * 4
  B[r :+ 4, new] = rowsum(f(A[r :+ 4, :])) * s
}
""",
)
ODD: list[Any] = [None, [], {}, "", "odd", "\x1b[31m", "A" * 70, -1, 0, 7, 1 << 40, 0.5, True, [[]], [0, 0, 0]]


class Replayed:
    """A process that gives known answers."""

    answers: ClassVar[list[dict[str, Any]]]

    def __init__(self, limits: Sandbox, program: str) -> None:
        self._left: Iterator[dict[str, Any]] = iter([{"ready": sorted(required())}, *self.answers])

    def send(self, message: Mapping[str, Any]) -> None: ...

    def receive(self) -> Mapping[str, Any]:
        return json.loads(json.dumps(next(self._left)))

    def end(self) -> None: ...


def use(compiler: SandboxedCompiler) -> None:
    """All that is done with answers without a device."""
    with compiler.session():
        loaded = compiler.load()
        [signature] = loaded.signatures.values() or [None]
        if signature is None:
            return
        built = compiler.build(loaded.program, signature, {}, {})
        code = compiler.compile(loaded.program, signature, {}, {}, built.kernel, None, Options())
    assert code.wgsl.isascii()
    str([str(one) for one in (*loaded.warnings, *built.warnings)])
    check_requirements(built.kernel, {"M": 8, "N": 8}, {"s": 1.0, "unused": 1})


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all parts of a value."""
    if way:
        yield way
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*way, key))


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    changed = copy.deepcopy(value)
    part = changed
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = new
    return changed


def removed(value: Any, way: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(value)
    part = changed
    for key in way[:-1]:
        part = part[key]
    del part[way[-1]]
    return changed


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the compiler answers to `use`."""
    server = _Server(None, None)  # type: ignore[arg-type]
    given: list[dict[str, Any]] = []

    class Honest(Replayed):
        answers: ClassVar[list[dict[str, Any]]] = []

        def send(self, message: Mapping[str, Any]) -> None:
            given.append(dict(server.answer(json.loads(json.dumps(message)))))
            self._left = iter(given[-1:])

    monkeypatch.setattr(module, "Process", Honest)
    use(SandboxedCompiler(SOURCE, Sandbox(), debug=True))
    assert [one.get("failure") for one in given] == [None, None, None]
    return given


def test_what_stands_elsewhere_is_refused(answers: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Process", Replayed)
    refused = kept = 0
    words: list[str] = []
    for number, answer in enumerate(answers):
        for turn, way in enumerate(places(answer)):
            if "spans" in way and turn % 7:
                continue  # a place of each line, all alike
            changes = [replaced(answer, way, odd) for odd in ODD[turn % 3 :: 3]]
            for changed in [*changes, removed(answer, way)]:
                Replayed.answers = [*answers[:number], changed, *answers[number + 1 :]]
                try:
                    use(SandboxedCompiler(SOURCE, Sandbox(), debug=True))
                    kept += 1  # it means something else
                except (ArrayError, CompileError, InternalError) as error:
                    words.append(str(error))
                    refused += 1
    assert all(printable(text, "\n") == text for text in words)
    assert refused > 1000
    assert kept > 100  # docs and messages are what they are


def test_formulas_stay_small(answers: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A short product of sums would be a long sum."""
    monkeypatch.setattr(module, "Process", Replayed)
    text = " * ".join(["(M + N + 1)"] * 800)
    dim = ("value", 0, "parameters", 0, "dims", 0)
    for number, way in ((0, dim), (1, ("value", "grid", 0)), (2, ("value", "scratch_words"))):
        Replayed.answers = [
            replaced(answer, way, text) if place == number else answer for place, answer in enumerate(answers)
        ]
        with pytest.raises(InternalError, match="does not answer"):
            use(SandboxedCompiler(SOURCE, Sandbox(), debug=True))


def test_conditions_take_no_time(answers: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Process", Replayed)
    nodes: list[Any] = [["scalar", "f32", "s"], ["const", "f32", 1e9]]
    nodes += [["op", "f32", "add", [0 if not n else n + 1, n + 1 if n else 0]] for n in range(2000)]
    nodes += [["op", "bool", "gt", [len(nodes) - 1, 1]]]
    Replayed.answers = [answers[0], replaced(answers[1], ("value", "requirements", 0, 0), nodes), answers[2]]
    compiler = SandboxedCompiler(SOURCE, Sandbox(), debug=True)
    use(compiler)


