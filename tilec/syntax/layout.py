"""From tokens to items and statements: lines, brackets and blocks, before any grammar.

A statement ends at its newline, so that the pieces of a file can be found by brackets and newlines alone, and a fault
in one piece need not touch another. Nothing here recurses: any depth is seen, and refused beyond `MAXIMUM_DEPTH`.
"""

from __future__ import annotations

from typing import Any

from lark import Token

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.source import Source, Span
from tilec.syntax.docs import DocComments
from tilec.syntax.lexer import INFIX, STARTS_LINE
from tilec.syntax.pieces import Block, Frame, Line, is_complete_item
from tilec.syntax.words import indent, report_stray_token

MAXIMUM_DEPTH = 64
"""Levels of nesting: of blocks inside an item's own, and in one statement of brackets and unary operators."""

_CONTINUES = INFIX | {"COMMA", "EQUAL", "ASSIGN", "ELSE", "BANG"}
_OPERATORS_AT_LINE_START = (INFIX | {"EQUAL", "ASSIGN", "DOT", "COMMA"}) - {"BANG"}
TAKES_BLOCK = frozenset(["KERNEL", "FN", "IF", "ELSE", "FOR", "WHILE", "AT"])
_CLOSING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_OPENER_OF = {"RPAR": "LPAR", "RSQB": "LSQB"}


