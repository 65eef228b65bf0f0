"""Rows E01: words, brackets, lines, expressions."""

from tilec.diag.row import Row

_RIGHT = """
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}"""

UNEXPECTED_TOKEN = Row(
    "E0101",
    message="expected {expected}, found {found}",
    label="expected {expected}",
    hint=None,
    explanation="""
The text does not follow the grammar at this place. The message says what may stand here.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let = 1.0
  A[:] = 0.0
}""",
    right=_RIGHT,
)

BAD_CHARACTER = Row(
    "E0102",
    message="{character} is not part of the language",
    label="",
    hint=None,
    explanation="""
Outside comments and strings only ASCII letters, digits, `_` and the operators of the language occur. Typographic
quotes, dashes and spaces often come from a copy out of a document.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 2.0 § 3.0
}""",
    right=_RIGHT,
)

UNCLOSED_STRING = Row(
    "E0103",
    message="the string does not end on its line",
    label="opened here",
    hint='close it with `"`',
    explanation="""
A string ends on the line on which it begins.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  require M > 0, "no element
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  require M > 0, "no element"
  A[:] = 0.0
}""",
)

NUMBER_NEEDS_DIGIT = Row(
    "E0104",
    message="a number needs a digit on both sides of its point",
    label="`{text}`",
    hint="write `{fixed}`",
    explanation="""
`.5` is written `0.5`, and `1.` is written `1.0`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = .5
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.5
}""",
)

BAD_NUMBER = Row(
    "E0105",
    message="`{text}` is not a number",
    label="",
    hint=None,
    explanation="""
Numbers are `12`, `0x1f`, `1_000`, `1.0`, `1e-6`. They carry no type suffix: convert with `u32(1)`, or write `1.0`
for a float. A name cannot begin with a digit.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0f
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0
}""",
)

UNCLOSED_BRACKET = Row(
    "E0106",
    message="`{bracket}` is never closed",
    label="opened here",
    hint="close it with `{closing}`",
    explanation="""
A bracket was opened and not closed before the next statement, the next item, another closing bracket or the end of
the file.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let a = max(A[:], 0.0
  A[:] = a
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let a = max(A[:], 0.0)
  A[:] = a
}""",
)

UNMATCHED_BRACKET = Row(
    "E0107",
    message="`{bracket}` closes nothing",
    label="no bracket is open here",
    hint="remove it, or open one before",
    explanation="""
A closing bracket stands where none of its kind is open.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = max(1.0, 0.0))
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = max(1.0, 0.0)
}""",
)

KEYWORD_AS_NAME = Row(
    "E0108",
    message="`{keyword}` is a keyword and cannot be a name",
    label="a name is needed here",
    hint="call it `{keyword}_`",
    explanation="""
Keywords are reserved everywhere: `kernel fn let var const import if else for in while return break continue true
false require assert print new`. Words that only other languages reserve (`target`, `out`, `filter`) are legal
names.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let new = A[:]
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let new_ = A[:]
  A[:] = new_
}""",
)

BRACE_ALONE = Row(
    "E0109",
    message="`{{` stands at the start of its line",
    label="the line before has ended its statement",
    hint="put `{{` at the end of the line before",
    explanation="""
A statement ends at its newline, so that the `{` of a block stands on the line of its `if`, `for`, `fn` or `kernel`.""",
    wrong="""
kernel k(A: tensor<f32>[M])
{
  A[:] = 0.0
}""",
    right=_RIGHT,
)

OPERATOR_AT_LINE_START = Row(
    "E0110",
    message="a line cannot start with `{operator}`",
    label="the line before has ended its statement",
    hint="put `{operator}` at the end of the line before, or the whole expression in parentheses",
    explanation="""
A newline ends a statement, except inside brackets and after an operator, a comma, `=` or `{`. An expression that
goes on on the next line therefore ends its line with the operator.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0
    + 2.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0 +
    2.0
}""",
)

