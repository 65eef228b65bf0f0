"""Habits of other languages: what NumPy, PyTorch, Triton, C and CUDA write, and how it is written here.

The tables give hints for names that are not known; the rules recognise forms that the grammar refuses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.source import Source, Span
from tilec.syntax.words import describe

if TYPE_CHECKING:
    from tilec.syntax.diagnose import Fault

MODULES = frozenset({"F", "cp", "jax", "jnp", "lax", "math", "nn", "np", "numpy", "std", "tl", "torch", "triton"})
"""Names before a point that are modules elsewhere."""

_FILLED = "a number stretches to any shape, `0.0`; a variable of a shape is `var x: tile<f32>[8, 1] = 0.0`"
_AXES = "`new` in a subscript adds an axis of extent 1, `t[:, new]`; a reduction keeps its axis"

FUNCTIONS = {
    **dict.fromkeys(("zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "empty", "empty_like"), _FILLED),
    **dict.fromkeys(("reshape", "view", "squeeze", "unsqueeze", "expand", "expand_dims", "broadcast_to"), _AXES),
    **dict.fromkeys(("float", "float32", "double"), "write `f32(...)`"),
    **dict.fromkeys(("int", "int32", "long", "uint"), "write `i32(...)`"),
    **dict.fromkeys(("half", "float16"), "arithmetic is in f32; `f16(x)` rounds a value to f16 and back"),
    **dict.fromkeys(("len", "size", "shape"), "the length of an axis is `extent(x, axis)`, or the dim by its name"),
    **dict.fromkeys(("arange", "linspace"), "write `iota(axis)`, which counts along an axis of what it meets"),
    **dict.fromkeys(("matmul", "mm", "bmm", "einsum", "inner"), "matrix products are a later step"),
    **dict.fromkeys(("gather", "take", "take_along_axis", "index_select"), "each row's element at t is `pick(x, t)`"),
    "load": "a tensor is read with a subscript: `A[r :+ 8, :]`",
    "store": "a tensor is written with a subscript: `A[r :+ 8, :] = x`",
    "maximum": "write `max(x, y)`",
    "minimum": "write `min(x, y)`",
    "power": "write `pow(x, y)`",
    "absolute": "write `abs(x)`",
    "fabs": "write `abs(x)`",
    "fmax": "write `max(x, y)`",
    "fmin": "write `min(x, y)`",
    "one_hot": "write `onehot(t, n)`",
    "cdiv": "write `ceildiv(a, b)`",
    "not": "write `!` before the condition",
    "array": "a tile is read from a tensor or computed; there are no list literals",
    "tensor": "a tile is read from a tensor or computed; there are no list literals",
    "__syncthreads": "barriers are the compiler's: statements of a block happen in order",
    "syncthreads": "barriers are the compiler's: statements of a block happen in order",
}
"""Of functions of other languages, what to write."""

_INDEX = "a block's number is `ctx.block.x`; what its threads do is the compiler's"
NAMES = {
    "True": "write `true`",
    "False": "write `false`",
    "None": "an axis of extent 1 is `new`, in a subscript; there is no empty value",
    "null": "there is no empty value",
    "newaxis": "write `new`",
    **dict.fromkeys(("threadIdx", "blockIdx", "blockDim", "gridDim"), _INDEX),
    **dict.fromkeys(sorted(MODULES), "functions have no module in front: `exp(x)`"),
}
"""Of names of other languages, what to write."""

COUNTERS: dict[str, str] = dict.fromkeys(
    ("i", "j", "idx", "tid", "pid", "row"), "the number of a block is `ctx.block.x`, a counter is that of a `for`"
)
"""Of names that kernels of other languages have for where they are."""

TYPES = {
    **dict.fromkeys(("float", "float32", "double", "float64", "fp32"), "write `f32`"),
    **dict.fromkeys(("int", "int32", "long"), "write `i32`"),
    **dict.fromkeys(("half", "float16", "fp16"), "write `f16`"),
    **dict.fromkeys(("uint", "uint32", "unsigned"), "write `u32`"),
    "bfloat16": "write `bf16`",
    "int64": "write `i64`, of a tensor that is read",
    "int8": "write `i8`",
    "uint8": "write `u8`",
}
"""Of element types of other languages, what to write."""

MEMBERS = {
    **dict.fromkeys(("shape", "size"), "the length of an axis is `extent(x, axis)`, or the dim by its name"),
    **dict.fromkeys(("T", "mT", "H"), "transposing is a later step"),
    "dtype": "types do not stand in expressions: `f32(x)`, `i32(x)` convert",
    "newaxis": "write `new`",
    "inf": "write `inf`",
    "nan": "write `nan`",
    "pi": "write the number, `3.14159265`",
    "thread": "threads are the compiler's: take a span for a block, `ctx.block.x * 256 :+ 256`",
    "grad": "the derivative of y by x is `grad(y, x)`",
    "data": "the name alone is the value",
}
"""Of what stands behind a point in other languages, what to write."""

_METHODS = {
    "sum": "`rowsum({x})` of each row, `sum({x})` of everything",
    "mean": "`rowmean({x})` of each row, `mean({x})` of everything",
    "max": "`rowmax({x})` of each row, `amax({x})` of everything",
    "min": "`rowmin({x})` of each row, `amin({x})` of everything",
    "argmax": "`rowargmax({x})` of each row, `argmax({x})` of everything",
    "var": "`rowvar({x})` of each row, `var({x})` of everything",
    "to": "`f32({x})`, `i32({x})` convert; a store rounds to the tensor's type",
    "astype": "`f32({x})`, `i32({x})` convert; a store rounds to the tensor's type",
    "item": "a reduction over everything is one value: `sum({x})`",
    "detach": "write `stop_grad({x})`",
    "backward": "the derivative of y by x is `grad(y, x)`",
    "clone": "a tile is a value: `let y = {x}` is enough",
    "transpose": "transposing is a later step",
    "t": "transposing is a later step",
}


def method_call(fault: Fault) -> bool:
    """`x.sum()`, `np.exp(x)`."""
    if fault.token.type != "LPAR" or fault.index < 3 or fault.tokens[fault.index - 2].type != "DOT":
        return False
    name, receiver = str(fault.tokens[fault.index - 1]), fault.tokens[fault.index - 3]
    span = Span(fault.source, receiver.start_pos or 0, fault.tokens[fault.index - 1].end_pos or 0)
    rest = _arguments(fault)
    if str(receiver) in MODULES:
        hint = FUNCTIONS.get(name) or f"functions have no module in front: `{name}({rest or '...'})`"
        fault.reporter.error(catalog.METHOD_CALL, span, hint=hint, what="there are no modules", call=span.text)
        return True
    x = str(receiver) if receiver.type == "NAME" else "x"
    if (name in _METHODS and not rest) or name in ("to", "astype"):
        hint = _METHODS[name].format(x=x)
    elif name in FUNCTIONS:
        hint = FUNCTIONS[name]
    else:
        hint = f"write `{name}({x}{f', {rest}' if rest else ''})`"
    fault.reporter.error(catalog.METHOD_CALL, span, hint=hint, what="values have no methods", call=span.text)
    return True


def _arguments(fault: Fault) -> str:
    """The text between the call's parentheses, an axis as it is named here; empty where it is not short."""
    depth, start = 0, fault.token.end_pos or 0
    for token in fault.tokens[fault.index :]:
        depth += (token.type in ("LPAR", "LSQB")) - (token.type in ("RPAR", "RSQB"))
        if depth == 0:
            text = fault.source.text[start : token.start_pos or 0].strip()
            return re.sub(r"\b(?:axis|dim)\s*=\s*", "axis: ", text) if len(text) <= 40 and "\n" not in text else ""
    return ""


