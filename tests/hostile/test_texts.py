"""Texts of a source, its name and its comments, reach outputs as numbered names and escaped strings only."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

import tilec
from tests.sandbox.test_sandbox import EXAMPLES, KERNELS
from tilec import driver
from tilec.cli.main import main
from tilec.errors import CompileError
from tilec.source import Source
from tilec.text import json_text, printable

ODD = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202egnp\u2028\u2066\u200b\x7f\x08\r\ufeff*/ -->\u0085</script><!--'`\\"
"""What terminals, editors, pages and comments act on; all of it may stand in strings and comments."""

SOURCE = f"""// {ODD}
/// Doc {ODD}
fn f(x) {{
  assert x > 0.0, "{ODD} a"
  return log(x)
}}

/// Kernel {ODD}
kernel k(
  /// parameter {ODD}
  A: tensor<f32>[M],
  B: tensor<f32>[M],
  s: f32 = 1.0,  // {ODD}
) {{
  require s < 100.0, "{ODD} r"
  let i = ctx.block.x * 4  // {ODD}
  print("{ODD} p", A[i :+ 4])
  B[i :+ 4] = f(A[i :+ 4]) * s  // {ODD}
}}
"""
WRONG = {
    "import": f'import "{ODD}.ph"\nimport "../{ODD}.ph"\nimport "/{ODD}.ph"\n',
    "string": f'kernel k(A: tensor<f32>[M]) {{\n  A[:] = "{ODD}"\n}}\n',
    "require": f'kernel k(A: tensor<f32>[M]) {{\n  require 1 > 2, "{ODD}"\n  A[:] = 0.0\n}}\n',
    "characters": f"kernel k(A: tensor<f32>[M]) {{\n  A[:] = {ODD}\n}}\n",
    "shapes": f"kernel k(A: tensor<f32>[M, 3]) {{\n  A[:, :] = A[:, :] + iota(1, 4)  // {ODD}\n}}\n",
}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A file whose name is as odd as its content."""
    name = "".join(character for character in ODD if character not in "/\n") + ".ph"
    path = tmp_path / name
    path.write_text(SOURCE, encoding="utf-8", newline="")
    return path


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, which must be harmless."""
    captured = capsys.readouterr()
    for text in captured:
        bad = {character for character in text if not character.isprintable() and character != "\n"}
        assert not bad, (bad, text)
    return captured.out + captured.err


def test_the_source_compiles(hostile: Path) -> None:
    assert driver.parse_file(hostile).signatures.keys() == {"k"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"], ["check", "--json"], ["compile", "-o", "-"], ["compile", "-o", "-", "--json"],
        ["compile", "-o", "-", "--sandbox"], ["compile", "-o", "-", "--debug"],
        ["compile", "-o", "-", "--debug", "--json"],
        *(["compile", "--emit", stage, "--debug"] for stage in driver.STAGES), ["explain"],
        ["explain", "--dim", "M=64", "--profile", "h200"], ["explain", "--json"],
        ["run", "--dim", "M=8", "--device", "numpy"], ["run", "--dim", "M=8", "--device", "numpy", "--debug"],
        ["run", "--dim", "M=8", "--device", "numpy", "--debug", "--json"],
        ["run", "--dim", "M=8", "--device", "numpy", "--trace"], ["run", "--dim", "M=8", "--input", "s=200.0"],
        ["run", "--dim", "M=8", "--device", "lavapipe", "--debug"], ["compile", "--kernel", "no"], ["run"],
        ["check", "--dtype", "A=f16"], ["compile", "--const", "s=1000.0"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_commands_print_nothing_that_a_terminal_acts_on(
    arguments: list[str], hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([arguments[0], str(hostile), *arguments[1:]]) in (0, 1, 2)
    text = shown(capsys)
    if "--json" in arguments:
        json.loads(text[: text.rindex("}") + 1])


def test_a_missing_file_of_an_odd_name(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "compile", "explain", "run"):
        assert main([command, f"{hostile}.ph"]) in (1, 2)
        assert "owned" in shown(capsys)


@pytest.mark.parametrize("what", WRONG)
def test_diagnostics_show_nothing_raw(what: str, hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile.write_text(WRONG[what], encoding="utf-8", newline="")
    for more in ([], ["--json"]):
        assert main(["check", str(hostile), *more]) == 1
        shown(capsys)
    with pytest.raises(CompileError) as refused:
        tilec.compile(hostile)
    for text in (str(refused.value), *map(str, refused.value.diagnostics)):
        assert printable(text, "\n") == text
    for one in refused.value.diagnostics:
        texts = [one.message, one.label, one.hint or "", *(text for _, text in one.notes)]  # type: ignore[attr-defined]
        assert all(printable(text) == text for text in texts)


def test_errors_of_calls_show_nothing_raw(hostile: Path, lavapipe: tilec.Device) -> None:
    k = tilec.compile(hostile, debug=True).k
    for arguments in (([1.0], 200.0), ([-1.0],), ([[1.0, 2.0]],)):
        for device in ("numpy", lavapipe):
            warnings.simplefilter("always")
            with warnings.catch_warnings(record=True) as told, pytest.raises(tilec.TilecError) as refused:
                k(*arguments, device=device)
            assert all(printable(str(one.message), "\n") == str(one.message) for one in told)
            assert printable(str(refused.value), "\n") == str(refused.value)


def test_written_files_hold_escaped_strings(hostile: Path, tmp_path: Path) -> None:
    for more in ([], ["--debug"]):
        assert main(["compile", str(hostile), "-o", str(tmp_path / "out"), *more]) == 0
        manifest = (tmp_path / "out/k.json").read_text(encoding="utf-8")
        assert printable(manifest, "\n") == manifest
        assert "</" not in manifest
        assert "<!" not in manifest
        # Nothing is lost: the strings are what they were.
        document = json.loads(manifest)
        assert document["requirements"][0]["message"] == f"{ODD} r"
        assert ODD.split("\u2028")[0] in document["doc"]
        assert document["source"]["file"] == str(hostile)


def judge(text: str) -> None:
    """Emitted WGSL: plain ASCII lines, no comment and no word that the compiler did not make."""
    assert text.isascii()
    assert printable(text, "\n") == text
    assert "/*" not in text
    for comment in re.findall(r"//(.*)", text):
        assert "*/" not in comment
    for word in set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", re.sub(r"//.*", "", text))):
        assert not word.startswith("__"), word
        assert "owned" not in word
        assert "script" not in word


@pytest.mark.parametrize("path", [*EXAMPLES, *KERNELS], ids=lambda path: path.stem)
def test_emitted_text_is_plain(path: Path) -> None:
    loaded = driver.parse_file(path)
    for name, signature in loaded.signatures.items():
        if not any(one.is_const and one.default is None for one in signature.parameters):
            judge(driver.compile_kernel(loaded.program, name).wgsl)


def test_names_that_mean_something_elsewhere_are_names() -> None:
    words = ["constructor", "__proto__", "prototype", "target", "main", "enable", "requires", "diagnostic", "ptr",
             "A" * 300, "__x", "x__", "if_", "params", "scratch", "NaN", "Infinity", "eval"]  # fmt: skip
    for word in words:
        head = f"kernel k({word}: tensor<f32>[{word}_], B: tensor<f32>[{word}_])"
        text = f"{head} {{\n  let {word}x = {word}[:] * 2.0\n  B[:] = {word}x\n}}\n"
        loaded = driver.parse_file(Source("names.ph", text))
        judge(driver.compile_kernel(loaded.program, "k").wgsl)


def test_json_text_says_the_same() -> None:
    for value in (ODD, {"a": [ODD, "\U0001f600", "\ud800", "plain <3", "a < b && c > d"]}, "\ue000"):
        text = json_text(value)
        assert json.loads(text) == value
        assert printable(text, "\n") == text
    assert "a < b && c > d" in json_text("a < b && c > d")