COMPARISON_CHAIN = Row(
    "E0111",
    message="comparisons do not chain",
    label="the second comparison",
    hint="write `{fix}`",
    explanation="""
`a < b < c` would compare a truth value with `c`. Join two comparisons with `&&`, or use parentheses.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = where(0.0 < 1.0 < 2.0, 1.0, 0.0)
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = where(0.0 < 1.0 && 1.0 < 2.0, 1.0, 0.0)
}""",
)

EXPRESSION_STATEMENT = Row(
    "E0112",
    message="an expression alone is not a statement",
    label="its value would be lost",
    hint="name it, `let y = {text}`, or store it",
    explanation="""
Only calls of statement functions stand alone. A value is named, stored or passed on.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  1.0 + 2.0
  A[:] = 0.0
}""",
    right=_RIGHT,
)

STATEMENT_OUTSIDE = Row(
    "E0113",
    message="{what} stands outside a kernel and a function",
    label="only `kernel`, `fn`, `const` and `import` stand here",
    hint="a value for the whole file is a `const`; a `}}` too many above also leads here",
    explanation="""
A file consists of `kernel`, `fn`, `const` and `import`. Statements stand in bodies.""",
    wrong="""
let scale = 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
const scale = 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = scale
}""",
)

ITEM_INSIDE = Row(
    "E0114",
    message="`{keyword}` stands inside a body",
    label="allowed only at file level",
    hint="move it out; a missing `}}` above also leads here",
    explanation="""
`kernel`, `fn`, `const` and `import` stand at file level. Inside a body a constant is a `let`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  const two = 2.0
  A[:] = 0.0
}""",
    right="""
const two = 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = two
}""",
)

ASSIGNMENT_IN_EXPRESSION = Row(
    "E0115",
    message="`=` inside an expression",
    label="this does not compare",
    hint="`==` compares; a named argument is `name: value`",
    explanation="""
`=` defines or assigns and is a statement. Equality is `==`. A named argument of a call is written `f(x, beta:
0.5)`.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n = 1 {
    A[:] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n == 1 {
    A[:] = 0.0
  }
}""",
)

BAD_PLACE = Row(
    "E0116",
    message="`{text}` cannot be assigned",
    label="not a place",
    hint="a place is a name or a name with subscripts: `x`, `A[r :+ 8, :]`",
    explanation="""
What stands left of `=` is a `var`, an out parameter or a span of a tensor.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  exp(A[:]) = 1.0
}""",
    right=_RIGHT,
)

FOREIGN_OPERATOR = Row(
    "E0117",
    message="`{operator}` is not an operator of the language",
    label="",
    hint="{fix}",
    explanation="""
The operators are `|| && == != < <= > >= + - * / % !`, and `= += -= *= /=` in statements.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 2.0 ** 3.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = pow(2.0, 3.0)
}""",
)

FOREIGN_WORD = Row(
    "E0118",
    message="`{word}` is not a word of the language",
    label="",
    hint="write {fix}",
    explanation="""
Words of other languages: `elif` is `else if`, `and`, `or` and `not` are `&&`, `||` and `!`, `def` and `function`
are `fn`, `True` and `False` are `true` and `false`.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0 and n < 5 {
    A[:] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0 && n < 5 {
    A[:] = 0.0
  }
}""",
)

MISSING_SEPARATOR = Row(
    "E0119",
    message="the statement before {found} has not ended",
    label="a new statement begins here",
    hint="start a new line, or put `;` between them",
    explanation="""
A statement ends at a newline or at `;`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let a = 1.0 let b = 2.0
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let a = 1.0; let b = 2.0
  A[:] = a + b
}""",
)

METHOD_CALL = Row(
    "E0139",
    message="{what}: `{call}(...)`",
    label="called with a point",
    hint=None,
    explanation="""
Functions are called by their names alone, with the value as an argument: `exp(x)`, not `np.exp(x)`, and `rowsum(x)`,
not `x.sum(1)`. Only `ctx.block.x` has points.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[1]) {
  let a = A[:]
  B[0] = a.sum()
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[1]) {
  let a = A[:]
  B[0] = sum(a)
}""",
)
