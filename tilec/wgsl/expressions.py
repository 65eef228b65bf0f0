"""Prints expressions of the loop IR, with as few parentheses as WGSL's grammar allows.

WGSL gives some pairs of operators no precedence at all (`a & b | c`, `a && b || c`, `a << b + c` are errors), so the
levels here are those of its grammar and not those of C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from tilec.loop.ir import (
    Bits,
    Builtin,
    Component,
    Const,
    Expr,
    Load,
    Local,
    Op,
    Select,
    SharedLoad,
    Shuffle,
    SubgroupReduce,
    Uniform,
    UniformLoad,
    Vector,
    operands_of,
)
from tilec.ops import POINTWISE, Call, Infix
from tilec.types import DType
from tilec.wgsl.literals import FROM_BITS, is_plain, literal

HIDDEN = "hidden"
"""The helper function that gives a float with the bits of a literal."""

DEEPEST = 40
"""Deeper expressions are cut by a `let`: Tint refuses depth 512 and 127 parentheses, naga overflows its stack later."""


class Level(IntEnum):
    """How tightly an expression's text holds together."""

    BITS_XOR = 0
    BITS_OR = 1
    BITS_AND = 2
    OR = 3
    AND = 4
    RELATION = 5
    SHIFT = 6
    SUM = 7
    PRODUCT = 8
    UNARY = 9
    PRIMARY = 10


