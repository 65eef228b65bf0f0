"""What is compiled in the sandbox is what is compiled without it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tilec
from tests.diag.fixtures import all_fixtures
from tests.house.rules import ROOT
from tilec import driver
from tilec.cli.main import main
from tilec.diag.catalog import ROWS
from tilec.errors import CompileError
from tilec.runtime.sandbox.limits import Sandbox
from tilec.runtime.sandbox.process import Process
from tilec.source import Source

EXAMPLES = sorted((ROOT / "examples").rglob("*.ph"))
KERNELS = sorted((ROOT / "tests/kernels").glob("*.ph"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_compile_to_the_same_files(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for more in ([], ["--sandbox"]):
        folder = tmp_path / f"out{len(more)}"
        code = main(["compile", str(path), "-o", str(folder), "--json", *more])
        answer = json.loads(capsys.readouterr().out)
        answer.pop("directory", None)
        written.append((code, answer, {one.name: one.read_text() for one in folder.glob("*")}))
    assert written[0] == written[1]
    assert written[0][0] == 0
    assert written[0][2]


def test_choices_reach_the_sandbox(tmp_path: Path) -> None:
    path = ROOT / "tests/kernels/storage.ph"
    options = ["--kernel", "scale_rows", "--dtype", "X=f16", "--dim", "C=64,9", "--dim", "M=128"]
    assert same_files(["compile", str(path), *options], tmp_path / "types")
    path = ROOT / "examples/train_loss.ph"
    assert same_files(["compile", str(path), "--const", "alpha=0.0", "--dim", "V=512"], tmp_path / "constants")
    path = ROOT / "examples/token_loss.ph"
    gradient = ["compile", str(path), "--grad", "Logits"]
    for more in (["--debug"], ["--in-place", "--upstream", "scalar"]):
        assert same_files([*gradient, *more], tmp_path / more[0])


def same_files(arguments: list[str], folder: Path) -> dict[str, str]:
    found = []
    for more in ([], ["--sandbox"]):
        out = folder / f"out{len(more)}"
        assert main([*arguments, "-o", str(out), *more]) == 0
        found.append({one.name: one.read_text() for one in out.glob("*")})
    assert found[0] == found[1]
    return found[0]


def test_one_process_compiles_all_that_there_is_with_nothing_to_open() -> None:
    """Every diagnostic, every kernel at hand, in a process that can open no file: what it imports or reads while it
    compiles, it must have loaded before."""
    texts = [(fixture.path.name, fixture.text) for fixture in all_fixtures() if not fixture.directives]
    texts += [(str(path), path.read_text()) for path in (*EXAMPLES, *KERNELS)]
    process = Process(Sandbox(seconds=600, processor_seconds=600))
    try:
        assert "descriptors" in process.receive()["ready"]
        said: set[str] = set()
        for number, (name, text) in enumerate(texts):
            assert "import " not in text or name.endswith((".ph",))
            process.send({"do": "load", "name": name, "text": text})
            answer = answered(process)
            failures = [answer]
            for signature in answer["value"] or ():
                request = {"kernel": signature["name"], "derivations": [], "dtypes": {}, "constants": {}}
                process.send({"do": "build", "debug": bool(number % 2), **request})
                failures.append(answered(process))
            for one in failures:
                assert one.get("failure") in (None, "refused"), (name, one)
                said |= {found["code"] for found in one["diagnostics"]}
        assert len(said) > 0.6 * len(ROWS)
        assert "E0227" not in said
    finally:
        process.end()


def answered(process: Process) -> dict:
    while True:
        message = process.receive()
        if "locate" not in message:
            return dict(message)
        process.send({"file": None, "reason": "no such file", "outside": False})


PROGRAM = """
import "lib/parts.ph"

