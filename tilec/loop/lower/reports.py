"""Reports of debug builds: which of several tell something, and their records.

Appending to the log is long code in every shader compiler, and it is inlined: the reports of an element, or of several
elements, share one place that appends. Where any of their conditions holds, a loop over them fills the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import add, as_word, compare, const, multiply
from tilec.loop.lower.code import ZERO
from tilec.loop.lower.evaluate import Evaluator, aligned
from tilec.loop.lower.frame import Frame
from tilec.plan.ir import Sink
from tilec.tile import ir as tile
from tilec.tile.reports import MOST_PRINTED
from tilec.types import DType, element_count

Index: TypeAlias = "dict[str, ir.Expr]"

_U32 = DType.U32


class ReportLowering:
    """Writes what reports do at given positions."""

    def __init__(self, frame: Frame, evaluator: Evaluator) -> None:
        self.frame, self.code, self.evaluator = frame, frame.code, evaluator

    def emit(self, sinks: Sequence[Sink], positions: Sequence[Index]) -> None:
        """Each sink at each position."""
        pairs = [(sink, index) for index in positions for sink in sinks]
        conditions = [self._condition(sink, index) for sink, index in pairs]
        if not pairs:
            return
        if len(pairs) == 1:
            with self.code.when(conditions[0]):
                self._tell(self._words(*pairs[0]))
            return
        some = conditions[0]
        for condition in conditions[1:]:
            some = self.code.let("tells", ir.Op("or", (some, condition), DType.BOOL))
        with self.code.when(some):
            self._loop(pairs, conditions)

    def _condition(self, sink: Sink, index: Index) -> ir.Expr:
        """Whether the lane is told of: it holds, and if it is printed it is among the first active ones."""
        report, own = sink.report, _own(sink, index)
        condition = self.evaluator.at(report.where, own)
        lanes = element_count(report.where.type.shape).constant
        if report.kind != "print" or (lanes is not None and lanes <= MOST_PRINTED):
            return condition
        most = const(MOST_PRINTED)
        before: ir.Expr = ZERO
        for axis, extent in enumerate(report.where.type.shape):
            start: ir.Expr = ZERO
            end = self.evaluator.extent(extent)
            for bound in sorted(report.where.type.active[axis], key=str):
                if not bound.stretched:
                    start = _op("max", start, self.evaluator.extent(bound.start))
                    end = _op("min", end, self.evaluator.extent(bound.limit))
            # Nothing overflows: a factor or a term above the limit is as good as the limit.
            length = _op("min", most, _op("sub", end, start))
            offset = _op("min", most, _op("sub", own[axis], start))
            before = self.code.let("before", add(multiply(before, length), offset))
            condition = self.code.let("tells", _both(condition, compare("lt", before, most)))
        return condition

    def _loop(self, pairs: list[tuple[Sink, Index]], conditions: list[ir.Expr]) -> None:
        code, layout = self.code, self.frame.plan.log
        assert layout is not None
        number = ir.Local("report", _U32)
        with code.block() as body:
            tells = code.declare("tells", ir.Const(DType.BOOL, False))
            words = [code.declare("word", const(0, _U32)) for _ in range(1 + layout.record)]
            for place, (pair, condition) in enumerate(zip(pairs, conditions, strict=True)):
                is_own = compare("eq", number, const(place, _U32))
                with code.when(_both(is_own, condition)):
                    code.assign(tells, ir.Const(DType.BOOL, True))
                    for local, word in zip(words, self._words(*pair), strict=True):
                        code.assign(local, word)
            with code.when(tells):
                self._tell(words)
        # No block has so high a number, but that is not known: a loop of known length would be written out again.
        doubt = ir.Bits("shr", (as_word(self.frame.block_number), const(31, _U32)), _U32)
        stop = code.let("reports", add(const(len(pairs), _U32), doubt))
        code.emit(ir.Loop(number, const(0, _U32), stop, const(1, _U32), tuple(body)))

    def _tell(self, words: Sequence[ir.Expr]) -> None:
        layout = self.frame.plan.log
        assert layout is not None
        self.code.emit(ir.Tell(self.frame.log_buffer(), layout, words[0], tuple(words[1:])))

    def _words(self, sink: Sink, index: Index) -> list[ir.Expr]:
        """The number of the kind, then the record."""
        layout, report = self.frame.plan.log, sink.report
        assert layout is not None
        indices = _own(sink, index)

        def word(value: tile.Value, own: tuple[ir.Expr, ...]) -> ir.Expr:
            return as_word(self.evaluator.at(value, aligned(value, own)))

        parts = (
            ([word(value, ()) for value in report.rounds], layout.rounds),
            ([as_word(one) for one in indices], layout.rank),
            ([word(value, indices) for value in report.values], layout.values),
        )
        zero = const(0, _U32)
        padded = [one for part, size in parts for one in [*part, *[zero] * (size - len(part))]]
        kind, site = const(layout.kinds.index(report.kind), _U32), const(layout.paths.index(report.path), _U32)
        return [kind, site, as_word(self.frame.block_number), *padded]


def _op(op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op(op, (left, right), DType.I32)


def _both(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op("and", (left, right), DType.BOOL)


def _own(sink: Sink, index: Index) -> tuple[ir.Expr, ...]:
    return tuple(index[role] for role in sink.roles)