class Layout:
    """One pass over the tokens of a file or an item; the result is in `top.lines` and `docs`."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.top = Block(0)
        self._source = source
        self._reporter = reporter
        self._block = self.top
        self._line = Line()
        self._frames: list[Frame] = []
        self._depth = 0
        self._block_depth = 0
        self._deep_at: int | None = None
        self._fills = 0
        self._prefix_run = 0
        self._last_prefix: Token | None = None
        self._docs = DocComments(source, reporter)
        self._suspect: Token | None = None
        self._forgiven = 0
        self._tokens: list[Token] = []
        self._index = 0
        self._handlers = {
            "NEWLINE": self._newline,
            "SEMICOLON": self._semicolon,
            "LPAR": self._open_bracket,
            "LSQB": self._open_bracket,
            "RPAR": self._close_bracket,
            "RSQB": self._close_bracket,
            "LBRACE": self._open_brace,
            "RBRACE": self._close_brace,
            "ELSE": self._else,
            "DOC": self._doc,
            "BANG": self._prefix,
            "CONST": self._item_word,
            "AT": self._item_word,
        }
        self._handlers.update(dict.fromkeys(STARTS_LINE, self._word))
        self._handlers.update(dict.fromkeys(("KERNEL", "FN", "IMPORT"), self._item_word))
        self._handlers.update(dict.fromkeys(_OPERATORS_AT_LINE_START, self._operator))
        self._handlers.update(
            dict.fromkeys(("FOREIGN", "BLOCK_COMMENT", "UNCLOSED_STRING", "BAD_CHARACTER"), self._stray)
        )

    @property
    def docs(self) -> dict[int, str]:
        """Doc comments by the offset of the token that they belong to."""
        return self._docs.texts

    def run(self, tokens: list[Token]) -> None:
        """Reads all tokens. What is wrong with brackets and lines is reported."""
        self._tokens = tokens
        handlers = self._handlers
        pending = self._docs.pending
        for index, token in enumerate(tokens):
            handler = handlers.get(token.type)
            if handler is None:
                self._line.tokens.append(token)
            else:
                self._index = index
                handler(token)
            if pending and token.type not in ("DOC", "NEWLINE"):
                self._attach_docs(token)
        self._finish()

    # --- lines ---

    def _at_line_start(self) -> bool:
        return self._index == 0 or self._tokens[self._index - 1].type == "NEWLINE"

    def _in_brackets(self) -> bool:
        return bool(self._frames) and self._frames[-1].opener.type != "LBRACE"

    def _newline(self, token: Token) -> None:
        tokens = self._line.tokens
        if tokens and not self._in_brackets() and tokens[-1].type not in _CONTINUES:
            self._end_line()

    def _semicolon(self, token: Token) -> None:
        if self._in_brackets():
            self._line.tokens.append(token)
        else:
            self._end_line()

    def _end_line(self) -> None:
        if self._line.tokens:
            self._block.lines.append(self._line)
            self._line = Line()
        self._fills = 0
        self._last_prefix = None

    def _reopen_line(self) -> bool:
        """Makes the statement before the current one again, because what follows belongs to it."""
        if self._line.tokens or not self._block.lines:
            return False
        self._line = self._block.lines.pop()
        return True

    def _word(self, token: Token) -> None:
        """A keyword that begins a statement: at the start of a line it ends brackets that were left open."""
        self._end_open_line(token)
        self._line.tokens.append(token)

    def _end_open_line(self, token: Token) -> None:
        """No expression goes on with a statement's keyword: whatever the line before waits for is missing."""
        if not self._line.tokens or not self._at_line_start():
            return
        if self._in_brackets():
            self._abandon_brackets()
        elif token.type == "IF" and self._line.tokens[-1].type == "ELSE":
            return
        self._end_line()

    def _item_word(self, token: Token) -> None:
        """`kernel`, `fn`, `import`, `const`, `@`. In the first column an item begins, whatever is open."""
        if token.type not in ("CONST", "AT") or not self._in_brackets():
            self._end_open_line(token)
            self._begin_item(token)
        self._line.tokens.append(token)

    def _begin_item(self, token: Token) -> None:
        if not self._frames or not self._at_line_start() or self._source.line_column(token.start_pos or 0)[1] != 1:
            return
        self._report_unclosed(self._suspect or self._frames[-1].opener)
        self._end_line()
        self._close_all(token.start_pos or 0)

    def _operator(self, token: Token) -> None:
        if token.type == "MINUS":
            self._prefix(token)
        else:
            self._fills = 0
            self._line.tokens.append(token)
        if len(self._line.tokens) == 1 and self._at_line_start() and not self._in_brackets() and self._block.lines:
            previous = self._block.lines[-1]
            self._error(catalog.OPERATOR_AT_LINE_START, token, operator=str(token))
            self._line.broken = True
            if not previous.tokens or previous.tokens[-1].type != "BLOCK":
                self._line = Line()
                self._reopen_line()
                self._line.tokens.append(token)

    def _stray(self, token: Token) -> None:
        """A token that no rule knows."""
        report_stray_token(self._reporter, self._source, token)
        self._line.broken = True
        self._line.tokens.append(token)
        if token.type == "UNCLOSED_STRING":
            # It has swallowed the closing brackets of its line.
            while self._in_brackets():
                self._pop_frame()

    # --- brackets ---

    def _prefix_depth(self) -> int:
        tokens = self._line.tokens
        run = self._prefix_run if tokens and tokens[-1] is self._last_prefix else 0
        return run + self._fills

    def _check_depth(self, token: Token, depth: int) -> None:
        """Reports a depth beyond the limit, once until it is left again."""
        if depth > MAXIMUM_DEPTH:
            if self._deep_at is None and not self._line.broken:
                self._error(catalog.NESTING_TOO_DEEP, token, limit=MAXIMUM_DEPTH, level=depth)
                self._deep_at = len(self._frames)
            self._line.broken = True

    def _prefix(self, token: Token) -> None:
        tokens = self._line.tokens
        last = tokens[-1] if tokens else None
        if last is not None and last.type in ("NAME", "NUMBER", "STRING", "TRUE", "FALSE", "RPAR", "RSQB", "BLOCK"):
            self._fills = 0  # infix
        else:
            self._prefix_run = self._prefix_run + 1 if last is not None and last is self._last_prefix else 1
            self._last_prefix = token
            self._check_depth(token, self._depth + self._prefix_run + self._fills)
        tokens.append(token)

    def _push_frame(self, token: Token) -> None:
        inner = 0
        if token.type == "LBRACE":
            self._check_depth(token, self._block_depth)
            self._block_depth += 1
        else:
            inner = self._depth + self._prefix_depth() + 1
            self._check_depth(token, inner)
        self._frames.append(Frame(token, self._depth, self._fills, self._line, self._block))
        self._depth = inner
        self._fills = 0

    def _pop_frame(self) -> Frame:
        frame = self._frames.pop()
        self._depth = frame.depth
        self._fills = frame.fills
        if frame.opener.type == "LBRACE":
            self._block_depth -= 1
        if self._deep_at is not None and len(self._frames) <= self._deep_at:
            self._deep_at = None
        return frame

    def _open_bracket(self, token: Token) -> None:
        self._push_frame(token)
        self._line.tokens.append(token)

    def _close_bracket(self, token: Token) -> None:
        wanted = _OPENER_OF[token.type]
        if self._in_brackets():
            if self._frames[-1].opener.type == wanted:
                self._pop_frame()
                self._line.tokens.append(token)
                return
            for frame in reversed(self._frames):
                if frame.opener.type == "LBRACE":
                    break
                if frame.opener.type == wanted:
                    self._report_unclosed(self._frames[-1].opener)
                    while self._pop_frame() is not frame:
                        pass
                    return
            self._pop_frame()  # the wrong bracket was meant for this one
        self._error(catalog.UNMATCHED_BRACKET, token, bracket=str(token))
        self._line.broken = True
        self._line.tokens.append(token)

    def _abandon_brackets(self) -> None:
        """Leaves all `(` and `[` that are open in the current line, with one report."""
        self._report_unclosed(self._frames[-1].opener)
        while self._in_brackets():
            self._pop_frame()

    def _report_unclosed(self, opener: Token) -> None:
        self._error(catalog.UNCLOSED_BRACKET, opener, bracket=str(opener), closing=_CLOSING[opener.type])
        self._line.broken = True
        for frame in self._frames:
            frame.line.broken = True

    # --- blocks ---

    def _open_brace(self, token: Token) -> None:
        if self._in_brackets():
            self._abandon_brackets()
        if not self._line.tokens:
            self._error(catalog.BRACE_ALONE, token)
            previous = self._block.lines[-1].tokens if self._block.lines else []
            if previous and previous[0].type in TAKES_BLOCK and previous[-1].type != "BLOCK":
                self._reopen_line()
            else:
                self._line.broken = True
        self._push_frame(token)
        self._block = Block(token.start_pos or 0)
        self._line = Line()

    def _close_brace(self, token: Token) -> None:
        if self._in_brackets():
            self._abandon_brackets()
            self._forgiven += not self._frames
        if not self._frames:
            self._end_line()
            if self._forgiven:
                self._forgiven -= 1
            elif not self._block.lines or is_complete_item(self._block.lines[-1]):
                self._error(catalog.UNMATCHED_BRACKET, token, bracket="}")
            return
        opener = self._frames[-1].opener
        if self._closes_missing_brace(token, opener):
            self._end_line()
            return
        if (
            self._suspect is None
            and self._at_line_start()
            and indent(self._source, token) < indent(self._source, opener)
        ):
            self._suspect = opener
        self._end_line()
        self._end_block(token.start_pos or 0, token.end_pos or 0)

    def _closes_missing_brace(self, token: Token, opener: Token) -> bool:
        """Whether the layout shows a `}` to belong to an `if c` or the like whose `{` is missing (reported there)."""
        if not self._at_line_start() or indent(self._source, token) <= indent(self._source, opener):
            return False
        return any(
            line.tokens[0].type in ("IF", "FOR", "WHILE")
            and line.tokens[-1].type != "BLOCK"
            and indent(self._source, line.tokens[0]) == indent(self._source, token)
            for line in self._block.lines
            if line.tokens
        )

    def _end_block(self, start: int, end: int) -> None:
        frame = self._pop_frame()
        block = self._block
        block.end = end
        self._block = frame.block
        self._line = frame.line
        self._line.tokens.append(Token("BLOCK", "{", block.start, end_pos=end))
        self._line.blocks.append(block)
        self._last_prefix = None

    def _else(self, token: Token) -> None:
        """`else` may begin a line: it belongs to the statement before."""
        if not self._line.tokens and not self._in_brackets():
            self._reopen_line()
        tokens = self._line.tokens
        if tokens and tokens[-1].type == "RSQB":
            self._fills += 1
            self._check_depth(token, self._depth + self._fills)
        else:
            # Each `else if` is an `if` inside the `else` before.
            self._check_depth(token, self._block_depth - 1 + len(self._line.blocks))
        tokens.append(token)

    def _close_all(self, end: int) -> None:
        while self._frames:
            if self._in_brackets():
                self._pop_frame()
                continue
            self._end_line()
            self._end_block(end, end)
        self._end_line()
        self._suspect = None

    def _finish(self) -> None:
        if self._docs.pending:
            self._docs.lose()
        if self._frames:
            opener = self._frames[-1].opener
            if opener.type == "LBRACE" and self._suspect is not None:
                opener = self._suspect
            self._report_unclosed(opener)
        end = (self._tokens[-1].end_pos or 0) if self._tokens else 0
        self._close_all(end)

    # --- doc comments ---

    def _doc(self, token: Token) -> None:
        self._docs.pending.append(token)

    def _attach_docs(self, token: Token) -> None:
        """Doc comments belong to an item, or to a parameter in the header of one."""
        tokens = self._line.tokens
        if not self._frames:
            fits = token.type in ("KERNEL", "FN", "CONST", "AT") and len(tokens) > 0 and tokens[-1] is token
        else:
            fits = (
                len(self._frames) == 1
                and self._frames[0].opener.type == "LPAR"
                and token.type in ("NAME", "CONST")
                and len(tokens) > 1
                and tokens[-2].type in ("LPAR", "COMMA")
                and tokens[0].type in ("KERNEL", "FN", "AT")
            )
        if fits:
            self._docs.attach(token)
        else:
            self._docs.lose()

    # --- places ---

    def _error(self, row: Row, token: Token, **fields: Any) -> None:
        self._reporter.error(row, Span(self._source, token.start_pos or 0, token.end_pos or 0), **fields)
