"""Rows E02: names, definitions, calls, imports, attributes."""

from tilec.diag.row import Row

UNKNOWN_NAME = Row(
    "E0201",
    message="`{name}` is not defined",
    label="no such name here",
    hint=None,
    explanation="""
A name is a `let`, a `var`, a parameter, a dim of a tensor's type, a loop's counter or a `const` of the file. It is visible
from its definition to the end of its block.""",
    wrong="""
kernel k(Logits: tensor<f32>[M, V], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, :] = rowmax(y)
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
A call names a function of the file, of an imported file, of std, or a built-in operation. `tilec` suggests the nearest
name where one is near.""",
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
Only `ctx.block.x`, `.y` and `.z` are written with a point. What other languages write as a method is a function here:
`extent(x, 1)`, `sum(x)`.""",
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

WRONG_ARITY = Row(
    "E0207",
    message="`{name}` takes {expected}, and {given} given",
    label="{given} here",
    hint=None,
    explanation="""
A call is resolved by the number of its arguments. The message lists what exists, also where several functions share the
name.""",
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
    message="the call of `{function}` gives nothing for `{name}`",
    label="`{name}` has no default",
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

OVERLAPPING_ARITY = Row(
    "E0212",
    message="two functions `{name}` both take {arity}",
    label="the second definition",
    hint="change the number of parameters or the defaults, or rename one",
    explanation="""
Functions of one name are told apart by the number of arguments alone. A default makes a function callable with fewer:
`f(x, a = 1.0)` takes one or two, and cannot stand beside `f(x)`.""",
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

OUT_NEEDS_PLACE = Row(
    "E0217",
    message="`{function}` assigns to its parameter `{parameter}`, and `{text}` is not a place",
    label="give a `var` or a tensor span",
    hint=None,
    explanation="""
A parameter that the body of a function assigns is an out parameter. Its argument is where the result goes: a `var`, a
tensor span (`Loss[r :+ 8, :]`), or the caller's own out parameter.""",
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

IMPORT_ABSOLUTE = Row(
    "E0223",
    message="an import is relative to its file, and `{path}` is absolute",
    label="absolute path",
    hint="write the path from this file's folder: `import \"lib/my.ph\"`",
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
    label="`..` is not allowed",
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
The dims that a tensor's type names are values of the kernel, so that they share a name space with its parameters.""",
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
Values are `f32`, `i32`, `u32` or `bool`; tensors also hold `f16`, `bf16`, `i8`, `u8` and, for reading, `i64`. A type
variable is declared on the kernel: `kernel k<T: f32|f16>(...)`.""",
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

WHOLE_TENSOR_MISUSE = Row(
    "E0234",
    message="`{function}` uses its parameter `{parameter}` as a value, and a whole tensor is passed",
    label="`{name}` is a tensor",
    hint="read it: `{name}[{subscripts}]`",
    explanation="""
A tensor may be passed whole to a function only where the body subscripts it. A value is read with a subscript first.""",
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