def named_argument(fault: Fault) -> str | None:
    """`f(x, axis=1)`: how a named argument is written; None elsewhere."""
    name, before = fault.previous, fault.tokens[fault.index - 2] if fault.index >= 2 else None
    if name is None or before is None or name.type != "NAME" or before.type not in ("LPAR", "COMMA"):
        return None
    if not _in_call(fault):
        return None
    after = fault.tokens[fault.index + 1] if fault.index + 1 < len(fault.tokens) else None
    label = "axis" if str(name) == "dim" else str(name)
    return f"a named argument has a colon: `{label}: {after if after is not None and after.type != 'MINUS' else '...'}`"


def _in_call(fault: Fault) -> bool:
    """Whether the innermost open bracket is that of a call."""
    depth = 0
    for place_, token in reversed(list(enumerate(fault.tokens[: fault.index]))):
        depth += (token.type in ("RPAR", "RSQB")) - (token.type in ("LPAR", "LSQB"))
        if depth < 0:
            return token.type == "LPAR" and place_ > 0 and fault.tokens[place_ - 1].type in ("NAME", "VAR")
    return False


def foreign_form(fault: Fault) -> bool:
    """Forms that have a hint of their own, though the message is the general one."""
    hint = _hint(fault)
    if hint is None:
        return False
    row = catalog.UNEXPECTED_TOKEN
    return fault.report(row, fault.token, hint=hint, expected=fault.expected, found=describe(fault.token))


