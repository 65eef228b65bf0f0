"""Rows W: what is legal and probably not meant."""

from tilec.diag.row import Row

DOC_ON_NOTHING = Row(
    "W0101",
    message="this doc comment belongs to nothing",
    label="nothing that can be documented follows",
    hint="write `//` for a plain comment",
    explanation="""
`///` documents the item or the parameter that follows it. Inside a body and at the end of a file it is lost.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  /// Clears everything.
  A[:] = 0.0
}""",
    right="""
/// Clears everything.
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

COMMENT_LIKE_DIVISION = Row(
    "W0102",
    message="`{text}` is a comment, not a division",
    label="left out",
    hint="write `{division}`; if it is meant to be a comment, say in words what the number is",
    explanation="""
`//` begins a comment, so that `n // 2` is `n`. Whole numbers are divided with `div(n, 2)`, which truncates.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  let half = n // 2
  A[:] = f32(half)
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  let half = div(n, 2)
  A[:] = f32(half)
}""",
)

UNUSED_LET = Row(
    "W0201",
    message="`{name}` is never used",
    label="defined here",
    hint="remove it, or begin its name with `_` to keep it",
    explanation="""
The value of a `let` is never used. Often another name was meant.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  A[:] = a
}""",
)

UNUSED_PARAMETER = Row(
    "W0202",
    message="the parameter `{name}` is never used",
    label="defined here",
    hint="remove it, or begin its name with `_` to keep it",
    explanation="""
The body never mentions the parameter. A kernel's unused parameter stays an input, and must still be given.""",
    wrong="""
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = scale
}""",
)

HIDES_LIBRARY = Row(
    "W0203",
    message="`{name}` hides {what} of the same name and number of arguments",
    label="defined here",
    hint="rename it if that is not meant",
    explanation="""
Your definition wins in your own file. The library's own functions keep using the library's.""",
    wrong="""
fn square(x) = x * x * 1.0

kernel k(A: tensor<f32>[M]) {
  A[:] = square(A[:])
}""",
    right="""
fn my_square(x) = x * x * 1.0

kernel k(A: tensor<f32>[M]) {
  A[:] = my_square(A[:])
}""",
)

HIDES_NAME = Row(
    "W0204",
    message="`{name}` hides {what} of the same name",
    label="defined here",
    hint="rename it if that is not meant",
    explanation="""
A name of an inner block hides the outer one until the block ends. Assigning to an outer `var` needs no `var` or
`let`.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  var a = 0.0
  if n > 0 {
    let a = 1.0
    A[0] = a
  }
  A[1] = a
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  var a = 0.0
  if n > 0 {
    a = 1.0
  }
  A[0] = a
}""",
)

UNREACHABLE = Row(
    "W0205",
    message="this is never reached",
    label="after `{statement}`",
    hint=None,
    explanation="""
What follows `return`, `break` or `continue` in the same block never runs.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  return
  A[:] = 1.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

COLUMN_MEETS_ROW = Row(
    "W0301",
    message="a column {left} meets a vector {right}: the result is {result}",
    label="{left} meets {right}",
    hint="give the vector an axis, `[:, new]`, to pair element with element",
    explanation="""
Shapes are lined up from the right, so that `[R, 1]` with `[R]` is the table `[R, R]` of all pairs. Nearly always
the vector should be a column: read it as `Old[r :+ 8, new]`.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = rowmean(rowsum(A[r :+ 8, :]) - B[r :+ 8])
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = rowsum(A[r :+ 8, :]) - B[r :+ 8, new]
}""",
)

STORE_OF_INACTIVE = Row(
    "W0302",
    message="some elements of `{name}` may not be written: the value may be inactive there",
    label="the place is inside `{name}`",
    hint=None,
    explanation="""
A read that runs past the end of its tensor leaves inactive lanes, and a store skips them: the old elements stay.
`else` gives those lanes a value.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  B[i :+ 256] = A[i + 1 :+ 256]
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  B[i :+ 256] = A[i + 1 :+ 256] else 0.0
}""",
)

LITERAL_OVERFLOW = Row(
    "W0303",
    message="`{text}` is beyond `f32` and becomes `{value}`",
    label="",
    hint="the largest `f32` is 3.4028235e38; `inf` is a name",
    explanation="""
All float arithmetic is `f32`. A literal that is too large is `inf`, one that is too small is 0.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 1e40
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = inf
}""",
)

COMPARED_WITH_NAN = Row(
    "W0304",
    message="a comparison with `nan` is always {value}",
    label="nothing equals `nan`, not even itself",
    hint="ask with `isnan(...)`",
    explanation="""
`nan` is unequal to everything. `isnan(x)` asks for it.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = where(a == nan, 0.0, a)
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = where(isnan(a), 0.0, a)
}""",
)

WRITES_MAY_OVERLAP = Row(
    "W0401",
    message="it is not proved that blocks write different elements of `{name}`",
    label="written here",
    hint="assert it with `@disjoint({name})` if they do",
    explanation="""
Two blocks that write one element leave either value there. The spans are too irregular to prove that they keep
apart.""",
    wrong="""
@grid(ceildiv(M, 8))
kernel k(A: tensor<f32>[M], n: i32) {
  A[ctx.block.x * n :+ 8] = 0.0
}""",
    right="""
@disjoint(A)
@grid(ceildiv(M, 8))
kernel k(A: tensor<f32>[M], n: i32) {
  A[ctx.block.x * n :+ 8] = 0.0
}""",
)

NEVER_STORES = Row(
    "W0402",
    message="the kernel `{name}` stores nothing",
    label="it has no result",
    hint="store into a tensor: `Out[r :+ 8, :] = ...`",
    explanation="""
A kernel leaves its results in tensors. One that writes none has no effect.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let _a = A[:]
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[1]) {
  B[0] = sum(A[:])
}""",
)

GRID_LEAVES_OUT = Row(
    "W0403",
    message="`@grid` has too few blocks for all of `{name}`: {blocks}, and {needed} are needed",
    label="{length}, {step} a block",
    hint=None,
    explanation="""
`@grid` says how many blocks there are, whatever the tensors hold. Where they are too few for a tensor that the
kernel stores, the elements beyond are never written: those of an output are 0, those of a tensor that is updated
keep what they were. The example in the message is one of many sizes. A block too many does no harm, for what lies
outside a tensor is not written: `@grid(max(...))` has enough for each.""",
    wrong="""
@grid(ceildiv(V, 8))
kernel k(A: tensor<f32>[M, V], Totals: tensor<f32>[V]) {
  let i = ctx.block.x * 8
  Totals[i :+ 8] = 0.0
  A[i :+ 8, :] *= 2.0
}""",
    right="""
@grid(max(ceildiv(V, 8), ceildiv(M, 8)))
kernel k(A: tensor<f32>[M, V], Totals: tensor<f32>[V]) {
  let i = ctx.block.x * 8
  Totals[i :+ 8] = 0.0
  A[i :+ 8, :] *= 2.0
}""",
)

BLOCKS_LEAVE_GAPS = Row(
    "W0404",
    message="blocks write {written} of every {step} {what} of `{name}`, and nothing writes the others",
    label="blocks start {step} apart and write {written}",
    hint=None,
    explanation="""
A start of `ctx.block.x * 8` with a span of 4 leaves four elements between each block and the next that no block
writes. In an output they are 0. (Where a tensor is updated, some rows may well be left as they are.)""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  B[i :+ 4] = A[i :+ 4]
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  B[i :+ 8] = A[i :+ 8]
}""",
)