/// Doc of `k`.
kernel k(A: tensor<f32|f16>[M, N], B: tensor<f32>[M], s: f32 = 1.0, n: i32 = 3, on: bool = true) {
  require n > 0 && s * s < 100.0, "n and s"
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, new] = where(on, twice(logsumexp(x)) * s + f32(n), 0.0)
}
"""
PARTS = 'import "deep/more.ph"\nfn twice(x) = x * FACTOR\nconst FACTOR = 2.0\nfn unused(y, z) = more(y)\n'
MORE = "fn more(x) = x\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "lib/deep").mkdir(parents=True)
    (tmp_path / "k.ph").write_text(PROGRAM)
    (tmp_path / "lib/parts.ph").write_text(PARTS)
    (tmp_path / "lib/deep/more.ph").write_text(MORE)
    return tmp_path / "k.ph"


def test_a_sandboxed_kernel_is_a_kernel(program: Path, lavapipe: tilec.Device) -> None:
    with pytest.warns(tilec.CompileWarning, match="parts.ph:4:14") as caught:
        outside = tilec.compile(program, sandbox=True, cache=False)
    warned = [str(one.message) for one in caught]
    with pytest.warns(tilec.CompileWarning) as caught:
        inside = tilec.compile(program, cache=False)
    assert warned == [str(one.message) for one in caught]
    first, second = inside.k, outside.k
    assert repr(first) == repr(second)
    assert first.__doc__ == second.__doc__ == "Doc of `k`."
    assert first.wgsl(dims={"N": 64}, dtypes={"A": "f16"}) == second.wgsl(dims={"N": 64}, dtypes={"A": "f16"})
    assert [*first.bindings] == [*second.bindings]
    assert first.grid(M=20, N=4) == second.grid(M=20, N=4) == (3, 1, 1)
    x = np.random.default_rng(0).normal(size=(13, 40)).astype(np.float32)
    for kernel in (first, second):
        assert kernel(x, device=lavapipe).B.shape == (13,)
    assert np.array_equal(first(x, 2.0, n=1, device=lavapipe).B, second(x, 2.0, n=1, device=lavapipe).B)
    assert np.array_equal(first(x.astype("f2"), device=lavapipe).B, second(x.astype("f2"), device=lavapipe).B)
    fixed = second.specialize(on=False)
    assert not fixed(x, device=lavapipe).B.any()
    gradients = [one.grad("A")(x, DB=np.ones(13), device=lavapipe).DA for one in (first, second)]
    assert np.array_equal(*gradients)
    assert gradients[0].any()
    for given in ({"s": 11.0}, {"n": 0}):
        messages = []
        for kernel in (first, second):
            with pytest.raises(tilec.ArrayError) as refused:
                kernel(x, device=lavapipe, **given)
            messages.append(str(refused.value))
        assert messages[0] == messages[1]
        assert "n and s" in messages[0]


def test_what_needs_the_statements_says_so(program: Path) -> None:
    with pytest.warns(tilec.CompileWarning):
        k = tilec.compile(program, sandbox=True).k
    for work in (lambda: k(np.ones((2, 2)), device="numpy"), k.ir, k.plan):
        with pytest.raises(tilec.SandboxError, match="compiled in a sandbox"):
            work()


def test_windows_of_large_tensors(lavapipe: tilec.Device) -> None:
    text = "kernel k(A: tensor<f32>[M, N]) {\n  let r = ctx.block.x * 4\n  A[r :+ 4, :] = A[r :+ 4, :] + 1.0\n}\n"
    small = tilec.device("lavapipe", limits={"max-storage-buffer-binding-size": 1 << 16})
    k = tilec.compile(source=text, sandbox=True, cache=False).k
    x = np.zeros((1000, 64), np.float32)
    assert (k(x, device=small).A == 1).all()
    whole = "kernel k(A: tensor<f32>[M, N], B: tensor<f32>[1]) {\n  B[0] = sum(A[:, :])\n}\n"
    messages = []
    for sandbox in (True, False):
        with pytest.raises(tilec.DeviceError) as refused:
            tilec.compile(source=whole, sandbox=sandbox, cache=False).k(x, device=small)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_debug_builds(lavapipe: tilec.Device, capsys: pytest.CaptureFixture[str]) -> None:
    text = """fn checked(x) {
  assert x > 0.0, "not positive"
  return x
}

kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 4
  print("x", A[i :+ 4])
  B[i :+ 4] = log(checked(A[i :+ 4]))
}
"""
    told = []
    for sandbox in (False, True):
        k = tilec.compile(source=text, debug=True, sandbox=sandbox).k
        with pytest.raises(tilec.DebugError, match="not positive") as failed, pytest.warns(tilec.DebugWarning):
            k([1.0, -2.0, 3.0, 4.0, 5.0], device=lavapipe)
        told.append((str(failed.value), capsys.readouterr().out))
    assert told[0] == told[1]
    assert "x[1] in block 0 = -2" in told[0][1]


def test_what_is_kept_on_disk_is_found_by_sandboxed_callers_only(program: Path, tmp_path: Path, lavapipe) -> None:
    folder, x = tmp_path / "cache", np.ones((3, 5), np.float32)

    def entries() -> int:
        return len(list(folder.rglob("*.json")))

    for sandbox, count in ((True, 1), (True, 1), (False, 2)):
        with pytest.warns(tilec.CompileWarning):
            tilec.compile(program, sandbox=sandbox, cache=folder).k(x, device=lavapipe)
        assert entries() == count


WRONG = {
    "a shape": "kernel k(A: tensor<f32>[M, 8], B: tensor<f32>[M, 9]) {\n  A[:, :] = mse_loss(A[:, :], B[:, :])\n}\n",
    "a name": "kernel k(A: tensor<f32>[M]) {\n  A[:] = B[:]\n  let unused = 1.0\n}\n",
    "nothing": "kernel k(",
    "through calls": "fn f(x) = g(x)\nfn g(x) = x + iota(0, 3)\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n",
    "missing": 'import "missing.ph"\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n',
    "in an import": 'import "lib/wrong.ph"\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n',
    "outside": 'import "lib/out.ph"\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n',
    "climbing": 'import "../x.ph"\nimport "/etc/x.ph"\nimport "binary.ph"\nimport "lib"\nimport "folder.ph"\n',
    "itself": 'import "main.ph"\nimport "./lib/../main.ph"\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n',
    "too large": "//" + "x" * (1 << 20),
    "too much at a time": "//" + "\u20ac" * (5 << 20),
    "a circle": "fn f(x) = g(x)\nfn g(x) = f(x)\nkernel k(A: tensor<f32>[M]) {\n  A[:] = g(1)\n}\n",
}


@pytest.mark.parametrize("what", WRONG)
def test_diagnostics_are_the_same(what: str, tmp_path: Path) -> None:
    (tmp_path / "in/lib").mkdir(parents=True)
    (tmp_path / "secret.ph").write_text("fn f(x) = x\n")
    (tmp_path / "in/lib/out.ph").symlink_to(tmp_path / "secret.ph")
    (tmp_path / "in/lib/wrong.ph").write_text("\n\nfn f(x) = x +\n")
    (tmp_path / "in/binary.ph").write_bytes(b"// \xff\n")
    (tmp_path / "in/folder.ph").mkdir()
    path = tmp_path / "in/main.ph"
    path.write_text(WRONG[what], encoding="utf-8")
    texts: list[str] = []
    for sandbox in (False, True):
        with pytest.raises(CompileError) as refused:
            tilec.compile(path, sandbox=sandbox)
        texts.append(str(refused.value))
        with pytest.raises(CompileError) as refused:
            tilec.compile(source=WRONG[what], name=str(path), sandbox=sandbox)
        texts.append(str(refused.value))
    assert texts[0] == texts[2]
    assert texts[1] == texts[3]
    assert "error[E" in texts[0]


@pytest.mark.parametrize("name", ["missing.ph", "", ".", "a\0b.ph", "\ud800.ph", "x" * 5000])
def test_files_that_cannot_be_read(name: str) -> None:
    texts = []
    for sandbox in (False, True):
        with pytest.raises(CompileError) as refused:
            tilec.compile(name, sandbox=sandbox)
        texts.append(str(refused.value))
    assert texts[0] == texts[1]
    assert "E0227" in texts[0]


def test_a_program_stays_what_it_was(program: Path) -> None:
    """Files that change afterwards change nothing for the kernels that are there."""
    with pytest.warns(tilec.CompileWarning):
        k = tilec.compile(program, sandbox=True, cache=False).k
    text = k.wgsl()
    (program.parent / "lib/parts.ph").unlink()
    program.write_text("nothing")
    assert k.wgsl(dims={"N": 64}) != ""
    assert k.wgsl() == text


def test_texts_have_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = 'import "f.ph"\nkernel k(A: tensor<f32>[M]) {\n  A[:] = f(A[:])\n}\n'
    (tmp_path / "f.ph").write_text("fn f(x) = x * 3.0\n")
    k = tilec.compile(source=source, sandbox=True).k
    assert k.wgsl() == driver.compile_kernel(driver.parse_file(Source("inline.ph", source)).program, "k").wgsl


def test_wrong_usage() -> None:
    with pytest.raises(CompileError, match=r"sandbox is True or a tilec\.Sandbox, not int"):
        tilec.compile(source="", sandbox=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seconds must be"):
        tilec.Sandbox(seconds=-1)
    for odd in (float("nan"), float("inf"), 1 << 60):
        with pytest.raises(ValueError, match="memory_bytes must be"):
            tilec.Sandbox(memory_bytes=odd)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seconds must be"):
            tilec.Sandbox(seconds=odd)


def test_the_command_line_refuses_what_does_not_belong_together(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(EXAMPLES[0])
    assert main(["compile", file, "--seconds", "3"]) == 2
    assert main(["compile", file, "--sandbox", "--emit", "plan"]) == 2
    assert main(["compile", file, "--sandbox", "--memory", "-3"]) == 2
    assert main(["compile", file, "--sandbox", "--seconds", "0", "-o", os.devnull]) == 1
    assert "error[E0515]: compiling in the sandbox takes more than 0 seconds" in capsys.readouterr().err
