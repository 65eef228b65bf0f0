"""The grammar itself."""

import re

import pytest
from lark import Lark

from tests.syntax.helpers import KERNEL
from tilec.source import Source
from tilec.syntax.build import BUILDER
from tilec.syntax.lexer import KEYWORD_TERMINALS, KEYWORDS, START_RULES, grammar_text, parser, tokenize

LANGUAGE_KEYWORDS = (
    "kernel fn let var const import if else for in while return break continue true false require assert print new"
)


def test_no_conflict_in_strict_mode() -> None:
    """Strict mode turns shift/reduce conflicts and overlapping terminals into exceptions."""
    Lark(grammar_text(), parser="lalr", lexer="basic", start=list(START_RULES), strict=True)


def test_a_planted_conflict_is_found() -> None:
    planted = grammar_text().replace("?sum: product", "?sum: product\n     | sum sum -> binary")
    with pytest.raises(Exception, match="conflict"):
        Lark(planted, parser="lalr", lexer="basic", start=list(START_RULES), strict=True)


def test_keywords() -> None:
    assert set(LANGUAGE_KEYWORDS.split()) == KEYWORDS
    assert {token.type for token in tokenize(Source("k", LANGUAGE_KEYWORDS))} == KEYWORD_TERMINALS


def test_every_rule_has_a_callback() -> None:
    aliases = set(re.findall(r"-> (\w+)", grammar_text()))
    plain = {"attributes", "attribute", "named_in", "type_parameters", "type_parameter", "parameter"}
    missing = {name for name in aliases | plain if not callable(getattr(BUILDER, name, None))}
    assert not missing


def test_the_parser_is_built_once() -> None:
    assert parser() is parser()


def test_tokens_leave_out_only_blanks_and_comments() -> None:
    source = Source("k", KERNEL + '§ "open\n/* a */ b ** c 1..2 \0')
    position = 0
    for token in tokenize(source):
        between = source.text[position : token.start_pos]
        assert re.fullmatch(r"[ \t\r\f]*(//[^\n]*)?", between), between
        assert source.text[token.start_pos : token.end_pos] == token
        position = token.end_pos
    assert position == len(source.text)


def test_a_part_of_a_source_keeps_its_offsets() -> None:
    source = Source("k", "const A = 1\nconst B = 2\n")
    assert [(str(token), token.start_pos) for token in tokenize(source, 12, 19)] == [("const", 12), ("B", 18)]
