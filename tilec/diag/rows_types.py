"""Rows E03: element types, declarations, constants."""

from tilec.diag.row import Row

MIXED_INTEGERS = Row(
    "E0301",
    message="`{operation}` mixes `{left}` and `{right}`",
    label="`{left}` meets `{right}` here",
    hint="convert one side: `{fix}`",
    explanation="""
`i32` and `u32` never convert into each other by themselves: the same bits mean different numbers. Say which one you
mean with `i32(...)` or `u32(...)`. Literals, dims and `iota` adapt to the other side and need nothing.""",
    wrong="""
kernel add(A: tensor<i32>[M], B: tensor<u32>[M], C: tensor<i32>[M]) {
  C[:] = A[:] + B[:]
}""",
    right="""
kernel add(A: tensor<i32>[M], B: tensor<u32>[M], C: tensor<i32>[M]) {
  C[:] = A[:] + i32(B[:])
}""",
)

INTEGER_DIVISION = Row(
    "E0302",
    message="`/` divides floats, and both sides are integers",
    label="`{left}` / `{right}`",
    hint="write `{float_form}` for a fraction, or `{integer_form}` for a whole number",
    explanation="""
`/` needs a float on one side, so that nobody has to guess whether `1 / V` is 0 or a fraction. For a fraction make
one side a float (`1.0 / V`, `f32(n) / f32(m)`); for a whole number call `div(a, b)` (towards zero) or `ceildiv(a,
b)`.""",
    wrong="""
kernel mean(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :]) * (1 / V)
}""",
    right="""
kernel mean(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :]) * (1.0 / V)
}""",
)

DTYPE_MISMATCH = Row(
    "E0303",
    message="`{operation}` takes {expected}, not `{found}`",
    label="this is `{found}`",
    hint=None,
    explanation="""
Every operation says which element types it takes. Only `bool` to `i32` to `f32` happens by itself; every other
conversion is written: `f32(x)`, `i32(x)`, `u32(x)`, `bool(x)`. `&&`, `||` and `!` take `bool` only: compare with 0.""",
    wrong="""
kernel both(A: tensor<i32>[M], B: tensor<i32>[M], C: tensor<bool>[M]) {
  C[:] = A[:] && B[:]
}""",
    right="""
kernel both(A: tensor<i32>[M], B: tensor<i32>[M], C: tensor<bool>[M]) {
  C[:] = A[:] != 0 && B[:] != 0
}""",
)

CONDITION_NOT_BOOL = Row(
    "E0304",
    message="the condition of `{statement}` is `{found}`, not `bool`",
    label="this is `{found}`",
    hint="compare it: `{text} != 0`",
    explanation="""
`if`, `while`, `where` and `require` decide by a `bool`. A number is not one: compare it with something.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n {
    A[:] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  if n != 0 {
    A[:] = 0.0
  }
}""",
)

STORE_DTYPE = Row(
    "E0310",
    message="a value of `{found}` cannot be stored in `{name}`, a tensor of `{storage}`",
    label="this is `{found}`",
    hint="convert it: `{fix}`",
    explanation="""
Into an integer tensor a float needs an explicit conversion: `i32(x)` drops the fraction, `i32(round(x))` rounds.
Any integer may be stored in any integer tensor and keeps its low bits.""",
    wrong="""
kernel quant(X: tensor<f32>[M], Q: tensor<i8>[M]) {
  let i = ctx.block.x * 256
  Q[i :+ 256] = X[i :+ 256] * 127.0
}""",
    right="""
kernel quant(X: tensor<f32>[M], Q: tensor<i8>[M]) {
  let i = ctx.block.x * 256
  Q[i :+ 256] = i32(round(X[i :+ 256] * 127.0))
}""",
)

STORE_READ_ONLY = Row(
    "E0311",
    message="`{name}` is a tensor of `i64`, which can only be read",
    label="stored here",
    hint="declare it `tensor<i32>`",
    explanation="""
`i64` tensors are accepted as inputs, because labels often come so; a read saturates into `i32`. Results are `i32`.""",
    wrong="""
kernel k(T: tensor<i64>[M], U: tensor<i64>[M]) {
  U[:] = T[:] + 1
}""",
    right="""
kernel k(T: tensor<i64>[M], U: tensor<i32>[M]) {
  U[:] = T[:] + 1
}""",
)

