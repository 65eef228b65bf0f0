"""Rows E04: the grid, races between blocks, what is not there yet."""

from tilec.diag.row import Row

GRID_DISAGREES = Row(
    "E0401",
    message="two {uses} give the grid's axis {axis} different sizes: `{left}` and `{right}`",
    label="this one gives `{right}`",
    hint=None,
    explanation="""
The number of blocks is inferred from the starts of spans: `A[ctx.block.x * 8 :+ 8]` over a dim M needs `ceildiv(M,
8)` blocks. Stores decide; loads are asked only for an axis that no store uses. Where uses disagree, look at the dims
first: a tensor declared over the wrong one is the usual reason. If all is as it is meant, `@grid(max(...))` has
enough blocks for each, and those that run past the end of a tensor write nothing there.""",
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
    label="{used}",
    hint="say it: `@grid(...)`, for instance `@grid(ceildiv(M, 8))`",
    explanation="""
A use of the form `a * ctx.block.x + c` as the start of a span or as a point says how many blocks there are. Any
other use says nothing: give the grid with an attribute.

A launch counts the blocks before the first one runs. So `a` must follow from dims and scalar parameters by `+ - * %`,
`div`, `ceildiv`, `min`, `max` and `clamp`; what is read from memory, chosen by `where` or carried by a loop says
nothing either.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x % 4] = 0.0
}""",
    right="""
@grid(4)
kernel k(A: tensor<f32>[4]) {
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
Blocks run in any order, so that no two of them may write one element. A span `r :+ 8` needs `r = ctx.block.x * 8`;
what does not depend on the block at all is written by every block. Where you know better, `@disjoint(A)` asserts
it.""",
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
