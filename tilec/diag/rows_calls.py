"""Rows E02: functions and their calls."""

from tilec.diag.row import Row

WRONG_ARITY = Row(
    "E0207",
    message="`{name}` takes {expected}, and {given} given",
    label="{label}",
    hint=None,
    explanation="""
A call is resolved by the number of its arguments. The message lists what exists, also where several functions share
the name.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = clamp(A[:], 0.0)
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = clamp(A[:], 0.0, 1.0)
}""",
)

UNKNOWN_ARGUMENT = Row(
    "E0208",
    message="`{function}` has no parameter `{name}`",
    label="not known",
    hint=None,
    explanation="""
A named argument, `f(x, beta: 0.5)`, names a parameter of the function.""",
    wrong="""
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], factr: 3.0)
}""",
    right="""
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], factor: 3.0)
}""",
)

ARGUMENT_TWICE = Row(
    "E0209",
    message="`{name}` is given twice in the call of `{function}`",
    label="the second time",
    hint=None,
    explanation="""
A parameter takes one argument: by position or by name, not both.""",
    wrong="""
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], 3.0, factor: 3.0)
}""",
    right="""
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], factor: 3.0)
}""",
)

MISSING_ARGUMENT = Row(
    "E0210",
    message="the call of `{function}` gives nothing for `{parameter}`",
    label="`{name}` is missing, and has no default",
    hint=None,
    explanation="""
Every parameter without a default needs an argument. One that follows a parameter with a default is given by name.""",
    wrong="""
fn blend(x, weight = 0.5, y) = weight * x + (1.0 - weight) * y

kernel k(A: tensor<f32>[M]) {
  A[:] = blend(A[:], weight: 0.1)
}""",
    right="""
fn blend(x, weight = 0.5, y) = weight * x + (1.0 - weight) * y

kernel k(A: tensor<f32>[M]) {
  A[:] = blend(A[:], weight: 0.1, y: 1.0)
}""",
)

OVERLAPPING_ARITY = Row(
    "E0212",
    message="two functions `{name}` both take {arity}",
    label="the second definition",
    hint="change the number of parameters or the defaults, or rename one",
    explanation="""
Functions of one name are told apart by the number of arguments alone. A default makes a function callable with
fewer: `f(x, a = 1.0)` takes one or two, and cannot stand beside `f(x)`.""",
    wrong="""
fn f(x) = x
fn f(x, a = 1.0) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:], 2.0)
}""",
    right="""
fn f(x) = x
fn f(x, a) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:], 2.0)
}""",
)

RECURSION = Row(
    "E0213",
    message="`{name}` calls itself: {cycle}",
    label="this call closes the circle",
    hint="use a `for` or `while` loop",
    explanation="""
Functions are inlined, so that a function can call itself neither directly nor through others.""",
    wrong="""
fn f(x) = g(x) + 1.0
fn g(x) = f(x) * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:])
}""",
    right="""
fn f(x) = g(x) + 1.0
fn g(x) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:])
}""",
)

OUT_NEEDS_PLACE = Row(
    "E0217",
    message="`{function}` assigns to its parameter `{parameter}`, and `{text}` is not a place",
    label="give a `var` or a tensor span",
    hint=None,
    explanation="""
A parameter that the body of a function assigns is an out parameter. Its argument is where the result goes: a `var`,
a tensor span (`Loss[r :+ 8, :]`), or the caller's own out parameter.""",
    wrong="""
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  twice(a + 1.0, a)
}""",
    right="""
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  twice(A[:], a)
}""",
)

VALUE_NOT_USED = Row(
    "E0218",
    message="the value of `{name}` is not used",
    label="`{name}` is an expression",
    hint="name it, `let y = {text}`, or store it",
    explanation="""
A call as a statement must be the call of a statement function, one that assigns an out parameter. An expression
function has a value and no effect.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  exp(A[:])
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = exp(A[:])
}""",
)

NO_VALUE = Row(
    "E0219",
    message="`{name}` is a statement and has no value",
    label="used as a value here",
    hint="call it on a line of its own: `{name}(place, ...)`",
    explanation="""
A function without `return` leaves its results in its out parameters: give it a `var` and read that.""",
    wrong="""
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  A[:] = twice(A[:], A[:])
}""",
    right="""
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  twice(A[:], A[:])
}""",
)

FUNCTION_AS_VALUE = Row(
    "E0220",
    message="`{name}` is a function, not a value",
    label="call it",
    hint="write `{name}(...)`",
    explanation="""
Functions are called, never passed on or stored.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = A[:] * exp
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = A[:] * exp(1.0)
}""",
)

VALUE_AS_FUNCTION = Row(
    "E0221",
    message="`{name}` is {what}, not a function",
    label="called here",
    hint="a product needs `*`, a subscript `[...]`",
    explanation="""
Only functions are called. `a(b + c)` of mathematics is `a * (b + c)`.""",
    wrong="""
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = scale(A[:] + 1.0)
}""",
    right="""
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = scale * (A[:] + 1.0)
}""",
)

KERNEL_CALLED = Row(
    "E0222",
    message="`{name}` is a kernel and cannot be called from a kernel or a function",
    label="called here",
    hint="put what both need into a `fn`",
    explanation="""
Kernels are started from outside. Code that several kernels share is a `fn`.""",
    wrong="""
kernel first(A: tensor<f32>[M]) {
  A[:] = 0.0
}

kernel second(A: tensor<f32>[M]) {
  first(A)
}""",
    right="""
fn clear(out) {
  out = 0.0
}

kernel first(A: tensor<f32>[M]) {
  clear(A[:])
}""",
)

WHOLE_TENSOR_MISUSE = Row(
    "E0234",
    message="`{function}` uses its parameter `{parameter}` as a value, and a whole tensor is passed",
    label="`{name}` is a tensor",
    hint="read it: `{name}[{subscripts}]`",
    explanation="""
A tensor may be passed whole to a function only where the body subscripts it. A value is read with a subscript
first.""",
    wrong="""
fn twice(x) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = twice(A)
}""",
    right="""
fn twice(x) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = twice(A[:])
}""",
)