STEP_NOT_CONSTANT = Row(
    "E0319",
    message="the step of `range` is not a constant",
    label="known only when the kernel runs",
    hint="use a `while` loop, or make the step a `const`",
    explanation="""
A `for` loop has a constant, positive step; its bounds may be any scalars.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  for i in range(0, M, n) {
    A[i] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  var i = 0
  while i < M {
    A[i] = 0.0
    i += n
  }
}""",
)

STEP_NOT_POSITIVE = Row(
    "E0320",
    message="the step of `range` is {value}; it must be at least 1",
    label="never reaches the end",
    hint="count upwards and compute the index: `let j = n - 1 - i`",
    explanation="""
A `for` loop counts upwards by a constant step of at least 1. To go down, count up and subtract.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  for i in range(8, 0, -1) {
    A[i] = 0.0
  }
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  for i in range(0, 8) {
    A[8 - i] = 0.0
  }
}""",
)

VAR_TYPE = Row(
    "E0321",
    message="`{name}` is {expected}, and {found} is assigned to it",
    label="this is {found}",
    hint=None,
    explanation="""
A `var` keeps the type and the shape of its declaration. Declare it with what it will hold: `var acc = 0.0` for a
float, `var acc: tile<f32>[8, 1] = 0.0` for a column.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var acc = 0.0
  acc = acc + rowsum(A[r :+ 8, :])
  B[r :+ 8, :] = acc
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var acc: tile<f32>[8, 1] = 0.0
  acc = acc + rowsum(A[r :+ 8, :])
  B[r :+ 8, :] = acc
}""",
)

DECLARED_TYPE = Row(
    "E0322",
    message="`{name}` is declared {expected}, and its value is {found}",
    label="this is {found}",
    hint=None,
    explanation="""
A declared type is a promise that is checked: the value must have it, or reach it by `bool` to `i32` to `f32`, or
stretch to the declared shape.""",
    wrong="""
kernel k(A: tensor<i32>[M]) {
  let half: i32 = 0.5
  A[:] = half
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let half: f32 = 0.5
  A[:] = half
}""",
)

NOT_CONSTANT = Row(
    "E0324",
    message="{what} must be a constant",
    label="known only when the kernel runs",
    hint=None,
    explanation="""
Axes, attribute values, the values of `const` and the defaults of parameters are decided when the kernel is
compiled: use literals, `const` names and arithmetic of them.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1], n: i32) {
  B[:, :] = sum(A[:, :], axis: n)
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  B[:, :] = sum(A[:, :], axis: 1)
}""",
)

INTEGER_TOO_LARGE = Row(
    "E0325",
    message="`{text}` does not fit `{type}`",
    label="the largest is {largest}",
    hint="write a float, `{text}.0`, if you mean a float",
    explanation="""
Integers have 32 bits: `i32` goes to 2147483647 and `u32` to 4294967295.""",
    wrong="""
kernel k(A: tensor<i32>[M]) {
  A[:] = 3000000000
}""",
    right="""
kernel k(A: tensor<i32>[M]) {
  A[:] = 2000000000
}""",
)

STORAGE_TYPE = Row(
    "E0328",
    message="`{type}` is a type of stored elements; {what} computes in `{compute}`",
    label="write `{compute}`",
    hint=None,
    explanation="""
`f16`, `bf16`, `i8`, `u8` and `i64` exist only in tensors. Elements are widened when they are read and rounded when
they are stored; values in between are `f32`, `i32`, `u32` or `bool`. `f16(x)` and `bf16(x)` round to the type and
back.""",
    wrong="""
kernel k(A: tensor<f16>[M], scale: f16) {
  A[:] = A[:] * scale
}""",
    right="""
kernel k(A: tensor<f16>[M], scale: f32) {
  A[:] = A[:] * scale
}""",
)

