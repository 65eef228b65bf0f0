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
_RUNNING_MODULES = {
    "pickle", "pickletools", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle", "copyreg",
    "yaml", "code", "codeop", "runpy", "imp", "zipimport", "builtins", "pty", "multiprocessing", "concurrent",
    "xmlrpc", "ctypes", "_ctypes", "cffi", "timeit", "cProfile", "profile", "pdb", "doctest",
}  # fmt: skip
# Processes are started in one place, which tests look at. What is imported by a computed name: files that name them.
_PROCESS_MODULES = {"subprocess", "asyncio", "posix", "nt", "_posixsubprocess"}
_PROCESS_CALLS = re.compile(r"(system|popen|exec[lv]\w*|spawn[lv]\w*|posix_spawnp?|fork|forkpty|startfile)\Z")
_PROCESS_FILES = ("tilec/runtime/sandbox/process.py",)
_IMPORTING_FILES = ("tilec/__init__.py", "tilec/cli/main.py", "tilec/runtime/sandbox/child.py")


def code_from_data(name: str, text: str) -> Iterator[str]:
    """Ways in which a text or a file could be run: built-in calls, modules, NumPy's pickles, other programs."""
    tree = ast.parse(text)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for line, package, _ in imported_packages(text):
        if package in _RUNNING_MODULES:
            yield f"{name}:{line}: imports {package}, which makes code of data"
        if package in _PROCESS_MODULES and name not in _PROCESS_FILES:
            yield f"{name}:{line}: imports {package}, which starts programs: only {', '.join(_PROCESS_FILES)} may"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _running_call(name, node, own)


def _running_call(name: str, node: ast.Call, own: set[str]) -> Iterator[str]:
    called = node.func
    if isinstance(called, ast.Name) and called.id in _RUNNING_CALLS - own:
        yield f"{name}:{node.lineno}: calls {called.id}, which makes code of data"
    is_import = "import_module" in (getattr(called, "id", ""), getattr(called, "attr", ""))
    if is_import and name not in _IMPORTING_FILES:
        yield f"{name}:{node.lineno}: imports what is computed"
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        if called.value.id == "os" and _PROCESS_CALLS.match(called.attr):
            yield f"{name}:{node.lineno}: calls os.{called.attr}, which starts programs"
        if called.attr == "setrecursionlimit":
            yield f"{name}:{node.lineno}: raises the limit of recursion, and with it a crash"
    for keyword in node.keywords:
        is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
        is_lark_cache = keyword.arg == "cache" and getattr(called, "id", "") == "Lark"  # lark's is a pickle
        if (keyword.arg in ("allow_pickle", "shell", "preexec_fn") or is_lark_cache) and not is_false:
            yield f"{name}:{node.lineno}: {keyword.arg} makes code of data"


def unmarked_comments(name: str, text: str) -> Iterator[str]:
    """Work that was left for later is no comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b", line):
            yield f"{name}:{number}: work left for later: {line.strip()}"
