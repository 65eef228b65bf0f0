"""The documentation is right: its code runs, its commands print what it shows, its links and names lead somewhere.

In a fenced block, `ph` is a whole file that compiles without a warning (`ph E0312`: with exactly that error); a first
line `// NAME.ph` saves it for the commands and the code that follow. `python` runs, all blocks of a page in one scope,
where `m` is the module of the last `ph` block. `console` runs the commands behind `$ tilec`, in process.
"""

from __future__ import annotations

import re
import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

import tilec
from tests.house.rules import ROOT, relative, tracked_files
from tilec import driver
from tilec.cli.main import main
from tilec.errors import CompileError, DeviceError
from tilec.source import Source

PAGES = [path for path in tracked_files() if path.suffix == ".md"]
RUN = ["README.md", "docs/language.md", "docs/gradients.md"]
NAMED = ["docs/architecture.md", "docs/testing.md"]
COMMANDS = {"check", "compile", "run", "devices", "explain"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its line in the page, the words behind the fence, its text."""

    line: int
    kind: str
    word: str
    text: str


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text("utf-8")
    found = re.finditer(r"^```(\w*)[ ]?(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE)
    return [Block(text[: one.start()].count("\n") + 1, one[1], one[2], one[3]) for one in found]


# --- code ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize("page", RUN)
def test_the_code_runs(page, folder, monkeypatch, capsys):
    if page != "README.md":  # the readme runs as a reader runs it, on the best device
        monkeypatch.setattr("tilec.runtime.device.device", _no_device)
    scope: dict[str, object] = {}
    kinds = {"ph": 0, "python": 0, "console": 0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no device in this test")
        for block in blocks_of(page):
            place = f"{page}:{block.line}"
            kinds[block.kind] = kinds.get(block.kind, 0) + 1
            match block.kind:
                case "ph":
                    scope["m"] = _compile(block, place)
                case "python":
                    exec(compile("\n" * block.line + block.text, page, "exec"), scope)
                case "console":
                    _check_commands(block, place, capsys)
    assert kinds["ph"] > 1, kinds
    assert kinds["python"] > 1, kinds


def _no_device(asked: object = None) -> None:
    raise DeviceError("no device in this test")


def _compile(block: Block, place: str) -> tilec.Module | None:
    first = block.text.split("\n", 1)[0]
    name = first.removeprefix("// ").strip() if first.endswith(".ph") else "inline.ph"
    if name != "inline.ph":
        Path(name).write_text(block.text)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tilec.CompileWarning)
        if block.word:
            with pytest.raises(CompileError) as refused:
                tilec.compile(source=block.text, name=name)
            found = {one.code for one in refused.value.diagnostics if one.severity == "error"}
            assert found == {block.word}, f"{place}:\n{refused.value}"
            return None
        module = tilec.compile(source=block.text, name=name)
    loaded = driver.parse_file(Source(name, block.text))
    for kernel in module.kernels.values():
        if not kernel._needs_constants():
            driver.compile_kernel(loaded.program, kernel.name)
    return module


def _check_commands(block: Block, place: str, capsys) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        assert command.startswith("tilec "), f"{place}: {command}"
        capsys.readouterr()
        code = main(shlex.split(command, comments=True)[1:])
        out, err = capsys.readouterr()
        assert code == ("error[" in shown), f"{place}: {command}: exit code {code}\n{err}"
        _compare(shown, out + err, f"{place}: {command}")


def _compare(shown: str, printed: str, place: str) -> None:
    """Every line that is shown is printed, in order; `...` stands for any lines, and numbers may differ."""
    lines = [_plain(line) for line in printed.split("\n")]
    at, skips = 0, False
    for line in shown.rstrip("\n").split("\n") if shown.strip() else []:
        if line == "...":
            skips = True
            continue
        wanted = _plain(line)
        here = lines.index(wanted, at) if wanted in lines[at:] else None
        assert here is not None, f"{place}: not printed: {line!r}, but\n{printed}"
        assert skips or here == at, f"{place}: left out before {line!r}, of\n{printed}"
        at, skips = here + 1, False
    assert skips or not shown.strip() or not "".join(lines[at:]), f"{place}: left out at the end, of\n{printed}"


def _plain(line: str) -> str:
    return re.sub(r"\d[\d.,]*(e[+-]\d+)?", "#", line).strip()


# --- links and names -------------------------------------------------------------------------------------------


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), f"{relative(page)}: {target}"
        if anchor:
            assert anchor in anchors_of(goal), f"{relative(page)}: {target}"


def offences_in_names(page: str, text: str, words: frozenset[str]) -> list[str]:
    """What stands in backticks and is neither a path of the repository nor made of words that its code has."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    offences = []
    for code in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"[\w.*{},/\-]+/[\w.*\-/]*|[\w\-]+\.(py|ph|md|sh|toml|lark|json)", code):
            if not list(ROOT.glob(code.rstrip("/"))) and not list(ROOT.glob(f"*/**/{code.rstrip('/')}")):
                offences.append(f"{page}: there is no `{code}`")
        elif re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", code):
            missing = [word for word in re.findall(r"\w+", code) if word not in words]
            offences += [f"{page}: nothing is called `{code}`"] if missing else []
    return offences


@pytest.fixture(scope="module")
def words() -> frozenset[str]:
    """Every word of the project's own code."""
    found: set[str] = set()
    for path in tracked_files():
        if path.suffix in {".py", ".ph", ".sh", ".lark", ".mjs", ".toml"} and path != Path(__file__):
            found.update(re.findall(r"\w+", path.read_text("utf-8")))
    return frozenset(found)


@pytest.mark.parametrize("page", NAMED)
def test_names_exist(page, words):
    assert offences_in_names(page, (ROOT / page).read_text("utf-8"), words) == []


def test_a_planted_name_is_found(words):
    for planted in ("tilec/plan/nothing.py", "no_such_thing", "Plan.no_such_thing"):
        assert offences_in_names("page", f"see `{planted}`", words)
    for right in ("tilec/plan/make.py", "make_plan", "Plan.homes", "tests/diag/", "1 + 1"):
        assert offences_in_names("page", f"see `{right}`", words) == []


def test_the_readme_names_every_command():
    text = (ROOT / "README.md").read_text("utf-8")
    assert all(f"tilec {command}" in text for command in COMMANDS)
    for script in re.findall(r"bash (scripts/\w+\.sh)", text):
        assert (ROOT / script).is_file()