def _hint(fault: Fault) -> str | None:
    return _of_subscript(fault) or _of_header(fault) or _of_statement(fault)


def _of_subscript(fault: Fault) -> str | None:
    """In brackets, and what looks like a list."""
    kind, previous = fault.token.type, fault.previous
    if kind == "COLON" and previous is not None and previous.type == "COLON":
        return "a span has no stride: `a : b` and `a :+ n` take neighbours"
    if kind == "COLON" and "RSQB" in fault.accepts and _has_count(fault):
        return "`a :+ n` is a whole subscript; a comma separates subscripts: `A[r :+ 8, :]`"
    if kind == "DOT" and fault.expects_operand and "NEW" in fault.accepts:
        return "write `:` for each axis that is taken whole"
    if kind == "LSQB" and fault.expects_operand:
        return "there are no lists: a tile is read from a tensor or computed, `where(iota(1) == k, a, b)`"
    return None


def _of_header(fault: Fault) -> str | None:
    """In the lines that begin items, branches and loops."""
    kind, first, previous = fault.token.type, fault.tokens[0], fault.previous
    if kind == "COLON" and "BLOCK" in fault.accepts:
        return f"a body stands in braces: `{first} ... {{`, and `}}` behind its last line"
    if first.type == "IMPORT" and fault.index == 1:
        return 'every function of the library is in scope; a file of your own is `import "my.ph"`'
    if kind == "LPAR" and first.type == "FOR" and fault.index == 1:
        return "write `for i in range(0, n) {`"
    if kind == "BLOCK" and previous is not None and previous.type == "EQUAL":
        return "a function is `fn f(x) = value`, or `fn f(x) { ... }` without `=`"
    if first.type not in ("KERNEL", "FN"):
        return None
    if kind == "LSQB" and previous is not None and previous.type == "RSQB":
        return "the dims of a tensor stand in one bracket: `[M, V]`"
    return "a comma separates parameters" if kind == "NAME" and {"RPAR", "COMMA"} <= fault.accepts else None


def _of_statement(fault: Fault) -> str | None:
    token, first, previous = fault.token, fault.tokens[0], fault.previous
    if token.type == "COLON" and fault.index == 1 and first.type == "NAME" and "EQUAL" in _kinds(fault):
        return f"a new name is declared: `let {_line_text(fault)}`"
    if token.type == "COMMA" and first.type == "RETURN":
        return "a function has one value; further results go into parameters that it assigns"
    if previous is None:
        return None
    if token.type in ("PLUS", "MINUS") and previous.type == token.type and fault.index == 2:
        return f"write `{first} {token}= 1`"
    if first.type == "LET" and fault.index == 2 and str(previous) == "mut":
        return f"what is assigned again is a `var`: `var {token} = ...`"
    if token.type == "STRING" and str(previous) in ("f", "r", "b"):
        return "strings are not formatted: `print(x)` shows a value under its name"
    return None