PARAMETER_TYPE = Row(
    "E0329",
    message="the kernel parameter `{name}` cannot be {found}",
    label="a kernel takes tensors and scalars",
    hint="write `tensor<...>[...]` for memory, or a scalar type",
    explanation="""
A kernel is called from outside with arrays and numbers, so that its parameters are tensors or scalars. Tiles exist
only inside.""",
    wrong="""
kernel k(A: tensor<f32>[8, 1], t: tile<f32>[8, 1]) {
  A[:, :] = t
}""",
    right="""
kernel k(A: tensor<f32>[8, 1], t: tensor<f32>[8, 1]) {
  A[:, :] = t[:, :]
}""",
)

BAD_DEFAULT = Row(
    "E0330",
    message="the default of `{name}` {problem}",
    label="the parameter is {expected}",
    hint=None,
    explanation="""
The default of a scalar parameter is a constant of its type. Tensors have no defaults: an output is allocated when
it is not given. Neither has a parameter that a function assigns: its argument is the place of the result.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32 = 0.5) {
  A[:] = n
}""",
    right="""
kernel k(A: tensor<f32>[M], n: f32 = 0.5) {
  A[:] = n
}""",
)

REQUIRE_NOT_LAUNCH = Row(
    "E0331",
    message="`require` may only ask about dims and scalar parameters",
    label="`{name}` is known only inside the kernel",
    hint="mask with `where` what must not count",
    explanation="""
`require` is checked once, before the kernel is launched, when only dims and scalar parameters are known.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  require A[0] > 0.0, "the first element must be positive"
  B[:] = log(A[:])
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  require M > 0, "there must be an element"
  B[:] = log(A[:])
}""",
)

CONTEXT_MISUSE = Row(
    "E0333",
    message="`{text}` is not a value",
    label="only `ctx.block.x`, `ctx.block.y` and `ctx.block.z` are",
    hint=None,
    explanation="""
`ctx.block.x`, `.y` and `.z` are the numbers of the block along the grid's axes. Nothing else is in `ctx`.""",
    wrong="""
kernel k(A: tensor<i32>[M]) {
  A[ctx.block] = 1
}""",
    right="""
kernel k(A: tensor<i32>[M]) {
  A[ctx.block.x] = 1
}""",
)

ARGUMENT_TYPE = Row(
    "E0334",
    message="the parameter `{parameter}` of `{function}` is {expected}, and {found} is given",
    label="this is {found}",
    hint=None,
    explanation="""
A function's parameter may have a type; the argument is then checked against it, as a declared `let` would be.""",
    wrong="""
fn scaled(x: f32) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:])
}""",
    right="""
fn scaled(x) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:])
}""",
)

REQUIRE_FAILS = Row(
    "E0335",
    message="requirement not met: {text}",
    label="false for {values}",
    hint=None,
    explanation="""
A `require` whose condition is known while compiling was false. The message is the author's.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  require 1 > 2, "one must exceed two"
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  require M > 2, "at least three elements"
  A[:] = 0.0
}""",
)

BAD_CONST_ARGUMENT = Row(
    "E0336",
    message="the constant given for `{name}` is {found}; {problem}",
    label="declared here",
    hint=None,
    explanation="""
`k.specialize(alpha=0.0)` and `--const alpha=0.0` fix scalar parameters: the name must be one, and the number must
fit its type. Tensors and dims are fixed elsewhere (`--dim V=512`).""",
    wrong="""
kernel k(A: tensor<f32>[M], const n: i32) {
  A[:] = f32(n)
}""",
    right="""
kernel k(A: tensor<f32>[M], const n: i32 = 2) {
  A[:] = f32(n)
}""",
)

BAD_DTYPE_CHOICE = Row(
    "E0337",
    message="`{name}` can be {expected}, not `{found}`",
    label="the alternatives are listed here",
    hint=None,
    explanation="""
`--dtype Logits=f16` chooses one of the alternatives that the parameter or the type variable lists.""",
    wrong="""
kernel k(A: tensor<f32|f16>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32|f16>[M]) {
  A[:] = 0.0
}""",
)
