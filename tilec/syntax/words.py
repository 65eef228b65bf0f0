"""How tokens are called in messages, and the tokens that no rule of the grammar knows."""

from __future__ import annotations

import unicodedata

from lark import Token

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.source import Source, Span
from tilec.syntax.lexer import KEYWORD_TERMINALS

_FOREIGN = {
    "**": "write `pow(x, y)`",
    "**=": "write `x = pow(x, y)`",
    "&": "`&&` joins conditions; there are no bit operations",
    "|": "`||` joins conditions; there are no bit operations",
    "&=": "there are no bit operations",
    "|=": "there are no bit operations",
    "^": "a power is `pow(x, y)`; there are no bit operations",
    "~": "`!` negates a condition; there are no bit operations",
    "<<": "multiply: `x * 2`",
    ">>": "divide: `div(x, 2)`",
    "<<=": "multiply: `x *= 2`",
    ">>=": "divide: `x = div(x, 2)`",
    "->": "results have no declared type: a function is `fn f(x) = value`, a kernel stores into its parameters",
    "=>": "a function is written `fn f(x) = value`",
    "===": "write `==`",
    "!==": "write `!=`",
    ":=": "`let x = value` defines, `x = value` assigns",
    "%=": "write `x = x % y`",
    "?": "a choice is written `where(condition, a, b)`",
}
_CHARACTERS = {
    "\u201c": 'a string stands in plain quotes, `"..."`',
    "\u201d": 'a string stands in plain quotes, `"..."`',
    "\u2018": 'a string stands in plain quotes, `"..."`',
    "\u2019": 'a string stands in plain quotes, `"..."`',
    "'": 'a string stands in double quotes, `"..."`',
    "`": 'a string stands in double quotes, `"..."`',
    "\u2013": "write a plain `-`",
    "\u2014": "write a plain `-`",
    "\u2212": "write a plain `-`",
    "\u00d7": "write `*`",
    "\u00b7": "write `*`",
    "\u00f7": "write `/`",
    "\u2264": "write `<=`",
    "\u2265": "write `>=`",
    "\u2260": "write `!=`",
    "\u00a0": "write a plain space",
    "#": "a comment begins with `//`",
    "\\": "nothing joins lines: end the line with an operator, or use parentheses",
}


def place(source: Source, token: Token) -> Span:
    """The span of a token."""
    return Span(source, token.start_pos or 0, token.end_pos or 0)


def describe(token: Token) -> str:
    """The token as the object of "found": `` `x` ``, `the number `1.0` `, `the keyword `let` `."""
    if token.type == "$END":
        return "the end of the line"
    if token.type in KEYWORD_TERMINALS:
        return f"the keyword `{token}`"
    if token.type == "BLOCK":
        return "`{`"
    text = str(token) if len(token) <= 40 else f"{token[:37]}..."
    return f"the string {text}" if token.type == "STRING" else f"`{text}`"


def foreign_fix(operator: str) -> str:
    """What to write instead of another language's operator."""
    return _FOREIGN[operator]


def report_stray_token(reporter: Reporter, source: Source, token: Token) -> None:
    """Reports a token of the kinds FOREIGN, BLOCK_COMMENT, UNCLOSED_STRING, BAD_CHARACTER."""
    span = place(source, token)
    if token.type == "FOREIGN":
        reporter.error(catalog.FOREIGN_OPERATOR, span, operator=str(token), fix=foreign_fix(str(token)))
    elif token.type == "BLOCK_COMMENT":
        reporter.error(catalog.BLOCK_COMMENT, Span(source, span.start, span.start + 2))
    elif token.type == "UNCLOSED_STRING":
        reporter.error(catalog.UNCLOSED_STRING, span)
    else:
        reporter.error(catalog.BAD_CHARACTER, span, character=_name_character(token[0]), hint=_character_hint(token[0]))


def _name_character(character: str) -> str:
    """`` `ü` `` or `the character U+00A0 (NO-BREAK SPACE)` where it cannot be seen."""
    if character.isprintable() and not character.isspace():
        return f"`{character}`" if character != "`" else "a backquote"
    name = unicodedata.name(character, "")
    return f"the character U+{ord(character):04X}" + (f" ({name})" if name else "")


def _character_hint(character: str) -> str | None:
    known = _CHARACTERS.get(character)
    if known is not None:
        return known
    if character.isalpha():
        return "names consist of the letters A to Z and a to z, digits and `_`"
    return None


def indent(source: Source, token: Token) -> int:
    """The number of blanks at the start of the token's line."""
    text = source.line_text(source.line_column(token.start_pos or 0)[0])
    return len(text) - len(text.lstrip())
