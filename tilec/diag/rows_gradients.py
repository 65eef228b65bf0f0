"""Rows E043: gradients."""

from tilec.diag.row import Row

GRADIENT_NEEDS_NAME = Row(
    "E0430",
    message="`grad` differentiates by a value that has a name, and `{text}` is an expression",
    label="not a name",
    hint="give it a name first: `let x = {text}`, use `x` in what is differentiated, and write `grad(..., x)`",
    explanation="""
`grad(y, x)` is the derivative with respect to the value that the name `x` holds. An expression written a second time is
another value, which `y` does not depend on.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let y = square(A[i :+ 256])
  A[i :+ 256] = grad(y, A[i :+ 256])
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  let y = square(a)
  A[i :+ 256] = grad(y, a)
}""",
)

GRADIENT_TYPE = Row(
    "E0431",
    message="{role} must be `f32`, not `{found}`",
    label="this is `{found}`",
    hint="only floats have derivatives: convert with `f32(...)` before the value gets its name",
    explanation="""
Derivatives are taken of floats with respect to floats. Integers and bools have none: an index, a condition or a count
does not change with small changes of anything.""",
    wrong="""
kernel k(A: tensor<f32>[M], T: tensor<i32>[M]) {
  let i = ctx.block.x * 256
  let t = T[i :+ 256]
  A[i :+ 256] = f32(grad(square(f32(t)), t))
}""",
    right="""
kernel k(A: tensor<f32>[M], T: tensor<i32>[M]) {
  let i = ctx.block.x * 256
  let t = f32(T[i :+ 256])
  A[i :+ 256] = grad(square(t), t)
}""",
)

GRADIENT_INDEPENDENT = Row(
    "E0432",
    message="`{y}` does not depend on `{x}`: {reason}",
    label="no derivative with respect to `{x}`",
    hint="compute what is differentiated from `{x}`, by that name, before this line",
    explanation="""
`grad(y, x)` follows how `y` was computed back to the value that the name `x` holds at the `grad`. Nothing is found
when `y` was computed from an earlier value of a `var`, from another read of the same span, only through integers and
conditions, or through a tensor that was written and read back. The derivative would be 0 everywhere, which is hardly
what was meant.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  let y = square(A[i :+ 256])
  A[i :+ 256] = grad(y, a)
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  let y = square(a)
  A[i :+ 256] = grad(y, a)
}""",
)

GRADIENT_BLOCKED = Row(
    "E0433",
    message="no derivative of `{y}` with respect to `{x}`: {reason}",
    label="asked for here",
    hint="{fix}",
    explanation="""
Derivatives go through elementwise operations, reductions, `pick`, `where`, functions, `if`, loops whose number of
rounds is constant, and loops that only add to a sum (`acc += f(...)`). They do not go through a `while`, a loop that a
`break` ends, a loop whose rounds build on each other in another way and whose number is not constant, or one that reads
what is stored to before the gradient reads it again.""",
    wrong="""
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  while y < 100.0 {
    y = y * 2.0 + a
  }
  A[r, 0] = grad(y, a)
}""",
    right="""
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  for i in range(0, 4) {
    y = y * 2.0 + a
  }
  A[r, 0] = grad(y, a)
}""",
)

GRADIENT_TOO_LONG = Row(
    "E0434",
    message="the loop between `{x}` and `{y}` has {rounds} rounds, and derivatives are taken through at most {limit}",
    label="asked for here",
    hint="make one round do more (larger chunks), or write the gradient of one round by hand",
    explanation="""
A loop whose rounds build on each other is written out, round by round, before it is differentiated. Loops that only
add to a sum (`acc += f(...)`) are not, and may be of any length.""",
    wrong="""
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  for i in range(0, 5000) {
    y = sin(y) + a
  }
  A[r, 0] = grad(y, a)
}""",
    right="""
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  for i in range(0, 50) {
    y = sin(y) + a
  }
  A[r, 0] = grad(y, a)
}""",
)
