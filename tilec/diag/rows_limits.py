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
    label="{count} tensors{scratch}; scalars and sizes share one uniform buffer, which does not count",
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

TOO_MANY_FILES = Row(
    "E0510",
    message="more than {limit} files are imported",
    label="one too many",
    hint="bring small files together in larger ones",
    explanation="""
A program may have 64 files: the one that is compiled, and those that it imports, directly or through others.""",
    wrong="""
import "parts/0.ph"     // and so on, to "parts/70.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

TOO_MANY_INSTRUCTIONS = Row(
    "E0511",
    message="`{name}` grows beyond {limit} instructions",
    label="reached here",
    hint="use loops and fewer derivatives of derivatives, or several kernels",
    explanation="""
A kernel may have 50,000 instructions, those of the functions that it calls and of its gradients among them. A gradient
through a loop of constant length counts every round, and each derivative of a derivative is longer than the one
before.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let x = A[i :+ 256]
  let g0 = exp(x) * sin(x)
  let g1 = grad(g0, x)
  let g2 = grad(g1, x)     // and so on, with some hundred of them
  B[i :+ 256] = g2
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let x = A[i :+ 256]
  B[i :+ 256] = grad(exp(x) * sin(x), x)
}""",
)

TEXT_TOO_LARGE = Row(
    "E0512",
    message="the WGSL of `{name}` is longer than {limit} characters",
    label="",
    hint="use loops, or several kernels",
    explanation="""
The shader of one kernel may have 1 Mi (1,048,576) characters. Larger ones take minutes in a driver, where they are
accepted at all.""",
    wrong="""
kernel k(A: tensor<f32>[M, N]) {
  let r = ctx.block.x
  var x = A[r :+ 1, :]
  x = x - rowmax(x)
  x = x - rowmax(x)     // and so on, with some hundred of them
  A[r :+ 1, :] = x
}""",
    right="""
kernel k(A: tensor<f32>[M, N]) {
  let r = ctx.block.x
  var x = A[r :+ 1, :]
  for i in range(0, 100) { x = x - rowmax(x) }
  A[r :+ 1, :] = x
}""",
)

PRIVATE_MEMORY = Row(
    "E0513",
    message="a thread of `{name}` keeps {given} bytes of variables at once; the limit is {limit}",
    label="",
    hint="store what is needed later, or split the kernel in two",
    explanation="""
WGSL guarantees 8,192 bytes of variables. Values that reductions, branches and loops make are kept in
variables, one for each element that a thread has in hand.""",
    wrong="""
kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N], s: f32) {
  let r = ctx.block.x * 8
  var y = s
  if y > 1.0 { y = y * 2.0 }
  if y > 1.0 { y = y * 2.0 }     // and so on, with some thousand of them
  B[r :+ 8, :] = A[r :+ 8, :] * y
}""",
    right="""
kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N], s: f32) {
  let r = ctx.block.x * 8
  var y = s
  for i in range(0, 2000) { y = where(y > 1.0, y * 2.0, y) }
  B[r :+ 8, :] = A[r :+ 8, :] * y
}""",
)

COMPILE_TIME = Row(
    "E0514",
    message="compiling takes longer than {limit} seconds",
    label="it was here",
    hint="split the kernel in several",
    explanation="""
One file may take 30 seconds of the processor to read, and one kernel 30 seconds to compile. Programs within the other
limits take less as a rule; a program that is made to take long ends here.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

SANDBOX_LIMIT = Row(
    "E0515",
    message="compiling in the sandbox takes more than {limit}",
    label="",
    hint="give the sandbox more, or compile without it what you trust",
    explanation="""
In a sandbox (`tilec compile --sandbox`, `tilec.compile(..., sandbox=True)`) the compiler is a process of its own, which
is ended when it takes more time, memory or output than it was given. Programs within the compiler's own limits need
less than the sandbox's defaults as a rule.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

UNBOUNDED_SCRATCH = Row(
    "E0516",
    message="this tile must be kept in memory, and how large it is only the data says",
    label="axis {axis} has as many elements as the data says",
    hint="give its length a bound, as `min(n, 64)` does, or read without `else`: then the tensor bounds it",
    explanation="""
Some tiles are kept in scratch memory: those that a loop carries, and those that are read before the tensor is
overwritten and needed after. A launch sets this memory aside before the first block runs, so that its size must follow
from dims and scalar parameters. A tile whose length was read from memory still has a bound if it only has lanes inside
the tensor; with `else`, and after `pad`, it has lanes outside too, as many as the data says.

Lengths are bounded by `min`, by `clamp`, by a remainder, by the elements of a tensor of bytes, and by numbers of blocks
and loops.""",
    wrong="""
kernel k(A: tensor<f32>[V], N: tensor<i32>[1], S: tensor<f32>[1]) {
  var x = A[0 :+ N[0]] else 1.0
  for i in range(0, 3) {
    x = x - sum(x)
  }
  S[0] = sum(x)
}""",
    right="""
kernel k(A: tensor<f32>[V], N: tensor<i32>[1], S: tensor<f32>[1]) {
  var x = A[0 :+ min(N[0], 64)] else 1.0
  for i in range(0, 3) {
    x = x - sum(x)
  }
  S[0] = sum(x)
}""",
)
