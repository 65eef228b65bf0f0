"""Rows E05: limits."""

from tilec.diag.row import Row

NESTING_TOO_DEEP = Row(
    "E0501",
    message="nested more than {limit} levels deep",
    label="level {level} opens here",
    hint="name the inner parts with `let`, or move them into a `fn`",
    explanation="""
Blocks may be nested 64 levels deep inside a kernel or function, and so may, in one statement, brackets and unary
operators.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = ((((1.0))))     // and so on, with 65 of them
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = ((((1.0))))
}""",
)

SOURCE_TOO_LARGE = Row(
    "E0502",
    message="the source has {size} characters; the limit is {limit}",
    label="",
    hint="split it into several files",
    explanation="""
A source may have 1 Mi (1,048,576) characters.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

EXPRESSION_TOO_LONG = Row(
    "E0503",
    message="an expression nests more than {limit} operators deep",
    label="too deep here",
    hint="split it into several `let`s",
    explanation="""
Operators, calls and subscripts may nest 256 deep in one expression. A chain `a + b + c` nests to the left, so that a
sum has 257 terms at most.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0 + 1.0 + 1.0     // and so on, with 300 of them
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0 + 2.0 + 3.0
}""",
)

TOO_MANY_STATEMENTS = Row(
    "E0504",
    message="`{name}` has more than {limit} statements",
    label="one too many",
    hint="use loops and functions, or several kernels",
    explanation="""
One kernel or function may have 4,096 statements.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[0] = 1.0     // and so on, with 4,097 of them
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

EXPANSION_TOO_LARGE = Row(
    "E0505",
    message="`{name}` grows beyond {limit} operations when its functions are inlined",
    label="reached in this call",
    hint="name a repeated call's result with `let` and use it twice",
    explanation="""
Functions are inlined. Functions that each call the next twice double with every step: twenty of them are a million
copies.""",
    wrong="""

fn step0(x) = x + x
fn step1(x) = step0(x) + step0(x)
// and so on, to
fn step20(x) = step19(x) + step19(x)""",
    right="""
fn f(x) = x + x

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:])
}""",
)

TOO_MANY_BUFFERS = Row(
    "E0506",
    message="`{name}` needs {given} storage buffers; the limit is {limit}",
    label="{count} tensors{scratch}",
    hint="merge {merge}, or split the kernel in two",
    explanation="""
WebGPU guarantees 8 storage buffers in one dispatch. Every tensor is one, and so is the scratch memory that the
compiler may need. Scalars and sizes share one uniform buffer and do not count.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<f32>[M], D: tensor<f32>[M], E: tensor<f32>[M],
         F: tensor<f32>[M], G: tensor<f32>[M], H: tensor<f32>[M], I: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  I[i :+ 256] = (A[i :+ 256] + B[i :+ 256] + C[i :+ 256] + D[i :+ 256]
    + E[i :+ 256] + F[i :+ 256] + G[i :+ 256] + H[i :+ 256])
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  C[i :+ 256] = A[i :+ 256] + B[i :+ 256]
}""",
)

TOO_MANY_THREADS = Row(
    "E0507",
    message="`@threads({given})` is not between 1 and {limit}",
    label="{given}",
    hint=None,
    explanation="""
WebGPU guarantees 256 threads in one workgroup.""",
    wrong="""
@threads(4096)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@threads(256)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

IMPORTS_TOO_DEEP = Row(
    "E0508",
    message="imports are nested more than {limit} files deep",
    label="one too many",
    hint=None,
    explanation="""
Imports may be nested 64 files deep. A file that is imported twice is read once, also in a circle.""",
    wrong="""
import "deep/0.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

BOUND_RANGE = Row(
    "E0509",
    message="`@bound({given})` is not between 1 and {limit}",
    label="{given}",
    hint=None,
    explanation="""
`@bound(n)` says after how many rounds a `while` of the kernel ends at the latest.""",
    wrong="""
@bound(0)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@bound(1000)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)
