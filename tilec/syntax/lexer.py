"""The lark parser of grammar.lark, built once a process, and its tokens."""

from __future__ import annotations

import threading
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import cast

from lark import Lark, Token
from lark import lexer as lark_lexer
from lark.lexer import Lexer, LexerThread
from lark.utils import TextSlice

from tilec.source import Source

KEYWORDS = frozenset(
    [
        "kernel",
        "fn",
        "let",
        "var",
        "const",
        "import",
        "if",
        "else",
        "for",
        "in",
        "while",
        "break",
        "continue",
        "return",
        "true",
        "false",
        "require",
        "assert",
        "print",
        "new",
    ]
)
KEYWORD_TERMINALS = frozenset(word.upper() for word in KEYWORDS)
INFIX = frozenset(["OR", "AND", "COMPARE", "LESS", "MORE", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT"])
"""Binary operators, by terminal."""

STARTS_LINE = frozenset(
    [
        "LET",
        "VAR",
        "IF",
        "FOR",
        "WHILE",
        "RETURN",
        "BREAK",
        "CONTINUE",
        "REQUIRE",
        "ASSERT",
        "PRINT",
        "FN",
        "KERNEL",
        "IMPORT",
    ]
)
"""Keywords that, at the start of a line, end brackets that were left open."""

START_RULES = ("item", "statement", "layout")

LOCK = threading.RLock()
"""Held while something is parsed: lark's parser is shared, and its callbacks work for one source at a time."""


def grammar_text() -> str:
    """The text of the grammar."""
    return (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")


@cache
def parser() -> Lark:
    """The parser with build.py's callbacks. Building the tables takes about a tenth of a second, once a process."""
    from tilec.syntax.build import BUILDER  # build.py needs the keywords above

    # Where interegular is installed, lark looks for colliding terminals at every start, in this grammar and in its own
    # grammar of grammars: a quarter of a second. The tests look for them once.
    found, lark_lexer.has_interegular = lark_lexer.has_interegular, False
    try:
        return Lark(grammar_text(), parser="lalr", lexer="basic", start=list(START_RULES), transformer=BUILDER)
    finally:
        lark_lexer.has_interegular = found


def tokenize(source: Source, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a part of a source. Every character outside comments and blanks is in one: none is refused."""
    stop = len(source.text) if end is None else end
    lexer = cast(Lexer, parser().parser.lexer)
    tokens = list(LexerThread.from_text(lexer, TextSlice(source.text, start, stop)).lex(None))
    for position, (token, following) in enumerate(pairwise(tokens)):
        # `var(x)` is the variance: a declaration has a name after the keyword, never a bracket.
        if token.type == "VAR" and following.type == "LPAR":
            tokens[position] = token.update(type="NAME")
    return tokens
