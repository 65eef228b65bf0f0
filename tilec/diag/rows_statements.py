"""Rows E01: statements, declarations, what may stand where."""

from tilec.diag.row import Row

_RIGHT = """
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}"""

POSITIONAL_AFTER_NAMED = Row(
    "E0120",
    message="a positional argument follows a named one",
    label="this one has no name",
    hint="put the named arguments last",
    explanation="""
Positional arguments come first, then those that are given by name.""",
    wrong="""
fn f(x, a = 1.0) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(a: 2.0, A[:])
}""",
    right="""
fn f(x, a = 1.0) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:], a: 2.0)
}""",
)

MISSING_DIMS = Row(
    "E0121",
    message="`{text}` needs its dims",
    label="dims are missing",
    hint="write `{text}[M, V]`, with a name or a number for each axis",
    explanation="""
A tensor's or tile's type names its dims: `tensor<f32>[M, 512]`.""",
    wrong="""
kernel k(A: tensor<f32>) {
  A[0] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[0] = 0.0
}""",
)

MISSING_ELEMENT = Row(
    "E0122",
    message="`{text}` needs an element type",
    label="element type is missing",
    hint="write `{text}<f32>[M, V]`",
    explanation="""
A tensor's or tile's type names what it holds: `tensor<f32>[M, 512]`, `tile<i32>[8, 1]`.""",
    wrong="""
kernel k(A: tensor[M]) {
  A[0] = 0.0
}""",
    right=_RIGHT,
)

STRING_MISUSE = Row(
    "E0123",
    message="a string cannot stand here",
    label="not a value",
    hint="strings are the messages of `require` and `assert` and the paths of `import`",
    explanation="""
Strings are no values: they occur as the message of `require` and `assert`, and as the path of an `import`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = "zero"
}""",
    right=_RIGHT,
)

RETURN_NOT_LAST = Row(
    "E0124",
    message="`return` with a value must be the last statement of its function",
    label="statements follow, or this is inside a block",
    hint="choose with `where(condition, a, b)`, or assign to a `var` and return it at the end",
    explanation="""
An expression function has one `return`, at its end. A choice before it is made with `where` or with a `var`.""",
    wrong="""
fn f(x, n) {
  if n > 0 {
    return x
  }
  return -x
}

kernel k(A: tensor<f32>[M], n: i32) {
  A[:] = f(1.0, n)
}""",
    right="""
fn f(x, n) {
  return where(n > 0, x, -x)
}

kernel k(A: tensor<f32>[M], n: i32) {
  A[:] = f(1.0, n)
}""",
)

RETURN_WITHOUT_VALUE = Row(
    "E0125",
    message="`return` without a value in a function that returns one",
    label="no value here",
    hint="make the rest of the body the branch of an `if`",
    explanation="""
A function that ends in `return value` always runs to its end.""",
    wrong="""
fn f(x, n) {
  if n > 0 {
    return
  }
  return -x
}

kernel k(A: tensor<f32>[M], n: i32) {
  A[:] = f(1.0, n)
}""",
    right="""
fn f(x, n) {
  return where(n > 0, x, -x)
}

kernel k(A: tensor<f32>[M], n: i32) {
  A[:] = f(1.0, n)
}""",
)

RETURN_IN_KERNEL = Row(
    "E0126",
    message="a kernel returns no value",
    label="value of a kernel",
    hint="store it: `Out[...] = {text}`",
    explanation="""
A kernel leaves its results in tensors; `return` alone ends it early.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  return 1.0
}""",
    right=_RIGHT,
)

OUTSIDE_LOOP = Row(
    "E0127",
    message="`{keyword}` outside a loop",
    label="no `for` or `while` around it",
    hint=None,
    explanation="""
`break` ends the innermost loop and `continue` its round; both stand inside a `for` or a `while` of the same
function.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  break
}""",
    right=_RIGHT,
)

EMPTY_SUBSCRIPT = Row(
    "E0128",
    message="empty subscripts",
    label="one part for each axis belongs here",
    hint="`[:]` takes the whole of one axis",
    explanation="""
A subscript has one part for each axis: `:`, `s :+ n`, `s : e`, or a point.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[] = 0.0
}""",
    right=_RIGHT,
)

