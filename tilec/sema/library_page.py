"""The page docs/library.md, made from std's doc comments: `python -m tilec.sema.library_page > docs/library.md`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilec.sema.library import library
from tilec.source import Source

_HEAD = """# The library

Made from the doc comments in `std/` by `python -m tilec.sema.library_page`; a test holds it current. Every function is
in scope in every kernel. The comments say more: domains, accuracy, what happens at infinities.

`R` rows, `C` or `D` columns. A loss is one value a row; a kernel sums or averages them. `f(out, x)` forms are
statements that store into their first arguments.
"""
_FUNCTION = re.compile(r"^((?:///[^\n]*\n)+)fn ([A-Za-z]\w*\([^)]*\))", re.MULTILINE)


def library_page() -> str:
    """The text of docs/library.md."""
    return "\n".join([_HEAD, *(_section(source) for source in sorted(library().sources, key=lambda one: one.name))])


def _section(source: Source) -> str:
    name = source.name.rsplit("/", 1)[-1]
    about = _joined(line for line in source.text.split("\n\n")[0].splitlines() if line.startswith("//"))
    rows = [f"| `{call}` | {_summary(doc)} | {_equal(doc)} |" for doc, call in _FUNCTION.findall(source.text)]
    return "\n".join([f"## {name}\n", f"{about}\n", "| function | value | in PyTorch |\n|---|---|---|", *rows]) + "\n"


def _joined(lines: Iterable[str]) -> str:
    return " ".join(re.sub(r"^/{2,3} ?", "", line) for line in lines).strip()


def _summary(doc: str) -> str:
    """The first sentence."""
    text = _joined(doc.split("\n///\n")[0].splitlines())
    sentence = re.match(r"(?:`[^`]*`|[^`])*?(?:\.(?= [A-Z])|$)", text)
    return _cell(sentence[0] if sentence else text).rstrip(".:")


def _equal(doc: str) -> str:
    """What it equals; nothing where PyTorch has none."""
    text = _joined(doc.splitlines())
    found = re.search(r"(PyTorch has none)?[;.:,]? ?[Ee]quals (.*)$", text)
    if found is None or found[1]:
        return ""
    return _cell(found[2]).rstrip(".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(library_page(), end="")
