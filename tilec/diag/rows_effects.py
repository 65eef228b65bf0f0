"""Rows E04: the grid, races between blocks, what is not there yet; rows E05: limits."""

from tilec.diag.row import Row

GRID_DISAGREES = Row(
    "E0401",
    message="two {uses} give the grid's axis {axis} different sizes: `{left}` and `{right}`",
    label="this one gives `{right}`",
    hint="say which: `@grid({left})`, or take the rows of both by one block size",
    explanation="""
The number of blocks is inferred from the starts of spans: `A[ctx.block.x * 8 :+ 8]` over a dim M needs `ceildiv(M, 8)`
blocks. Stores decide; loads are asked only for an axis that no store uses. Uses that disagree need `@grid(...)`.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[N]) {
  A[ctx.block.x * 8 :+ 8] = 0.0
  B[ctx.block.x * 4 :+ 4] = 0.0
}""",
    right="""
@grid(max(ceildiv(M, 8), ceildiv(N, 4)))
kernel k(A: tensor<f32>[M], B: tensor<f32>[N]) {
  A[ctx.block.x * 8 :+ 8] = 0.0
  B[ctx.block.x * 4 :+ 4] = 0.0
}""",
)

GRID_UNKNOWN = Row(
    "E0402",
    message="the size of the grid's axis {axis} cannot be inferred",
    label="used here, but never as the start of a span",
    hint="say it: `@grid(...)`, for instance `@grid(ceildiv(M, 8))`",
    explanation="""
A use of the form `a * ctx.block.x + c` as the start of a span or as a point says how many blocks there are. Any other
use says nothing: give the grid with an attribute.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x % 4] = 0.0
}""",
    right="""
@grid(4)
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x] = 0.0
}""",
)

GRID_NOT_LAUNCH = Row(
    "E0403",
    message="`@grid` may use only dims and scalar parameters, and `{name}` is {what}",
    label="not known at launch",
    hint=None,
    explanation="""
The grid is computed before the launch, from the dims of the arrays and the scalar parameters.""",
    wrong="""
@grid(i32(A[0]))
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x] = 0.0
}""",
    right="""
@grid(M)
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x] = 0.0
}""",
)

BLOCKS_OVERLAP = Row(
    "E0404",
    message="two blocks write the same elements of `{name}`",
    label="{detail}",
    hint="the span's start must grow by at least its length from block to block: `{fix}`",
    explanation="""
Blocks run in any order, so that no two of them may write one element. A span `r :+ 8` needs `r = ctx.block.x * 8`; what
does not depend on the block at all is written by every block. Where you know better, `@disjoint(A)` asserts it.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :])
  A[0 :+ 8, :] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :])
  A[r :+ 8, :] = 0.0
}""",
)

BLOCK_READS_FOREIGN = Row(
    "E0405",
    message="a block reads elements of `{name}` that another block writes",
    label="read here",
    hint="write the result to another tensor, or do it in a second kernel",
    explanation="""
Blocks run in any order: what one block reads must not be written by another, or the result depends on luck.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] + A[0]
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  B[i :+ 256] = A[i :+ 256] + A[0]
}""",
)

ACCESS_NOT_PROVED = Row(
    "E0406",
    message="it is not proved that no other block writes what this reads of `{name}`",
    label="read here",
    hint="write to another tensor, or assert it with `@disjoint({name})`",
    explanation="""
Reads are mixed with writes of the same tensor, and the spans are too irregular to prove that blocks keep apart.
`@disjoint(A)` on the kernel asserts that they do.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] + A[i + n]
}""",
    right="""
@disjoint(A)
kernel k(A: tensor<f32>[M], n: i32) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] + A[i + n]
}""",
)

GRADIENT_NOT_YET = Row(
    "E0420",
    message="`{name}` is not implemented yet",
    label="gradients are a later step",
    hint="write the gradient by hand: that of `logsumexp(x) - pick(x, t)` is `exp(x - logsumexp(x)) - f32(iota(1) == t)`",
    explanation="""
`grad(y, x)` and `stop_grad(x)` belong to the language, and this version does not have them yet. Until then the gradient
is written by hand.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = grad(square(a), a)
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = 2.0 * a
}""",
)

DEBUG_NOT_YET = Row(
    "E0421",
    message="`{name}` is not implemented yet",
    label="debug builds are a later step",
    hint="dims and scalar parameters can be checked with `require`; store a value to look at it",
    explanation="""
`assert` and `print` act in debug builds, which this version does not have yet.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  assert M > 0, "empty"
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  require M > 0, "empty"
  A[:] = 0.0
}""",
)

AUTOTUNE_NOT_YET = Row(
    "E0422",
    message="`@autotune` is not implemented yet",
    label="tuning is a later step",
    hint="fix the value with a `const`, or with `@threads(n)`",
    explanation="""
`@autotune(N in [16, 256])` will try the values it lists. This version does not have it yet.""",
    wrong="""
@autotune(N in [16, 256])
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@threads(64)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

OPERATION_NOT_YET = Row(
    "E0423",
    message="`{name}` is not implemented yet",
    label="{family} are a later step",
    hint=None,
    explanation="""
Matrix products (`dot`, `dot_t`, `transpose`), scans and shifts (`cumsum`, `tril`, `shift`, `fold`), random numbers
(`random`) and `scatter` are planned and not there yet. Masks by position are written with `iota`: `tril(x)` is
`where(iota(1) <= iota(0), x, 0.0)`; a shifted read is a span, `A[r + 1 :+ 8, :]`.""",
    wrong="""
kernel k(A: tensor<f32>[M, V]) {
  A[:, :] = cumsum(A[:, :])
}""",
    right="""
kernel k(A: tensor<f32>[M, V]) {
  A[:, :] = A[:, :] + rowsum(A[:, :])
}""",
)

NESTING_TOO_DEEP = Row(
    "E0501",
    message="nested more than {limit} levels deep",
    label="level {level} opens here",
    hint="name the inner parts with `let`, or move them into a `fn`",
    explanation="""
Brackets, blocks and chains of unary operators may be nested 64 levels deep.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = {nested}
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
A source file may have 1 MiB (1,048,576 characters).""",
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
    message="an expression of more than {limit} operators",
    label="operator {limit} stands here",
    hint="split it into several `let`s",
    explanation="""
One expression may have 1,000 operators, calls and subscripts. Longer ones are surely generated: split them.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = {sum}
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
  {statements}
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
{doubling}""",
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
    hint="merge tensors, or split the kernel in two",
    explanation="""
WebGPU guarantees 8 storage buffers in one dispatch. Every tensor is one, and so is the scratch memory that the compiler
may need.""",
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
