"""Rows E03: shapes, extents, subscripts."""

from tilec.diag.row import Row

CONDITION_NOT_SCALAR = Row(
    "E0305",
    message="the condition of `{statement}` has the shape {shape}; it must be one value",
    label="this is {shape}",
    hint="choose per element with `where(condition, a, b)`, or reduce it with `any(...)` or `all(...)`",
    explanation="""
A block is one program: `if` and `while` take a single `bool`. To choose per element use `where(condition, a, b)`;
to ask whether some or all elements are true use `any(...)` or `all(...)`.""",
    wrong="""
kernel relu(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  if a < 0.0 {
    A[i :+ 256] = 0.0
  }
}""",
    right="""
kernel relu(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = where(a < 0.0, 0.0, a)
}""",
)

IOTA_UNDETERMINED = Row(
    "E0306",
    message="nothing says how long this `iota` is",
    label="no elementwise use gives its axis an extent",
    hint="say it: `iota({axis}, n)`",
    explanation="""
`iota(axis)` takes its rank and its extent from the tiles that it meets elementwise: in `where(iota(1) == t, x,
0.0)` it gets the columns of `x`. An axis of extent 1 stretches and so says nothing. Where nothing decides, give the
extent.""",
    wrong="""
kernel k(A: tensor<i32>[1]) {
  A[0] = sum(iota(0))
}""",
    right="""
kernel k(A: tensor<i32>[1]) {
  A[0] = sum(iota(0, 16))
}""",
)

IOTA_CONFLICT = Row(
    "E0307",
    message="this `iota` would have to be {left} long and {right} long",
    label="two uses disagree about axis {axis}",
    hint="use one `iota` for each length",
    explanation="""
All uses of one `iota` must agree about its extent, also through `let`s, arguments and assignments to a `var`. Two
lengths need two `iota`s.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, W], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let i = iota(1)
  C[r :+ 8, :] = rowsum(f32(i) * A[r :+ 8, :]) + rowsum(f32(i) * B[r :+ 8, :])
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, W], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = rowsum(f32(iota(1)) * A[r :+ 8, :]) + rowsum(f32(iota(1)) * B[r :+ 8, :])
}""",
)

EXTENT_NOT_PROVED = Row(
    "E0308",
    message="the extents `{left}` and `{right}` are not proved equal",
    label="{left} elements meet {right}",
    hint=None,
    explanation="""
Extents are compared as formulas, without knowing the numbers: `V - div(V, 2)` and `div(V, 2)` differ when V is odd.
Say the same formula on both sides, for instance by giving the number of elements: `A[div(V, 2) :+ div(V, 2)]`
instead of `A[div(V, 2) :]`. A dim that merely happens to be 1 does not stretch; only a literal 1 does.""",
    wrong="""
kernel glu(X: tensor<f32>[M, V], Y: tensor<f32>[M, div(V, 2)]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = X[r :+ 8, : div(V, 2)] * sigmoid(X[r :+ 8, div(V, 2) :])
}""",
    right="""
kernel glu(X: tensor<f32>[M, V], Y: tensor<f32>[M, div(V, 2)]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = X[r :+ 8, 0 :+ div(V, 2)] * sigmoid(X[r :+ 8, div(V, 2) :+ div(V, 2)])
}""",
)

STORE_SHAPE = Row(
    "E0309",
    message="a value of the shape {found} does not fit the place `{place}`, which is {expected}",
    label="this place is {expected}",
    hint=None,
    explanation="""
The value of a store must have the shape of its span or stretch to it; extra axes of extent 1 in front or at the end
may be dropped. A reduction keeps its axis with extent 1: `rowsum(x)` of an `[8, V]` tile is `[8, 1]`, and goes into
`Loss[r :+ 8, :]` of a tensor `[M, 1]` or `Loss[r :+ 8, new]` of a tensor `[M]`.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = A[r :+ 8, :]
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :])
}""",
)

SHAPE_MISMATCH = Row(
    "E0312",
    message="the shapes {left} and {right} do not match in `{operation}`",
    label="{left} meets {right}",
    hint=None,
    explanation="""
Shapes are lined up from the right, as in NumPy: two extents fit when they are equal, or when one of them is a
literal 1, which stretches. A reduction keeps its axis with extent 1, so that its result stretches back over the
row: subtract `rowmax(x)`, an `[8, 1]`, from `x`, an `[8, V]`. To line up a vector with rows give it an axis: `t[:,
new]`.""",
    wrong="""
kernel k(A: tensor<f32>[M, 16], B: tensor<f32>[M, 24], C: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = A[r :+ 8, :] + B[r :+ 8, :]
}""",
    right="""
kernel k(A: tensor<f32>[M, 16], B: tensor<f32>[M, 24], C: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = A[r :+ 8, :] + B[r :+ 8, 0 :+ 16]
}""",
)

RANK_MISMATCH = Row(
    "E0313",
    message="`{operation}` needs {expected}, and this is {shape}",
    label="rank {rank}",
    hint=None,
    explanation="""
Some operations need a certain number of axes: a row reduction needs at least one, a column reduction at least two.
`new` in a subscript adds an axis of extent 1.""",
    wrong="""
kernel k(A: tensor<f32>[1], s: f32) {
  A[0] = rowsum(s)
}""",
    right="""
kernel k(A: tensor<f32>[1], s: f32) {
  A[0] = s
}""",
)