FOR_NEEDS_RANGE = Row(
    "E0129",
    message="`for` runs over `range(...)`, not over `{text}`",
    label="not a range",
    hint="write `range(start, stop)` or `range(start, stop, step)`",
    explanation="""
The only thing to loop over is `range(start, stop[, step])`; `range` occurs nowhere else.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  for i in M {
    A[i] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  for i in range(0, M) {
    A[i] = 0.0
  }
}""",
)

RANGE_MISUSE = Row(
    "E0130",
    message="`range` {problem}",
    label="",
    hint="`for i in range(start, stop)` or `range(start, stop, step)`",
    explanation="""
`range` takes a start, a stop and perhaps a step, by position, and occurs only in `for ... in`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  for i in range(M) {
    A[i] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  for i in range(0, M) {
    A[i] = 0.0
  }
}""",
)

ATTRIBUTE_ON_NOTHING = Row(
    "E0131",
    message="`@{name}` must stand before a kernel",
    label="no kernel follows",
    hint=None,
    explanation="""
Attributes belong to the kernel that follows them.""",
    wrong="""
@threads(64)
fn f(x) = x

kernel k(A: tensor<f32>[M]) {
  A[:] = f(0.0)
}""",
    right="""
fn f(x) = x

@threads(64)
kernel k(A: tensor<f32>[M]) {
  A[:] = f(0.0)
}""",
)

PARAMETER_NEEDS_TYPE = Row(
    "E0132",
    message="the kernel parameter `{name}` has no type",
    label="a type is needed",
    hint="write `{name}: tensor<f32>[M, V]` or `{name}: f32`",
    explanation="""
A kernel is called from outside, and says what it takes. Only a function's parameters may leave their types out.""",
    wrong="""
kernel k(A: tensor<f32>[M], scale) {
  A[:] = scale
}""",
    right="""
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = scale
}""",
)

NEEDS_MESSAGE = Row(
    "E0133",
    message="`{keyword}` needs a message",
    label="after the condition",
    hint='write `{keyword} condition, "what is wrong"`',
    explanation="""
`require` and `assert` say in words what is wrong when their condition is false.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  require M > 0
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  require M > 0, "no elements"
  A[:] = 0.0
}""",
)

FILL_ON_PLACE = Row(
    "E0134",
    message="a place has no `else`",
    label="nothing is read here",
    hint="remove it: what is stored outside a tensor is dropped",
    explanation="""
`else` gives a value to what is read outside a tensor. A store outside does nothing.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[0 :+ 8] else 0.0 = 1.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[0 :+ 8] = 1.0
}""",
)

NEEDS_BLOCK = Row(
    "E0135",
    message="`{keyword}` needs a block, and {found} follows",
    label="a block begins with `{{`",
    hint="write `{{ ... }}` around the statements",
    explanation="""
The bodies of `if`, `else`, `for`, `while`, `fn` and `kernel` stand in braces, also a single statement.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0
    A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0 {
    A[:] = 0.0
  }
}""",
)

ELSE_WITHOUT_IF = Row(
    "E0136",
    message="`else` without an `if` before it",
    label="nothing to choose from",
    hint=None,
    explanation="""
`else` follows the `}` of an `if`, on the same line or the next.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  else {
    A[:] = 1.0
  }
}""",
    right=_RIGHT,
)

CONST_TENSOR = Row(
    "E0137",
    message="`const` cannot stand before `{name}`, a {kind}",
    label="only scalar parameters are `const`",
    hint=None,
    explanation="""
A `const` parameter is a number that is fixed when the kernel is compiled, so that no function can assign it.""",
    wrong="""
kernel k(const A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right=_RIGHT,
)

BLOCK_COMMENT = Row(
    "E0138",
    message="`/*` does not begin a comment",
    label="",
    hint="comments are `// ...` to the end of the line",
    explanation="""
Comments begin with `//` and end with their line.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0 /* clear */
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0 // clear
}""",
)