# Of an infix operator: its own level, and the least levels of its left and right operand.
_INFIX: dict[str, tuple[Level, Level, Level]] = {
    "*": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),
    "/": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),
    "%": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),
    "+": (Level.SUM, Level.SUM, Level.PRODUCT),
    "-": (Level.SUM, Level.SUM, Level.PRODUCT),
    "<<": (Level.SHIFT, Level.UNARY, Level.UNARY),
    ">>": (Level.SHIFT, Level.UNARY, Level.UNARY),
    # The grammar takes shifts here, but `a < b >> c` would be read as the template `a<b>`.
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), (Level.RELATION, Level.SUM, Level.SUM)),
    "&&": (Level.AND, Level.AND, Level.RELATION),
    "||": (Level.OR, Level.OR, Level.RELATION),
    "&": (Level.BITS_AND, Level.UNARY, Level.UNARY),
    "|": (Level.BITS_OR, Level.UNARY, Level.UNARY),
    "^": (Level.BITS_XOR, Level.UNARY, Level.UNARY),
}
# Operators that may be chained without parentheses on the left although their operands must be tighter.
_CHAINS = {"&": Level.BITS_AND, "|": Level.BITS_OR, "^": Level.BITS_XOR, "&&": Level.AND, "||": Level.OR}
_BIT_SYMBOLS = {"and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_SUBGROUP = {"or": "subgroupOr", "max": "subgroupMax"}
_LEAVES = (Const, Local, Uniform, Builtin)

_Piece = tuple[str, Level]


def type_name(dtype: DType, width: int = 1) -> str:
    """The WGSL type of a compute type, a vec4 of it if `width` is 4."""
    return dtype.label if width == 1 else f"vec{width}<{dtype.label}>"


class ExpressionPrinter:
    """Prints for one function.

    `name_of` gives the text of a local, a uniform field's access, a built-in value, a buffer or a shared array;
    `hoist(hint, text)` writes a `let` before the statement in hand and returns its name; `use_helper` notes a helper
    function and returns its name. `guarded` are literals that the shader compiler must not see, by the `id` of their
    operation; `zero` is the text of a u32 that is 0 when the shader runs, which no compiler knows.
    """

    def __init__(
        self,
        name_of: Callable[[object], str],
        hoist: Callable[[str, str], str],
        use_helper: Callable[[str], str],
        guarded: Mapping[int, tuple[Const, ...]],
        zero: str,
    ) -> None:
        self._guarded = guarded
        self._zero = zero
        self._name_of = name_of
        self._hoist = hoist
        self._use_helper = use_helper
        self._pieces: dict[int, _Piece] = {}

    def text(self, expression: Expr) -> str:
        """The whole expression as a statement holds it. Parts that are too deep or shared become `let`s before."""
        return self._print(expression)[0]

    def operand(self, expression: Expr, least: Level) -> str:
        """The expression with parentheses where it is looser than `least`."""
        return _parenthesised(self._print(expression), least)

    def _print(self, root: Expr) -> _Piece:
        # Bottom up with a stack of its own: an expression may be deeper than Python's recursion limit.
        uses, order = in_order(root)
        depths: dict[int, int] = {}
        self._pieces = {}
        for node in order:
            for constant in self._guarded.get(id(node), ()):
                text = f"{self._use_helper(HIDDEN)}({literal(constant.dtype, constant.value)}, {self._zero})"
                self._pieces[id(constant)] = text, Level.PRIMARY
            depth = 1 + max((depths[id(child)] for child in operands_of(node)), default=0)
            piece = self._piece(node)
            is_leaf = isinstance(node, _LEAVES)
            if node is not root and not is_leaf and (depth > DEEPEST or uses[id(node)] > 1):
                piece = self._hoist("part", piece[0]), Level.PRIMARY
                depth = 1
            depths[id(node)] = depth
            self._pieces[id(node)] = piece
        return self._pieces[id(root)]

    def _piece(self, node: Expr) -> _Piece:
        match node:
            case Const():
                return self._constant(node)
            case Local() | Builtin():
                return self._name_of(node), Level.PRIMARY
            case Uniform():
                text = self._name_of(node.field)
                return (f"{text} != 0u", Level.RELATION) if node.dtype is DType.BOOL else (text, Level.PRIMARY)
            case Op():
                return self._operation(node)
            case Bits():
                return self._bits(node)
            case Select():
                return self._call("select", (node.other, node.chosen, node.condition))
            case Component():
                return f"{self._of(node.vector, Level.PRIMARY)}.{'xyzw'[node.index]}", Level.PRIMARY
            case Vector():
                return self._call(type_name(node.dtype, 4), node.components)
            case _:
                return self._access(node)

    def _access(self, node: Expr) -> _Piece:
        """What comes from memory or from another thread."""
        match node:
            case Load():
                return f"{self._name_of(node.buffer)}[{self._index(node.index)}]", Level.PRIMARY
            case SharedLoad():
                return f"{self._name_of(node.array)}[{self._index(node.index, node.array.length)}]", Level.PRIMARY
            case UniformLoad():
                return f"workgroupUniformLoad(&{self._name_of(node.array)}[0])", Level.PRIMARY
            case Shuffle():
                return f"subgroupShuffleXor({self._of(node.value, Level.BITS_XOR)}, {node.mask}u)", Level.PRIMARY
            case SubgroupReduce():
                return f"{_SUBGROUP[node.op]}({self._of(node.value, Level.BITS_XOR)})", Level.PRIMARY
        raise AssertionError(f"no text for {node!r}")

    def _constant(self, node: Const) -> _Piece:
        if not is_plain(node.dtype, node.value):
            # The literal is a call of this helper.
            self._use_helper(FROM_BITS)
        return literal(node.dtype, node.value), Level.UNARY  # it may have a sign

    def index_text(self, expression: Expr, length: int | None = None) -> str:
        """The text of a statement's own index into an array of `length` elements."""
        self._print(expression)
        return self._index(expression, length)

    def _index(self, expression: Expr, length: int | None = None) -> str:
        # The shader compilers refuse a constant index outside, even in code that never runs.
        text = self._of(expression, Level.BITS_XOR)
        is_outside = isinstance(expression, Const) and (
            expression.value < 0 or (length is not None and expression.value >= length)
        )
        return self._hoist("index", text) if is_outside else text

    def _of(self, child: Expr, least: Level) -> str:
        return _parenthesised(self._pieces[id(child)], least)

    def _hidden(self, operands: tuple[Expr, ...], is_shift_or_division: bool) -> None:
        """Hides constants from the shader compiler where its own arithmetic could meet an error in them.

        WGSL refuses constant expressions that overflow, and a constant divisor 0 or a constant shift beyond 31 also
        beside a run-time operand; a value of a `let` is no constant expression.
        """
        constants = [operand for operand in operands if isinstance(operand, Const)]
        if len(constants) < len(operands):
            last = operands[-1]
            is_risky = isinstance(last, Const) and last.dtype is not DType.F32 and not 0 < last.value < 32
            constants = [last] if is_shift_or_division and is_risky and isinstance(last, Const) else []
        for constant in constants:
            text, _ = self._pieces[id(constant)]
            if is_plain(constant.dtype, constant.value):
                self._pieces[id(constant)] = self._hoist("constant", text), Level.PRIMARY

    def _operation(self, node: Op) -> _Piece:
        row = POINTWISE[node.op]
        key = node.operands[1].dtype if row.rule == "where" else node.operands[0].dtype
        form = row.wgsl[key]
        if isinstance(form, Infix):
            self._hidden(node.operands, form.symbol in ("/", "%"))
            return self._infix(form.symbol, node.operands)
        if isinstance(form, Call):
            self._hidden(node.operands, False)
            return self._call(form.function, node.operands)
        return self._call(self._use_helper(form.name), node.operands)

    def _infix(self, symbol: str, operands: tuple[Expr, ...]) -> _Piece:
        if len(operands) == 1:
            text = self._of(operands[0], Level.UNARY)
            # `--x` is one token, reserved.
            return f"{symbol}({text})" if text.startswith("-") else f"{symbol}{text}", Level.UNARY
        own, left_least, right_least = _INFIX[symbol]
        left = self._pieces[id(operands[0])]
        is_chain = symbol in _CHAINS and left[1] == _CHAINS[symbol]
        left_text = left[0] if is_chain else _parenthesised(left, max(left_least, _tight(symbol)))
        return f"{left_text} {symbol} {self._of(operands[1], right_least)}", own

    def _bits(self, node: Bits) -> _Piece:
        if node.op == "bitcast":
            self._hidden(node.operands, False)
            return self._call(f"bitcast<{node.dtype.label}>", node.operands)
        if node.op.startswith("helper:"):
            return self._call(self._use_helper(node.op.removeprefix("helper:")), node.operands)
        symbol = _BIT_SYMBOLS[node.op]
        is_shift = node.op in ("shl", "shr")
        self._hidden(node.operands, is_shift)
        if is_shift and node.operands[1].dtype is not DType.U32:
            amount = f"u32({self._of(node.operands[1], Level.BITS_XOR)})"
            return f"{self._of(node.operands[0], Level.UNARY)} {symbol} {amount}", Level.SHIFT
        return self._infix(symbol, node.operands)

    def _call(self, function: str, operands: tuple[Expr, ...]) -> _Piece:
        return f"{function}({', '.join(self._argument(operand, len(operands)) for operand in operands)})", Level.PRIMARY

    def _argument(self, operand: Expr, count: int) -> str:
        text, level = self._pieces[id(operand)]
        # `f(a < b, c > d)` would be read as the template `a<b, c>`.
        return f"({text})" if count > 1 and Level.OR <= level <= Level.SHIFT else text


def _tight(symbol: str) -> Level:
    """The least level of a left operand that is no chain of the same operator."""
    return Level.RELATION if symbol in ("&&", "||") else Level.BITS_XOR


def _parenthesised(piece: _Piece, least: Level) -> str:
    text, level = piece
    return f"({text})" if level < least else text


def in_order(root: Expr) -> tuple[dict[int, int], list[Expr]]:
    """How often each node is an operand, and the nodes, operands first, each once."""
    uses: dict[int, int] = {id(root): 1}
    order: list[Expr] = []
    entered: set[int] = set()
    done: set[int] = set()
    stack: list[Expr] = [root]
    while stack:
        node = stack[-1]
        if id(node) not in entered:
            entered.add(id(node))
            for child in reversed(operands_of(node)):
                uses[id(child)] = uses.get(id(child), 0) + 1
                if id(child) not in entered:
                    stack.append(child)
            continue
        stack.pop()
        if id(node) not in done:
            done.add(id(node))
            order.append(node)
    return uses, order
