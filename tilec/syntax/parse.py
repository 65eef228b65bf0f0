"""Parsing: a source text to the tree of ast.py. One run reports every independent error.

Layout cuts the tokens into items and statements; each is parsed by itself with the tables of grammar.lark, inner blocks
first. A statement that fails leaves its item out of the tree and hides nothing in the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lark import Token, UnexpectedToken

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import Reporter
from tilec.source import Source, Span
from tilec.syntax import ast
from tilec.syntax.build import BUILDER
from tilec.syntax.checks import MAXIMUM_EXPRESSION_DEPTH, check_item, too_deep
from tilec.syntax.diagnose import Fault, diagnose, report_statement_outside
from tilec.syntax.foreign import warn_of_floor_division
from tilec.syntax.layout import TAKES_BLOCK, Layout
from tilec.syntax.lexer import INFIX, LOCK, parser, tokenize
from tilec.syntax.pieces import Block, Line

MAXIMUM_SIZE = 1 << 20
"""Characters of one source."""

_TOKENS_A_LOOK = 256
"""How many tokens are parsed between looks at the clock."""

_ITEM_STARTS = frozenset(("KERNEL", "FN", "CONST", "IMPORT"))


def parse(source: Source, reporter: Reporter) -> ast.File:
    """Parses a whole file. Items that do not parse are reported, left out, and named in `File.broken`."""
    return _parse_range(source, 0, len(source.text), reporter)


def parse_item(source: Source, start: int, end: int, reporter: Reporter) -> ast.Item | None:
    """Parses the one item between two offsets of a source (see index.py). Spans count from the file's start."""
    items = _parse_range(source, start, end, reporter).items
    return items[0] if items else None


def _parse_range(source: Source, start: int, end: int, reporter: Reporter) -> ast.File:
    if end - start > MAXIMUM_SIZE:
        first_line = Span(source, start, start)
        reporter.error(catalog.SOURCE_TOO_LARGE, first_line, size=end - start, limit=MAXIMUM_SIZE)
        return ast.File(Span(source, start, end), ())
    if not source.is_std:
        warn_of_floor_division(source, start, end, reporter)
    with LOCK:
        layout = Layout(source, reporter)
        layout.run(tokenize(source, start, end))
        BUILDER.begin(source, reporter, layout.docs)
        items: list[ast.Item] = []
        broken: set[str] = set()
        outside = False
        for line in _join_attributes(layout.top.lines, source, reporter):
            # One report for a run of lines outside: one brace too many or too few makes many of them.
            if not _is_item(line):
                if not outside and not line.broken:
                    report_statement_outside(reporter, source, line.tokens)
                outside = True
                continue
            outside = line.tokens[-1].type == "RPAR"
            item = _parse_top_line(line, source, reporter)
            if item is not None:
                items.append(item)
            else:
                broken.update(_name_of(line))
        return ast.File(Span(source, start, end), tuple(items), frozenset(broken))


def _join_attributes(lines: list[Line], source: Source, reporter: Reporter) -> list[Line]:
    """Attributes stand on lines of their own before their kernel: makes one line of both."""
    joined: list[Line] = []
    waiting: list[Line] = []
    for line in lines:
        if waiting and not (line.tokens and line.tokens[0].type in ("KERNEL", "AT")):
            _report_lost_attributes(waiting, source, reporter)
            waiting = []
        if line.tokens and line.tokens[0].type == "AT" and not any(t.type in _ITEM_STARTS for t in line.tokens):
            waiting.append(line)
            continue
        if waiting:
            line.tokens[:0] = [token for one in waiting for token in one.tokens]
            line.broken |= any(one.broken for one in waiting)
            waiting = []
        joined.append(line)
    if waiting:
        _report_lost_attributes(waiting, source, reporter)
    return joined


def _report_lost_attributes(lines: Sequence[Line], source: Source, reporter: Reporter) -> None:
    first, last = lines[0].tokens, lines[-1].tokens
    name = str(first[1]) if len(first) > 1 else ""
    place = Span(source, first[0].start_pos or 0, last[-1].end_pos or 0)
    reporter.error(catalog.ATTRIBUTE_ON_NOTHING, place, name=name)


