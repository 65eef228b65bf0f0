"""Rows E02: names, definitions, attributes, imports."""

from tilec.diag.row import Row

UNKNOWN_NAME = Row(
    "E0201",
    message="`{name}` is not defined",
    label="no such name here",
    hint=None,
    explanation="""
A name is a `let`, a `var`, a parameter, a dim of a tensor's type, a loop's counter or a `const` of the file. It is
visible from its definition to the end of its block.""",
    wrong="""
kernel k(Logits: tensor<f32>[M, V], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, :] = rowmax(x) + rowsum(y)
}""",
    right="""
kernel k(Logits: tensor<f32>[M, V], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, :] = rowmax(x)
}""",
)

UNKNOWN_FUNCTION = Row(
    "E0202",
    message="there is no function `{name}`",
    label="not defined here, in an import or in std",
    hint=None,
    explanation="""
A call names a function of the file, of an imported file, of std, or a built-in operation. `tilec` suggests the
nearest name where one is near.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = sqroot(A[:])
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = sqrt(A[:])
}""",
)

UNKNOWN_MEMBER = Row(
    "E0203",
    message="`{text}` has no member `{name}`",
    label="not known",
    hint="there are `ctx.block.x`, `ctx.block.y` and `ctx.block.z`; the extent of a tile is `extent(x, axis)`",
    explanation="""
Only `ctx.block.x`, `.y` and `.z` are written with a point. What other languages write as a method is a function
here: `extent(x, 1)`, `sum(x)`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = A[:] / A.shape
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = A[:] / M
}""",
)

UNKNOWN_ATTRIBUTE = Row(
    "E0204",
    message="there is no attribute `@{name}`",
    label="not known",
    hint=None,
    explanation="""
A kernel may carry `@grid(...)`, `@disjoint(A)`, `@threads(n)` and `@bound(n)`.""",
    wrong="""
@fast(1)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@threads(64)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

ATTRIBUTE_ARGUMENTS = Row(
    "E0205",
    message="`@{name}` takes {expected}",
    label="{found}",
    hint=None,
    explanation="""
`@grid(x[, y[, z]])` takes one to three formulas of the dims, `@disjoint(A[, B])` names tensors, `@threads(n)` and
`@bound(n)` take one positive constant.""",
    wrong="""
@threads
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@threads(64)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

DUPLICATE_ATTRIBUTE = Row(
    "E0206",
    message="`@{name}` is given twice",
    label="the second one",
    hint="keep one of them",
    explanation="""
Each attribute stands once on a kernel.""",
    wrong="""
@threads(64)
@threads(128)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
@threads(128)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

DUPLICATE_DEFINITION = Row(
    "E0211",
    message="{what} `{name}` is defined twice",
    label="the second definition",
    hint="give one of them another name",
    explanation="""
Within one block a name is defined once, and so is a parameter of one list, a kernel or a `const` of one file, and a
function of one name and number of arguments. To change a value declare it with `var` and assign to it.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  let a = a * 2.0
  A[:] = a
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  let b = a * 2.0
  A[:] = b
}""",
)

USE_BEFORE_DEFINITION = Row(
    "E0214",
    message="`{name}` is used before it is defined",
    label="used here",
    hint="move the definition above this line",
    explanation="""
Statements run from top to bottom; a `let` or `var` exists from its own statement on. An out parameter has no value
before its first assignment unless the caller's place has one.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = a * 2.0
  let a = A[:]
  A[:] = a
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  A[:] = a * 2.0
}""",
)

ASSIGN_TO_LET = Row(
    "E0215",
    message="`{name}` is a `let` and cannot be assigned",
    label="assigned here",
    hint="declare it with `var {name} = ...`",
    explanation="""
A `let` names a value once and for all. What changes is a `var`.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  a = a * 2.0
  A[:] = a
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  var a = A[:]
  a = a * 2.0
  A[:] = a
}""",
)

ASSIGN_TO_FIXED = Row(
    "E0216",
    message="`{name}` is {what} and cannot be assigned",
    label="assigned here",
    hint="assign to a `var` of another name",
    explanation="""
Dims, `const`s, loop counters and the scalar parameters of a kernel do not change. A tensor is assigned through a
subscript: `A[:, :] = e`.""",
    wrong="""
kernel k(A: tensor<f32>[M], n: i32) {
  n = n + 1
  A[:] = f32(n)
}""",
    right="""
