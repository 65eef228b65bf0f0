"""The house rules as functions that find offences, so that a planted one can be shown to be found."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MOST_LINES = 400
MOST_TABLE_LINES = 600
# Tables: rows of one shape that are looked up, not read.
TABLES = ("tilec/ops/", "tilec/diag/catalog.py", "tilec/diag/rows_")
CODE_ENDINGS = (".py", ".mjs", ".js", ".sh", ".lark", ".ph")

# The compiler runs where none is installed; only these may import NumPy, only runtime/ wgpu, only torch.py torch.
NUMPY_ROOMS = ("tilec/runtime/", "tilec/cli/", "tilec/tools/", "tilec/torch.py")
NUMPY_FILES = ("tilec/tile/interp", "tilec/loop/interp", "tilec/ops/reference")
COMPILER_IMPORTS = {"lark"}

# Written in two parts, so that this file does not hold what it looks for.
FORBIDDEN = {
    "/" + "work/": "a path of somebody's machine",
    "/" + "tmp/brief": "a path of somebody's machine",
    "registry." + "npmjs": "a registry's host",
    "deb." + "debian.org": "a registry's host",
    "pypi." + "org": "a registry's host",
    "clau" + "de": "who or what wrote it is no part of the project",
    "anthro" + "pic": "who or what wrote it is no part of the project",
    "brief" + "/": "papers that are not in the repository",
    "LANGU" + "AGE.md": "papers that are not in the repository",
    "ARCHIT" + "ECTURE.md": "papers that are not in the repository",
    "FACTS" + ".md": "papers that are not in the repository",
}


def tracked_files() -> list[Path]:
    """The repository's files, or those of an unpacked source archive, without what is installed or generated."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    hidden = {".venv", ".drivers", "__pycache__", ".git"}
    return [
        path for path in ROOT.rglob("*") if path.is_file() and not hidden.intersection(path.relative_to(ROOT).parts)
    ]


def relative(path: Path) -> str:
    """The path from the repository's top, with slashes."""
    return path.relative_to(ROOT).as_posix()


def too_long(name: str, text: str) -> str | None:
    """A file does one duty: 400 lines are enough for one, 600 for a table."""
    if not name.endswith(CODE_ENDINGS):
        return None
    most = MOST_TABLE_LINES if name.startswith(TABLES) else MOST_LINES
    count = text.count("\n")
    return f"{name}: {count} lines, at most {most}: split it by duty" if count > most else None


def forbidden_words(name: str, text: str) -> Iterator[str]:
    """Words that have no place in the project's files, in any case; those in capitals as they are."""
    folded = text.lower()
    for word, reason in FORBIDDEN.items():
        searched = folded if word.islower() else text
        if word in searched:
            line = searched[: searched.index(word)].count("\n") + 1
            yield f"{name}:{line}: {word!r}: {reason}"


def imported_packages(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each absolute import: its line, the top-level package, and whether it runs when the module is imported."""
    tree = ast.parse(text)
    lazy = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            yield node.lineno, name.partition(".")[0], id(node) not in lazy


def import_offences(name: str, text: str, standard: frozenset[str]) -> Iterator[str]:
    """Imports that would keep the compiler from running with the standard library and lark alone."""
    may_numpy = name.startswith((*NUMPY_ROOMS, *NUMPY_FILES))
    for line, package, at_once in imported_packages(text):
        if package in standard or package in COMPILER_IMPORTS or package in {"tilec", "__future__"}:
            continue
        if package == "wgpu":
            if not name.startswith("tilec/runtime/"):
                yield f"{name}:{line}: imports wgpu, which only tilec/runtime may"
            elif at_once:
                yield f"{name}:{line}: imports wgpu at once: it must wait until a device is asked for"
        elif package == "torch":
            if name != "tilec/torch.py":
                yield f"{name}:{line}: imports torch, which only tilec/torch.py may"
        elif package in {"numpy", "ml_dtypes"}:
            if not may_numpy:
                yield f"{name}:{line}: imports {package}: the compiler must run without it"
        else:
            yield f"{name}:{line}: imports {package}, which the project does not depend on"


# What turns data into code; `compile` and `exec` as methods of other things are something else.
_RUNNING_CALLS = {"eval", "exec", "compile", "__import__"}
_RUNNING_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code", "codeop"}


def code_from_data(name: str, text: str) -> Iterator[str]:
    """Ways in which a text or a file could be run as Python: built-in calls, modules, NumPy's pickles."""
    tree = ast.parse(text)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for line, package, _ in imported_packages(text):
        if package in _RUNNING_MODULES:
            yield f"{name}:{line}: imports {package}, which makes code of data"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _RUNNING_CALLS - own:
            yield f"{name}:{node.lineno}: calls {node.func.id}, which makes code of data"
        for keyword in node.keywords:
            is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            if keyword.arg in ("allow_pickle", "shell") and not is_false:
                yield f"{name}:{node.lineno}: {keyword.arg} makes code of data"


def unmarked_comments(name: str, text: str) -> Iterator[str]:
    """Work that was left for later is no comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b", line):
            yield f"{name}:{number}: work left for later: {line.strip()}"
