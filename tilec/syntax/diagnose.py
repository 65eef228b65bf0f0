"""What to say about the token at which an item or a statement stops following the grammar.

Each rule below knows one mistake; the first that recognises it reports. The last says what the grammar expects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark import Token

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.source import Source, Span
from tilec.syntax.foreign import foreign_form, method_call, named_argument, separator_hint
from tilec.syntax.lexer import INFIX, KEYWORD_TERMINALS
from tilec.syntax.words import describe, foreign_fix, place

_STARTS_STATEMENT = frozenset(
    ["LET", "VAR", "IF", "FOR", "WHILE", "RETURN", "BREAK", "CONTINUE", "REQUIRE", "ASSERT", "PRINT", "NAME"]
)
_HEADERS = {"IF": "if", "ELSE": "else", "FOR": "for", "WHILE": "while", "FN": "fn", "KERNEL": "kernel"}
_WORDS = {"and": "`&&`", "or": "`||`", "not": "`!`", "elif": "`else if`", "elseif": "`else if`", "is": "`==`"}
ITEM_WORDS = {"def": "`fn`", "function": "`fn`", "func": "`fn`", "fun": "`fn`", "proc": "`fn`", "use": "`import`"}
_TERMINAL_TEXT = {
    "KERNEL": "`kernel`",
    "FN": "`fn`",
    "CONST": "`const`",
    "IN": "`in`",
    "ELSE": "`else`",
    "NEW": "`new`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "COUNT": "`:+`",
    "DOT": "`.`",
    "PIPE": "`|`",
    "EQUAL": "`=`",
    "ASSIGN": "`+=`",
    "LESS": "`<`",
    "MORE": "`>`",
    "STRING": "a string",
    "NAME": "a name",
    "BLOCK": "`{`",
    "AT": "`@`",
    "$END": "the end of the line",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where parsing stopped. `tokens[index]` does not fit; at the end, `index` is `len(tokens)`."""

    source: Source
    reporter: Reporter
    tokens: list[Token]
    index: int
    accepts: frozenset[str]
    rule: str

    @property
    def token(self) -> Token:
        if self.index < len(self.tokens):
            return self.tokens[self.index]
        end = self.tokens[-1].end_pos or 0
        return Token("$END", "", end, end_pos=end)

    @property
    def previous(self) -> Token | None:
        return self.tokens[self.index - 1] if self.index else None

    @property
    def expects_operand(self) -> bool:
        return "NUMBER" in self.accepts

    @property
    def expected(self) -> str:
        """What may stand here, in words."""
        return _expected_text(self.accepts)

    def report(self, row: Row, token: Token, *, hint: str | None = None, **fields: Any) -> bool:
        self.reporter.error(row, place(self.source, token), hint=hint, **fields)
        return True


def diagnose(fault: Fault) -> None:
    """Reports one error about the fault."""
    for rule in _RULES:
        if rule(fault):
            return


def _foreign_word(fault: Fault) -> bool:
    """`a and b`, `not a`, `elif c {`."""
    for token in (fault.token, fault.previous):
        if token is not None and token.type == "NAME" and str(token) in _WORDS:
            return fault.report(catalog.FOREIGN_WORD, token, word=str(token), fix=_WORDS[str(token)])
    first = fault.tokens[0]
    if first.type == "NAME" and str(first) in _WORDS and fault.index > 0:
        return fault.report(catalog.FOREIGN_WORD, first, word=str(first), fix=_WORDS[str(first)])
    if first.type == "NAME" and str(first) in ITEM_WORDS and fault.index == 1 and fault.token.type == "NAME":
        return fault.report(catalog.FOREIGN_WORD, first, word=str(first), fix=ITEM_WORDS[str(first)])
    return False


def _equal_in_expression(fault: Fault) -> bool:
    """`if n = 1 {`, `f(a = 1)`."""
    if fault.token.type not in ("EQUAL", "ASSIGN") or fault.previous is None:
        return False
    if "PLUS" not in fault.accepts:
        return False
    return fault.report(catalog.ASSIGNMENT_IN_EXPRESSION, fault.token, hint=named_argument(fault))


def _single_bar(fault: Fault) -> bool:
    """`a | b` outside a type."""
    if fault.token.type != "PIPE":
        return False
    return fault.report(catalog.FOREIGN_OPERATOR, fault.token, operator="|", fix=foreign_fix("|"))


def _keyword_as_name(fault: Fault) -> bool:
    """`let new = 1`, `x + in`."""
    token = fault.token
    if token.type not in KEYWORD_TERMINALS or "NAME" not in fault.accepts:
        return False
    if fault.expects_operand:
        after = fault.tokens[fault.index + 1].type if fault.index + 1 < len(fault.tokens) else "$END"
        used_as_name = after in INFIX or after in ("RPAR", "RSQB", "COMMA", "EQUAL", "ASSIGN", "LSQB", "$END")
        if not used_as_name or token.type in ("ELSE", "BREAK", "CONTINUE", "RETURN"):
            return False
        if token.type == "NEW" and after in ("RSQB", "COMMA"):
            return False
    return fault.report(catalog.KEYWORD_AS_NAME, token, keyword=str(token))