def _kinds(fault: Fault) -> set[str]:
    return {token.type for token in fault.tokens[fault.index :]}


def _has_count(fault: Fault) -> bool:
    """Whether the subscript up to here holds a `:+`."""
    for token in reversed(fault.tokens[: fault.index]):
        if token.type in ("LSQB", "COMMA"):
            return False
        if token.type == "COUNT":
            return True
    return False


def _line_text(fault: Fault) -> str:
    text = fault.source.text[fault.tokens[0].start_pos or 0 : fault.tokens[-1].end_pos or 0]
    return text if len(text) <= 60 and "\n" not in text else f"{fault.tokens[0]} = ..."


_PYTHON_CHOICE = re.compile(r"(?:[^=!<>:+*/-]=(?!=)|\breturn\b)\s*(.+?)\s+if\s+(.+?)\s+else\s+(.+?)\s*(?://.*)?$")
_LONGEST_LINE = 200
"""Characters of a line in which a choice is looked for: the search may take the cube of it."""


def separator_hint(fault: Fault) -> str | None:
    """What two things that stand side by side were probably meant to be; None for two statements."""
    token, first, previous = fault.token, fault.tokens[0], fault.previous
    if token.type == "IF":
        line = fault.source.line_text(fault.source.line_column(token.start_pos or 0)[0])
        choice = _PYTHON_CHOICE.search(line) if len(line) <= _LONGEST_LINE else None
        return f"a choice between values: `where({choice[2]}, {choice[1]}, {choice[3]})`" if choice else None
    if token.type == "AT":
        return "matrix products are a later step"
    if previous is None or token.type not in ("NAME", "NUMBER") or not _is_same_line(fault):
        return None
    if str(previous) == "lambda":
        return "a function is a `fn` at file level: `fn f(x) = x`"
    after = fault.tokens[fault.index + 1].type if fault.index + 1 < len(fault.tokens) else "$END"
    if fault.index == 1 and previous.type == "NAME" and after == "EQUAL":
        return f"a new name is declared with `let` or `var`, its type behind it: `let {token} = ...`"
    if previous.type == "NUMBER" or previous.type in ("RPAR", "RSQB"):
        starts = after in ("EQUAL", "ASSIGN", "LPAR", "LSQB") and first.type != "NUMBER"
        return None if starts and previous.type != "NUMBER" else f"a product needs `*`: `{previous} * {token}`"
    if previous.type == "NAME" and fault.index > 1 and after not in ("EQUAL", "ASSIGN", "LSQB"):
        return f"a call needs parentheses, `{previous}({token})`, and a product `*`"
    return None


def _is_same_line(fault: Fault) -> bool:
    previous = fault.previous
    assert previous is not None
    return "\n" not in fault.source.text[previous.end_pos or 0 : fault.token.start_pos or 0]


_NUMBER = re.compile(r"\d[\w.]*")


def warn_of_floor_division(source: Source, start: int, end: int, reporter: Reporter) -> None:
    """`n // 2` is n and a comment: nothing else would tell."""
    text = source.text
    place = text.find("//", start, end)
    while place >= 0:
        line_start = text.rfind("\n", 0, place) + 1
        line_end = text.find("\n", place)
        line_end = line_end if line_end >= 0 else len(text)
        code, comment = text[line_start:place].rstrip(), text[place:line_end].rstrip()
        number = comment[2:].strip(" \t()")
        is_operand = code[-1:].isalnum() or code[-1:] in ("_", ")", "]")
        if code and is_operand and '"' not in code and _NUMBER.fullmatch(number):
            division = f"div(n, {number})" if number.isdecimal() else f"floor(x / {number})"
            span = Span(source, place, place + len(comment))
            reporter.warning(catalog.COMMENT_LIKE_DIVISION, span, text=comment, division=division)
        place = text.find("//", line_end, end)
