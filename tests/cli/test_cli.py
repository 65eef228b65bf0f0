"""The command line, in process: exit codes, what is written, and that nothing ever ends in a traceback."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.diff import tint
from tilec.cli.data import compare
from tilec.cli.main import COMMANDS, main
from tilec.cli.run import show
from tilec.types import DType

GOOD = """
/// The loss of each token.
kernel token_loss(Logits: tensor<f32|f16>[M, V], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1], alpha: f32 = 1.0) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, :] = alpha * cross_entropy(Logits[r :+ 8, :], Target[r :+ 8, :])
}

kernel shift(A: tensor<f32>[M, 4], by: f32) {
  A[ctx.block.x * 8 :+ 8, :] += by
}
"""
BAD = "kernel k(A: tensor<f32>[M]) {\n  A[:] = unknown\n}\n"
WARNS = "kernel k(A: tensor<f32>[M]) {\n  let unused = 1.0\n  A[:] = 2.0\n}\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.ph", GOOD), ("bad.ph", BAD), ("warns.ph", WARNS), ("empty.ph", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.ph").write_bytes(b"\xff\xfe\x00kernel")
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


# --- the command itself ----------------------------------------------------------------------------------------


def test_help_lists_commands_and_examples(capsys):
    for arguments in (["--help"], ["-h"]):
        code, out, _ = run(capsys, *arguments)
        assert code == 0
        for name in COMMANDS:
            assert f"\n  {name} " in out
    assert run(capsys)[0] == 2
    assert run(capsys, "--version")[1].startswith("tilec 0.")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"examples:\n  tilec {command}" in out


def test_wrong_usage_is_exit_code_2(capsys, files):
    for arguments, words in (
        (["chekc", "good.ph"], "did you mean `check`?"),
        (["compile"], "required: FILE"),
        (["compile", "good.ph", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["compile", "good.ph", "--dim", "V"], "--dim takes NAME=VALUE, not `V`"),
        (["compile", "good.ph", "--dim", "V=many"], "`many` is no whole number"),
        (["compile", "good.ph", "--dim", "V=-1"], "-1 is no size"),
        (["compile", "good.ph", "--dim", "W=1"], "--dim W: no such name"),
        (["compile", "good.ph", "--dtype", "Logits=f99"], "no type is called `f99`"),
        (["compile", "good.ph", "--dtype", "Logit=f16"], "did you mean `Logits`?"),
        (["compile", "good.ph", "--const", "alpha=x"], "`x` is no number"),
        (["compile", "good.ph", "--const", "alhpa=1"], "did you mean `alpha`?"),
        (["compile", "good.ph", "--kernel", "token_los"], "did you mean `token_loss`?"),
        (["compile", "good.ph", "--emit", "llvm"], "--emit takes ast"),
        (["run", "good.ph"], "several kernels"),
        (["run", "good.ph", "--kernel", "token_loss"], "the size M is not known: --dim M=64"),
        (["explain", "E9999"], "no diagnostic has the code"),
        (["explain", "good.ph", "--profile", "abacus"], "no profile is called abacus; there is h200"),
        (["explain", "good.ph", "--profile", "h200", "--device"], "exclude each other"),
        (["explain", "good.ph", "--threads", "many"], "no whole number"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, words in err) == (2, True), (arguments, err)


def test_refusals_are_exit_code_1(capsys, files):
    for arguments, words in (
        (["check", "bad.ph"], "unknown"),
        (["check", "nowhere.ph"], "nowhere.ph"),
        (["check", "bytes.ph"], "UTF-8"),
        (["compile", "empty.ph"], "has no kernel"),
        (["compile", "bad.ph"], "bad.ph:2:10"),
        (["compile", "good.ph", "-o", "good.ph"], "good.ph"),
        (["compile", "good.ph", "--emit", "tile@nothing"], "no pass is named nothing"),
        (["compile", "good.ph", "--dtype", "Target=f32"], "Target"),
        (["run", "good.ph", "--kernel", "shift", "--dim", "M=2", "--input", "by=1", "--device", "quantum"], "quantum"),
        (["run", "good.ph", "--kernel", "shift", "--input", "A=nowhere.npy", "--input", "by=1"], "no such file"),
        (["run", "good.ph", "--kernel", "shift", "--input", "A=good.ph", "--input", "by=1"], "is no .npy file"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, words in err) == (1, True), (arguments, err)


def test_a_failure_inside_is_exit_code_70(capsys, files, monkeypatch):
    def fail(*arguments, **options):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("tilec.runtime.cache.compile_built", fail)
    code, _, err = run(capsys, "compile", "good.ph")
    assert code == 70
    assert "internal error: ZeroDivisionError: planted; this is a bug of tilec" in err
    code, out, _ = run(capsys, "compile", "good.ph", "--json")
    assert (code, json.loads(out)["internal"]) == (70, True)


def test_no_colour_in_a_pipe(capsys, files):
    assert "\x1b" not in run(capsys, "check", "bad.ph")[2]


# --- check -----------------------------------------------------------------------------------------------------


def test_check(capsys, files):
    assert run(capsys, "check", "good.ph") == (0, "ok: token_loss, shift\n", "")
    code, _, err = run(capsys, "check", "warns.ph")
    assert code == 0
    assert "unused" in err
    code, out, _ = run(capsys, "check", "good.ph", "bad.ph", "--json")
    document = json.loads(out)
    assert (code, document["ok"]) == (1, False)
    [found] = document["diagnostics"]
    assert found["code"].startswith("E02")
    assert json.loads(run(capsys, "check", "warns.ph", "--json")[1])["ok"] is True


# --- compile ---------------------------------------------------------------------------------------------------


def test_compile_writes_wgsl_and_manifest(capsys, files):
    code, out, _ = run(capsys, "compile", "good.ph", "-o", "build", "--dim", "V=512,1003")
    assert code == 0
    assert out.startswith("wrote token_loss.wgsl")
    written = sorted(path.name for path in (files / "build").iterdir())
    assert written == [
        "shift.json", "shift.wgsl", "token_loss.1.wgsl", "token_loss.2.wgsl", "token_loss.json", "token_loss.wgsl",
    ]  # fmt: skip
    document = json.loads((files / "build/token_loss.json").read_text())
    assert document["kernel"] == "token_loss"
    assert document["doc"].strip() == "The loss of each token."
    assert document["dims"] == ["M", "V"]
    assert document["grid"] == ["ceildiv(M, 8)", "1", "1"]
    assert len(document["source"]["sha256"]) == 64
    assert [one["name"] for one in document["parameters"]] == ["Logits", "Target", "Loss", "alpha"]
    assert [one.get("access") for one in document["parameters"]] == ["in", "in", "out", None]
    assert [one["file"] for one in document["variants"]] == [
        "token_loss.1.wgsl",
        "token_loss.2.wgsl",
        "token_loss.wgsl",
    ]
    assert document["variants"][0]["guards"]
    assert document["variants"][-1]["guards"] == []
    for variant in document["variants"]:
        text = (files / "build" / variant["file"]).read_text()
        tint.assert_valid(text)
        for dispatch in variant["dispatches"]:
            assert f"fn {dispatch['entry']}(" in text
            assert {one["binding"] for one in dispatch["bindings"]} <= {one["binding"] for one in variant["bindings"]}
        assert variant["uniforms"]["bytes"] % 16 == 0
        offsets = [field["offset"] for field in variant["uniforms"]["fields"]]
        assert offsets == list(range(0, 4 * len(offsets), 4))


def test_compile_to_standard_output(capsys, files):
    code, out, _ = run(capsys, "compile", "good.ph", "-o", "-", "--kernel", "token_loss", "--dtype", "Logits=f16")
    assert code == 0
    tint.assert_valid(out)
    assert not list(files.glob("*.wgsl"))
    document = json.loads(run(capsys, "compile", "good.ph", "-o", "-", "--json")[1])
    assert sorted(document["files"]) == ["shift.json", "shift.wgsl", "token_loss.json", "token_loss.wgsl"]


def test_constants_are_literals(capsys, files):
    _, with_uniform, _ = run(capsys, "compile", "good.ph", "--kernel", "token_loss", "--emit", "wgsl")
    _, with_literal, _ = run(
        capsys, "compile", "good.ph", "--kernel", "token_loss", "--emit", "wgsl", "--const", "alpha=0.125"
    )
    assert "alpha: f32" in with_uniform
    assert "alpha: f32" not in with_literal
    assert "0.125" in with_literal


@pytest.mark.parametrize("stage", ["ast", "tile", "tile@split_logsumexp", "tile@merge_equal", "plan", "loop", "wgsl"])
def test_every_stage_prints(capsys, files, stage):
    code, out, _ = run(capsys, "compile", "good.ph", "--kernel", "token_loss", "--emit", stage)
    assert code == 0
    assert ("store" if stage == "plan" else "token_loss") in out


def test_output_is_the_same_each_time(capsys, files):
    arguments = ("compile", "good.ph", "-o", "-", "--json", "--dim", "V=512")
    assert run(capsys, *arguments) == run(capsys, *arguments)


# --- run, devices, explain -------------------------------------------------------------------------------------


def test_run_in_the_interpreter(capsys, files):
    np.save(files / "x.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    arguments = ["run", "good.ph", "--kernel", "shift", "--input", "A=x.npy", "--input", "by=0.5", "--device", "numpy"]
    code, out, _ = run(capsys, *arguments, "--output", "A=y.npy")
    assert code == 0
    assert "shift(M=3) on the NumPy interpreter" in out
    np.testing.assert_array_equal(np.load(files / "y.npy"), np.arange(12).reshape(3, 4) + 0.5)


def test_run_keeps_what_it_compiled(capsys, files, lavapipe, monkeypatch):
    monkeypatch.setenv("TILEC_CACHE", str(files / "cache"))
    arguments = ["run", "good.ph", "--kernel", "token_loss", "--dim", "M=20", "--dim", "V=33", "--device", "lavapipe"]
    assert run(capsys, *arguments, "--no-cache")[0] == 0
    assert not (files / "cache").exists()
    monkeypatch.setenv("TILEC_CACHE", str(files / "cache"))
    for _ in range(2):
        assert run(capsys, *arguments, "--check")[0] == 0
    assert len(list((files / "cache" / "compiled").iterdir())) == 1


def test_run_checks_against_the_interpreter(capsys, files, lavapipe):
    arguments = ["run", "good.ph", "--kernel", "token_loss", "--dim", "M=20", "--dim", "V=33", "--device", "lavapipe"]
    for dtype in ("f32", "f16"):
        code, out, _ = run(capsys, *arguments, "--check", "--dtype", f"Logits={dtype}", "--input", "Logits=uniform")
        assert code == 0
        assert "agrees with the interpreter" in out
    code, out, _ = run(capsys, *arguments, "--check", "--json")
    document = json.loads(out)
    assert document["ok"] is True
    assert document["dims"] == {"M": 20, "V": 33}
    assert document["results"]["Loss"]["shape"] == [20, 1]


def test_devices(capsys):
    code, out, _ = run(capsys, "devices")
    assert code == 0
    assert "numpy: the NumPy interpreter" in out
    document = json.loads(run(capsys, "devices", "--json")[1])
    assert all({"name", "driver", "features", "limits", "problems"} <= set(one) for one in document["devices"])


def test_explain(capsys):
    code, out, _ = run(capsys, "explain", "e0401")
    assert code == 0
    assert "E0401" in out
    assert "Right" in out
    assert len(run(capsys, "explain")[1].splitlines()) >= 60
    assert json.loads(run(capsys, "explain", "E0401", "--json")[1])["severity"] == "error"


def test_explain_shows_how_a_file_runs(capsys, files):
    code, out, _ = run(capsys, "explain", "good.ph", "--kernel", "token_loss", "--dim", "V=512")
    assert code == 0
    assert out.startswith("plan of token_loss")
    assert sorted(json.loads(run(capsys, "explain", "good.ph", "--json")[1])) == ["shift", "token_loss"]


def test_explain_says_which_machine_it_assumes(capsys, files):
    last = run(capsys, "explain", "good.ph", "--kernel", "token_loss")[1].splitlines()[-1]
    assert last == (
        "for any GPU with WebGPU's default limits, 256 threads a workgroup; choose a machine with --device (the best "
        "here), --device NAME or --profile h200: with all sizes it also predicts the time"
    )
    known = run(capsys, "explain", "good.ph", "--kernel", "token_loss", "--profile", "h200")[1]
    assert "choose a machine" not in known


def test_explain_says_which_sizes_only_a_launch_knows(capsys, files):
    (files / "counted.ph").write_text("""
