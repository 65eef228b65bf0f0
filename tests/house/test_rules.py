"""The house rules hold, and a planted offence is found."""

from __future__ import annotations

import sys

import pytest

from tests.house import rules

STANDARD = frozenset(sys.stdlib_module_names)
TEXT_ENDINGS = (*rules.CODE_ENDINGS, ".md", ".toml", ".json", ".wgsl", ".txt", ".html", "run", "Makefile", "LICENSE")


def texts(*endings: str, under: str = "") -> list[tuple[str, str]]:
    names = [(rules.relative(path), path) for path in rules.tracked_files()]
    return [
        (name, path.read_text("utf-8")) for name, path in names if name.startswith(under) and name.endswith(endings)
    ]


def test_files_are_short() -> None:
    offences = [rules.too_long(name, text) for name, text in texts(*rules.CODE_ENDINGS)]
    assert [offence for offence in offences if offence] == []


def test_words_that_have_no_place_here() -> None:
    assert [offence for name, text in texts(*TEXT_ENDINGS) for offence in rules.forbidden_words(name, text)] == []


def test_nothing_is_left_for_later() -> None:
    assert [offence for name, text in texts(".py", ".ph") for offence in rules.unmarked_comments(name, text)] == []


def test_the_compiler_imports_only_the_standard_library_and_lark() -> None:
    package = texts(".py", under="tilec/")
    assert package
    assert [found for name, text in package for found in rules.import_offences(name, text, STANDARD)] == []


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("tilec/sema/infer.py", "import numpy as np\n", "must run without it"),
        ("tilec/plan/make.py", "def f():\n    import ml_dtypes\n", "must run without it"),
        ("tilec/runtime/arrays.py", "def f():\n    import torch\n", "only tilec/torch.py may"),
        ("tilec/wgsl/emit.py", "import wgpu\n", "only tilec/runtime may"),
        ("tilec/runtime/kernel.py", "from wgpu.utils import get_default_device\n", "must wait"),
        ("tilec/cli/main.py", "import click\n", "does not depend on"),
    ],
)
def test_a_planted_import_is_found(name: str, text: str, word: str) -> None:
    (offence,) = rules.import_offences(name, text, STANDARD)
    assert word in offence


def test_allowed_imports_are_allowed() -> None:
    assert [*rules.import_offences("tilec/tile/interp.py", "import numpy\n", STANDARD)] == []
    assert [*rules.import_offences("tilec/syntax/parse.py", "import lark\nfrom . import ast\n", STANDARD)] == []
    assert [*rules.import_offences("tilec/runtime/a.py", "def f():\n    import wgpu\n", STANDARD)] == []


def test_no_data_becomes_code() -> None:
    package = texts(".py", under="tilec/")
    assert [offence for name, text in package for offence in rules.code_from_data(name, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\n", "def f():\n    from marshal import loads\n", "eval('1')\n", "exec(text)\n",
        "def f(text):\n    return compile(text, 'a', 'eval')\n", "__import__('os')\n",
        "np.load(path, allow_pickle=True)\n", "subprocess.run(text, shell=wanted)\n", "import shelve\n",
        "import yaml\n", "from ctypes import cdll\n", "import multiprocessing.pool\n", "import subprocess\n",
        "from concurrent.futures import ProcessPoolExecutor\n", "os.system(text)\n", "os.execvp(text, [])\n",
        "os.posix_spawn(text, [], {})\n", "os.popen(text)\n", "os.fork()\n", "importlib.import_module(text)\n",
        "import_module(text)\n", "import builtins\n", "import runpy\n", "sys.setrecursionlimit(10**6)\n",
        "Lark(grammar, cache=True)\n", "f(preexec_fn=g)\n", "import cffi\n",
    ],
)  # fmt: skip
def test_planted_code_from_data_is_found(text: str) -> None:
    assert len([*rules.code_from_data("tilec/a.py", text)]) == 1


def test_other_things_of_those_names_are_none() -> None:
    text = "import re\nre.compile('a')\ndef compile(path): ...\ncompile('a.ph')\nnp.load(path, allow_pickle=False)\n"
    assert [*rules.code_from_data("tilec/a.py", text)] == []


def test_planted_length_and_words_are_found() -> None:
    assert rules.too_long("tilec/driver.py", "\n" * 401)
    assert rules.too_long("tilec/ops/pointwise.py", "\n" * 600) is None
    assert rules.too_long("tilec/ops/pointwise.py", "\n" * 601)
    for word in rules.FORBIDDEN:
        offences = [*rules.forbidden_words("docs/a.md", f"first\nsee {word.upper() if word.islower() else word}")]
        assert offences
        assert offences[0].startswith("docs/a.md:2: ")
    assert [*rules.unmarked_comments("a.py", "# TO" + "DO later")]