SUBSCRIPT_COUNT = Row(
    "E0314",
    message="`{name}` has {rank}, and {given} given",
    label="its shape is {shape}",
    hint="write `:` for an axis that is taken whole",
    explanation="""
A subscript has one part for each axis: a span `s :+ n`, `s : e`, `:`, or a point `i`. `new` adds an axis and counts
for none.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8])
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :])
}""",
)

SUBSCRIPT_TYPE = Row(
    "E0315",
    message="a subscript is an integer, and this is {found}",
    label="{found}",
    hint=None,
    explanation="""
Starts, ends and counts of spans and points are single integers, equal for the whole block. For a column that is
different in each row use `pick(x, t)`; a float becomes an integer with `i32(...)`.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let t = T[r :+ 8, :]
  B[r :+ 8, :] = A[r :+ 8, t]
}""",
    right="""
kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let t = T[r :+ 8, :]
  B[r :+ 8, :] = pick(A[r :+ 8, :], t)
}""",
)

TILE_SUBSCRIPT = Row(
    "E0316",
    message="a tile takes only `:` and `new` as subscripts",
    label="`{text}` would take a part of a tile",
    hint="read the part from the tensor, or choose elements with `pick` or `where`",
    explanation="""
A tile is a value, not memory: it can be given axes (`t[:, new]`) but no part of it can be cut out or assigned. Take
the part where the tensor is read, or select with `pick(x, t)` and `where(iota(1) == k, x, 0.0)`.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, :] = rowsum(x[:, 0 :+ 4])
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, 0 :+ 4])
}""",
)

NOT_SUBSCRIPTABLE = Row(
    "E0317",
    message="`{text}` is {what} and has no axes to subscript",
    label="{what}",
    hint=None,
    explanation="""
Only tensors and tiles are subscripted.""",
    wrong="""
kernel k(A: tensor<f32>[M], s: f32) {
  A[:] = s[0]
}""",
    right="""
kernel k(A: tensor<f32>[M], s: f32) {
  A[:] = s
}""",
)

TENSOR_AS_VALUE = Row(
    "E0318",
    message="`{name}` is a tensor, not a value",
    label="read it with a subscript",
    hint="`{name}[{subscripts}]` reads all of it",
    explanation="""
A tensor is memory; an expression works on values. A subscript reads one: `A[:, :]` all of it, `A[r :+ 8, :]` eight
rows. A tensor may be passed whole to a function whose body only subscripts it.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  B[:, :] = rowsum(A)
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  B[:, :] = rowsum(A[:, :])
}""",
)

AXIS_RANGE = Row(
    "E0323",
    message="there is no axis {axis} in the shape {shape}",
    label="the axes are {axes}",
    hint=None,
    explanation="""
Axes count from 0. `axis: k` of a reduction, `iota(k)` and `extent(x, k)` name one that exists.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[1]) {
  B[0] = sum(sum(A[:, :], axis: 2))
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[1]) {
  B[0] = sum(sum(A[:, :], axis: 1))
}""",
)

TENSOR_RANK = Row(
    "E0326",
    message="`{name}` has {given}; a tensor has 1 to 4",
    label="rank {rank}",
    hint="merge axes that are always taken together",
    explanation="""
Tensors have 1 to 4 axes. Axes that are used together can be one, `[B * H, T, V]`, since storage is row-major.""",
    wrong="""
kernel k(A: tensor<f32>[B, C, D, H, W]) {
  A[0, 0, 0, 0, 0] = 1.0
}""",
    right="""
kernel k(A: tensor<f32>[B, C * D, H, W]) {
  A[0, 0, 0, 0] = 1.0
}""",
)

BAD_DIM = Row(
    "E0327",
    message="`{text}` cannot be a dim",
    label="{reason}",
    hint="a dim is an integer, a name, or arithmetic of them",
    explanation="""
The dims of a tensor are integers, symbols and arithmetic of them with `+ - *`, `div`, `ceildiv`, `min`, `max` and
`%`.""",
    wrong="""
kernel k(A: tensor<f32>[M, 2.5]) {
  A[:, :] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M, 2]) {
  A[:, :] = 0.0
}""",
)

FILL_SHAPE = Row(
    "E0332",
    message="the value after `else` has the shape {shape}; it must be one value",
    label="this is {shape}",
    hint="choose per element with `where(...)`",
    explanation="""
In `A[r :+ 8, :] else -100` every element outside the tensor holds the same value, a scalar.""",
    wrong="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let b = B[i :+ 256]
  B[i :+ 256] = A[i + 1 :+ 256] else b
}""",
    right="""
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  B[i :+ 256] = A[i + 1 :+ 256] else 0.0
}""",
)

FILL_ON_TILE = Row(
    "E0338",
    message="`else` gives a value to what is read outside a tensor, and `{text}` is a value already",
    label="nothing is read here",
    hint="`pad({text}, v)` gives the lanes of a tile that are inactive the value `v`",
    explanation="""
Reading a tensor may run past its end; `A[r :+ 8, :] else 0.0` says what stands there. A tile was read before: what it
has outside is inactive, and `pad` fills it.""",
    wrong="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, :] = x[:, :] else 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, :] = pad(x, 0.0)
}""",
)
