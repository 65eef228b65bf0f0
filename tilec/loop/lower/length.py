"""How long the text of what is lowered will be at least, so that a kernel whose text is too long is refused as soon as
that is certain, and not after all of it was lowered and written.

What is counted is never more than what `tilec.wgsl.emit` writes: a text within the limit is never refused here.
"""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import LimitReached
from tilec.loop import ir
from tilec.loop.limits import LONGEST_TEXT
from tilec.tile import ir as tile
from tilec.types import DType

_INDENT = 2
_LONGEST_NAME = 59
_LITERALS = {DType.F32: 3, DType.U32: 2, DType.BOOL: 4}
_AROUND = {"u32": len("u32()"), "i32": len("i32()"), "f32": len("f32()"), "bitcast": len("bitcast<u32>()")}
"""Characters around the operand of some operations of one; the sign of a negation is the least."""
_OPERATOR, _SHARED = 3, 2
"""Characters beside an infix operator's operands, and of an operand that is written elsewhere in the statement."""
_DEEPEST = 6


def name_length(hint: str) -> int:
    """How long `tilec.wgsl.names.sanitise` leaves a name, at least."""
    is_plain = hint.isascii() and hint.isidentifier() and "__" not in hint and not hint.endswith("_")
    length = len(hint) if is_plain else sum(each.isascii() and each.isalnum() for each in hint)
    return max(1, min(length, _LONGEST_NAME))


class Length:
    """Of one program: all its dispatches go into one text."""

    def __init__(self, kernel: tile.Kernel) -> None:
        self._kernel = kernel
        self._names: dict[str, int] = {}
        self.characters = 0

    def name(self, hint: str) -> int:
        """Characters of the name that something gets, without a number."""
        if hint not in self._names:
            self._names[hint] = name_length(hint)
        return self._names[hint]

    def add(self, characters: int) -> None:
        """Raises LimitReached where the text is longer than any may be."""
        self.characters += characters
        if self.characters > LONGEST_TEXT:
            raise LimitReached(
                catalog.TEXT_TOO_LARGE, self._kernel.span, name=self._kernel.name, limit=f"{LONGEST_TEXT:,}"
            )


class FunctionLength:
    """Of the function of one dispatch: what its statements add."""

    def __init__(self, total: Length) -> None:
        self._total = total
        self._names: dict[int, int] = {}
        self._uses: dict[str, int] = {}
        self._seen: set[int] = set()

    def define(self, local: ir.Local) -> None:
        """The local gets its name: its hint, with a number from the second of that hint on."""
        uses = self._uses.get(local.hint, 0)
        self._uses[local.hint] = uses + 1
        self._names[local.number] = self._total.name(local.hint) + (1 + len(str(uses)) if uses else 0)

    def add(self, statement: ir.Statement, depth: int) -> None:
        """A statement in `depth` blocks of the function; what it holds has been added."""
        self._seen = set()
        self._total.add(self._statement(statement, _INDENT * (depth + 1)))

    def _statement(self, statement: ir.Statement, indent: int) -> int:
        match statement:
            case ir.Let(local, value):
                return indent + len("let  = ;\n") + self._of(local) + self._of(value)
            case ir.Declare(local, initial):
                return indent + len("var : f32 = ;\n") + self._of(local) + self._of(initial)
            case ir.Assign(local, value):
                return indent + len(" = ;\n") + self._of(local) + self._of(value)
            case ir.StoreElement(place, index, value) | ir.SharedStore(place, index, value):
                return indent + len("[] = ;\n") + self._total.name(place.name) + self._of(index) + self._of(value)
            case ir.If(condition):
                return 2 * indent + len("if () {\n}\n") + self._of(condition)
            case ir.Loop():
                return 2 * indent + len("for (var i: i32 = a; i < b; i += c) {\n}\n")
            case ir.While():
                return 4 * indent + len("for (var i = 0u; i < 1u; i += 1u) {\nif (!a) {\nbreak;\n}\n}\n")
            case ir.Tell(record=record):
                return indent + len("t(k);\n") + sum(len(", ") + self._of(word) for word in record)
        return 0  # a barrier may become one with the next

    def _of(self, value: ir.Expr, depth: int = _DEEPEST) -> int:
        match value:
            case ir.Local():
                return self._names.get(value.number, 1)
            case ir.Const():
                return _LITERALS.get(value.dtype, 1)
            case ir.Uniform():
                return len("params.") + self._total.name(value.field.name)
            case ir.Builtin():
                return len(value.name)
        if depth == 0 or id(value) in self._seen:
            return _SHARED
        self._seen.add(id(value))
        return self._around(value) + sum(self._of(operand, depth - 1) for operand in ir.operands_of(value))

    def _around(self, value: ir.Expr) -> int:
        """What an expression adds to its operands."""
        match value:
            case ir.Op(op, (_,), _) | ir.Bits(op, (_,), _):
                return _AROUND.get(op, 1)
            case ir.Op(_, operands, _) | ir.Bits(_, operands, _):
                return _OPERATOR * (len(operands) - 1)
            case ir.Select():
                return len("select(, , )")
            case ir.Load(place) | ir.SharedLoad(place):
                return len("[]") + self._total.name(place.name)
            case ir.UniformLoad(array):
                return len("workgroupUniformLoad(&[0])") + self._total.name(array.name)
            case ir.Shuffle():
                return len("subgroupShuffleXor(, 1u)")
            case ir.Component():
                return len(".x")
            case ir.Vector():
                return len("vec4<f32>(, , , )")
        return 1