kernel by_data(X: tensor<f32>[V], N: tensor<i32>[1], S: tensor<f32>[1]) {
  S[0] = sum(X[0 :+ N[0]])
}

kernel by_scalar(X: tensor<f32>[V], S: tensor<f32>[1], n: i32) {
  S[0] = sum(X[0 :+ n])
}
""")
    arguments = ["explain", "counted.ph", "--dim", "V=512", "--kernel"]
    assert "what it costs depends on sizes that only the data says\n" in run(capsys, *arguments, "by_data")[1]
    assert "what it costs depends on n: --const n=VALUE\n" in run(capsys, *arguments, "by_scalar")[1]
    assert "costs of V=512" in run(capsys, *arguments, "by_scalar", "--const", "n=64")[1]


def test_explain_tells_costs_on_a_known_device(capsys, files):
    arguments = ["explain", "good.ph", "--kernel", "token_loss", "--dim", "V=512", "--profile", "h200"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "what it costs depends on M: --dim M=SIZE" in out
    code, out, _ = run(capsys, *arguments, "--dim", "M=64", "--threads", "128")
    assert code == 0
    assert "costs of M=64, V=512 on NVIDIA H200" in out
    assert "128 threads each" in out
    assert "to do better" in out
    document = json.loads(run(capsys, *arguments, "--dim", "M=64", "--json")[1])["token_loss"]
    assert document["cost"]["ideal_bytes"] == 64 * 512 * 4 + 64 * 4 + 64 * 4
    assert document["text"].startswith("plan of token_loss")


def test_explain_measures_a_device(capsys, files, lavapipe):
    arguments = ["explain", "good.ph", "--kernel", "token_loss", "--dim", "V=512", "--dim", "M=64"]
    code, out, _ = run(capsys, *arguments, "--device", "lavapipe")
    assert code == 0
    assert f"on {lavapipe.name}" in out
    assert "predicted" in out


def test_a_closed_pipe_is_no_error(files):
    program = f"import sys; sys.path[:0] = {sys.path!r}; from tilec.cli.main import main; sys.exit(main(['explain']))"
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -c "$1" | head -1', sys.executable, program],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""


DEBUGGED = """kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  print("x", x)
  assert x < 3.0, "large"
  for i in range(0, 2) {
    let y = log(x) * f32(i)
    B[r :+ 2, :] = y
  }
}
"""


def test_run_a_debug_build(capsys, files):
    (files / "debugged.ph").write_text(DEBUGGED)
    arguments = ["run", "debugged.ph", "--dim", "N=2", "--input", "A=arange", "--device", "numpy", "--debug"]
    code, out, err = run(capsys, *arguments, "--dim", "M=1", "--check")
    assert code == 0
    assert out.startswith("x[0, 0] = 0\nx[0, 1] = 1\nk(N=2, M=1)")
    assert out.count("x[") == 2
    assert "agrees with the interpreter" in out
    assert "log(x) = -inf, x = 0" in err
    code, out, err = run(capsys, *arguments, "--dim", "M=2")
    assert code == 1
    assert "error[assert]: k: large" in err
    assert "[1, 1]: x = 3" in err
    code, out, err = run(capsys, *arguments, "--dim", "M=1", "--json")
    assert code == 0
    assert json.loads(out)["told"][:2] == ["x[0, 0] = 0", "x[0, 1] = 1"]
    assert err == ""


def test_run_steps_through_the_interpreter(capsys, files):
    (files / "debugged.ph").write_text(DEBUGGED)
    arguments = ["run", "debugged.ph", "--dim", "N=2", "--dim", "M=3", "--input", "A=arange", "--trace"]
    code, out, _ = run(capsys, *arguments, "--device", "numpy")
    assert code == 0
    steps = [" ".join(line.split()) for line in out.split("k(N=2")[0].splitlines()]
    assert steps == [
        "block 0", "debugged.ph:2 r = i32 0", "debugged.ph:3 x = f32[2, 2] 0 1 2 3",
        "debugged.ph:6 i = i32 0", "debugged.ph:7 y = f32[2, 2] nan 0 0 0 1 NaN",
        "debugged.ph:8 B[...] = f32[2, 2] nan 0 0 0 1 NaN",
        "debugged.ph:6 i = i32 1", "debugged.ph:7 y = f32[2, 2] -inf 0 0.693147 1.09861 1 infinite",
        "debugged.ph:8 B[...] = f32[2, 2] -inf 0 0.693147 1.09861 1 infinite",
        "block 1", "debugged.ph:2 r = i32 2", "debugged.ph:3 x = f32[2, 2] 4 5 (2 inactive)",
        "debugged.ph:6 i = i32 0", "debugged.ph:7 y = f32[2, 2] 0 0 (2 inactive)",
        "debugged.ph:8 B[...] = f32[2, 2] 0 0 (2 inactive)",
        "debugged.ph:6 i = i32 1", "debugged.ph:7 y = f32[2, 2] 1.38629 1.60944 (2 inactive)",
        "debugged.ph:8 B[...] = f32[2, 2] 1.38629 1.60944 (2 inactive)",
    ]  # fmt: skip
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert "--device numpy" in err


@pytest.mark.parametrize(("odd", "word"), [(np.inf, "inf"), (np.nan, "nan")])
def test_a_difference_that_is_not_finite_is_told(odd, word, capsys):
    check = compare(np.array([odd, 1.0], np.float32), np.array([1.0, 1.0], np.float32), DType.F32)
    assert not check["ok"]
    show("G", {"dtype": "f32", "shape": (2,), "first": [odd, 1.0]}, check)
    assert f"DIFFERS from the interpreter: largest difference {word}, allowed" in capsys.readouterr().out