kernel k(A: tensor<f32>[M], n: i32) {
  let next = n + 1
  A[:] = f32(next)
}""",
)

IMPORT_ABSOLUTE = Row(
    "E0223",
    message="an import is relative to its file, and `{path}` is absolute",
    label="absolute path",
    hint='write the path from this file\'s folder: `import "lib/my.ph"`',
    explanation="""
Imports are relative to the importing file, so that a program means the same on every machine.""",
    wrong="""
import "/lib/my.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

IMPORT_PARENT = Row(
    "E0224",
    message="an import stays below the folder of its file, and `{path}` leaves it",
    label="leads out of the folder",
    hint="move the file below this one's folder",
    explanation="""
An import may not climb with `..`: a program cannot reach files outside its own folder.""",
    wrong="""
import "../secret.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

IMPORT_MISSING = Row(
    "E0225",
    message="the imported file `{path}` cannot be read",
    label="{reason}",
    hint="the path is relative to the folder of the importing file",
    explanation="""
The file does not exist beside the importing file, or it may not be read. Only `.ph` files are imported.""",
    wrong="""
import "no_such_file.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

NOT_UTF8 = Row(
    "E0226",
    message="`{path}` is not UTF-8 text (byte {offset})",
    label="",
    hint="save the file as UTF-8",
    explanation="""
Source files are UTF-8. The first byte that is not is given by its offset; the file's content is not shown.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

CANNOT_READ = Row(
    "E0227",
    message="`{path}` cannot be read: {reason}",
    label="",
    hint=None,
    explanation="""
The file given does not exist, is a folder, or may not be read.""",
    wrong="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

IMPORT_CONFLICT = Row(
    "E0228",
    message="`{name}` comes from both `{first}` and `{second}`",
    label="the second import",
    hint="rename one of them, or begin its name with `_` to keep it private",
    explanation="""
Two imported files may not both define a public name of one kind and number of arguments.""",
    wrong="""
import "lib/one.ph"
import "lib/two.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = shared(A[:])
}""",
    right="""
import "lib/one.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = shared(A[:])
}""",
)

PRIVATE_NAME = Row(
    "E0229",
    message="`{name}` is private to `{path}`",
    label="not visible here",
    hint="define your own, or use what the file offers",
    explanation="""
A name that begins with `_` belongs to its own file.""",
    wrong="""
import "lib/private.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = _hidden(A[:])
}""",
    right="""
import "lib/private.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = shown(A[:])
}""",
)

DIM_AND_TENSOR = Row(
    "E0230",
    message="`{name}` is both a dim and a parameter",
    label="a dim here",
    hint="rename one of them",
    explanation="""
The dims that a tensor's type names are values of the kernel, so that they share a name space with its parameters.
In a function's types a parameter may stand for a dim, unless the function assigns it.""",
    wrong="""
kernel k(A: tensor<f32>[M], M: tensor<f32>[8]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M], Mean: tensor<f32>[8]) {
  A[:] = Mean[0]
}""",
)

CONST_CYCLE = Row(
    "E0231",
    message="the constant `{name}` depends on itself: {cycle}",
    label="this use closes the circle",
    hint=None,
    explanation="""
A `const` is computed from literals and other constants, never from itself.""",
    wrong="""
const A = B + 1
const B = A * 2

kernel k(X: tensor<f32>[M]) {
  X[:] = f32(A)
}""",
    right="""
const A = B + 1
const B = 2

kernel k(X: tensor<f32>[M]) {
  X[:] = f32(A)
}""",
)

UNKNOWN_TYPE = Row(
    "E0232",
    message="`{name}` is not an element type",
    label="not known",
    hint="the types are {known}",
    explanation="""
Values are `f32`, `i32`, `u32` or `bool`; tensors also hold `f16`, `bf16`, `i8`, `u8` and, for reading, `i64`. A
type variable is declared on the kernel: `kernel k<T: f32|f16>(...)`.""",
    wrong="""
kernel k(A: tensor<f64>[M]) {
  A[:] = 0.0
}""",
    right="""
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}""",
)

NOT_A_TENSOR = Row(
    "E0233",
    message="`@disjoint` names tensors of the kernel, and `{name}` is none",
    label="not a tensor parameter",
    hint=None,
    explanation="""
`@disjoint(A)` promises that blocks never write one element of `A` twice, nor read what another writes.""",
    wrong="""
@disjoint(n)
kernel k(A: tensor<f32>[M], n: i32) {
  A[n] = 0.0
}""",
    right="""
@disjoint(A)
kernel k(A: tensor<f32>[M], n: i32) {
  A[n] = 0.0
}""",
)