def _choice_as_value(fault: Fault) -> bool:
    """`let y = if c { a } else { b }`."""
    if fault.token.type != "IF" or not fault.expects_operand:
        return False
    return fault.report(
        catalog.UNEXPECTED_TOKEN,
        fault.token,
        expected="an expression",
        found=describe(fault.token),
        hint="`if` is a statement; a choice between values is `where(condition, a, b)`",
    )


def _else_without_if(fault: Fault) -> bool:
    if fault.token.type != "ELSE":
        return False
    return fault.report(catalog.ELSE_WITHOUT_IF, fault.token)


def _needs_block(fault: Fault) -> bool:
    """`if c` without braces."""
    if "BLOCK" not in fault.accepts:
        return False
    words = [token for token in fault.tokens[: fault.index] if token.type in _HEADERS]
    if not words or fault.token.type not in _STARTS_STATEMENT | {"$END", "ELSE"}:
        return False
    keyword = _HEADERS[words[-1].type]
    return fault.report(catalog.NEEDS_BLOCK, fault.token, keyword=keyword, found=describe(fault.token))


def _needs_message(fault: Fault) -> bool:
    first = fault.tokens[0]
    if first.type not in ("REQUIRE", "ASSERT") or fault.token.type != "$END" or "COMMA" not in fault.accepts:
        return False
    if "RPAR" in fault.accepts or "RSQB" in fault.accepts:
        return False
    return fault.report(catalog.NEEDS_MESSAGE, fault.token, keyword=str(first))


def _missing_separator(fault: Fault) -> bool:
    """`let a = 1 let b = 2`."""
    starts = fault.token.type in _STARTS_STATEMENT or fault.token.type in ("KERNEL", "FN", "CONST", "IMPORT", "AT")
    if not starts or "$END" not in fault.accepts:
        return False
    return fault.report(
        catalog.MISSING_SEPARATOR, fault.token, hint=separator_hint(fault), found=describe(fault.token)
    )


def _anything(fault: Fault) -> bool:
    hint = "subscripts alone take `new`" if fault.token.type == "NEW" else None
    return fault.report(
        catalog.UNEXPECTED_TOKEN, fault.token, expected=fault.expected, found=describe(fault.token), hint=hint
    )


_RULES: tuple[Callable[[Fault], bool], ...] = (
    _foreign_word,
    _single_bar,
    _equal_in_expression,
    _choice_as_value,
    _keyword_as_name,
    _needs_block,
    _else_without_if,
    _needs_message,
    method_call,
    _missing_separator,
    foreign_form,
    _anything,
)


def _expected_text(accepts: frozenset[str]) -> str:
    """What may stand at the place, in words."""
    words: list[str] = []
    left = set(accepts)
    if "NUMBER" in left:
        words.append("a subscript" if "NEW" in left else "an expression")
        left -= {"NAME", "NUMBER", "TRUE", "FALSE", "STRING", "LPAR", "MINUS", "BANG", "NEW", "COLON"}
    if "STAR" in left:
        left -= INFIX | {"DOT", "LPAR"}
        # A subscript may follow any operand, which is not worth saying.
        left -= {"LSQB", "ELSE"}
        words += _named(left)
        words.append("an operator")
    else:
        words += _named(left)
    if not words:
        return "a statement"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _named(terminals: set[str]) -> list[str]:
    if "LET" in terminals:
        return ["a statement"]
    return [text for terminal, text in _TERMINAL_TEXT.items() if terminal in terminals]


def report_statement_outside(reporter: Reporter, source: Source, tokens: list[Token]) -> None:
    """Reports a line at file level that begins no item."""
    first = tokens[0]
    word = str(first)
    if word == "from":
        hint = 'every function of the library is in scope; a file of your own is `import "my.ph"`'
        reporter.error(catalog.STATEMENT_OUTSIDE, place(source, first), hint=hint, what=describe(first))
        return
    if first.type == "NAME" and word in ITEM_WORDS:
        reporter.error(catalog.FOREIGN_WORD, place(source, first), word=word, fix=ITEM_WORDS[word])
        return
    span = Span(source, first.start_pos or 0, tokens[-1].end_pos or 0)
    line_end = source.text.find("\n", span.start)
    if 0 <= line_end < span.end:
        span = Span(source, span.start, line_end)
    reporter.error(catalog.STATEMENT_OUTSIDE, span, what=describe(first))