def _name_of(line: Line) -> list[str]:
    """The name that a broken item would have defined, so that its uses are not reported as well."""
    for word, name in zip(line.tokens, line.tokens[1:], strict=False):
        if word.type in _ITEM_STARTS and name.type == "NAME":
            return [str(name)]
    return []


def _is_item(line: Line) -> bool:
    return line.tokens[0].type in _ITEM_STARTS or line.tokens[0].type == "AT"


def _parse_top_line(line: Line, source: Source, reporter: Reporter) -> ast.Item | None:
    complete = all([_parse_block(block, source, reporter) for block in line.blocks])
    if line.broken:
        return None
    item = cast("ast.Item | None", _parse_tokens("item", line, source, reporter))
    if item is None or not complete:
        return None
    if isinstance(item, ast.Kernel | ast.Function) and not check_item(item, reporter):
        return None
    return item


def _parse_block(block: Block, source: Source, reporter: Reporter) -> bool:
    """Parses the statements of a block and of all blocks in it, innermost first. Whether all succeeded."""
    order: list[Block] = []
    pending = [block]
    while pending:
        current = pending.pop()
        order.append(current)
        for line in current.lines:
            # A block elsewhere than behind one of these is a fault of its line, and not code.
            if line.tokens[0].type in TAKES_BLOCK:
                pending.extend(line.blocks)
    complete = True
    for current in reversed(order):
        statements: list[ast.Statement] = []
        for line in current.lines:
            statement = _parse_statement(line, source, reporter)
            if statement is None:
                complete = False
            else:
                statements.append(statement)
        BUILDER.finish_block(current.start, tuple(statements))
    return complete


def _parse_statement(line: Line, source: Source, reporter: Reporter) -> ast.Statement | None:
    if line.broken:
        return None
    first = line.tokens[0]
    if first.type in _ITEM_STARTS or first.type == "AT":
        reporter.error(catalog.ITEM_INSIDE, Span(source, first.start_pos or 0, first.end_pos or 0), keyword=str(first))
        return None
    return cast("ast.Statement | None", _parse_tokens("statement", line, source, reporter))


def _parse_tokens(rule: str, line: Line, source: Source, reporter: Reporter) -> ast.Node | None:
    """One item or statement to its node, or None after a report."""
    tokens = line.tokens
    BUILDER.begin_piece()
    feed = parser().parse_interactive(start=rule).parser_state.feed_token
    index = 0
    try:
        for token in tokens:
            if not index % _TOKENS_A_LOOK and not source.is_std:
                check_time(Span(source, token.start_pos or 0, token.end_pos or 0))
            feed(token)
            index += 1
        node = feed(Token("$END", "", tokens[-1].end_pos), True)
    except UnexpectedToken:
        accepts = _accepted(rule, tokens[:index])
        diagnose(Fault(source, reporter, tokens, index, accepts, rule))
        return None
    if BUILDER.failed or (len(tokens) > MAXIMUM_EXPRESSION_DEPTH and _is_too_deep(node, tokens, source, reporter)):
        return None
    return node


def _accepted(rule: str, tokens: list[Token]) -> frozenset[str]:
    """The terminals that may follow `tokens`. Asked of a parser that has not seen the wrong token."""
    interactive = parser().parse_interactive(start=rule)
    for token in tokens:
        interactive.parser_state.feed_token(token)
    return frozenset(interactive.accepts())


def _is_too_deep(node: ast.Node, tokens: list[Token], source: Source, reporter: Reporter) -> bool:
    if too_deep([node]) is None:
        return False
    operators = [token for token in tokens if token.type in INFIX or token.type in ("LSQB", "LPAR", "DOT")]
    place = operators[min(MAXIMUM_EXPRESSION_DEPTH, len(operators) - 1)]
    reporter.error(
        catalog.EXPRESSION_TOO_LONG,
        Span(source, place.start_pos or 0, place.end_pos or 0),
        limit=MAXIMUM_EXPRESSION_DEPTH,
    )
    return True
