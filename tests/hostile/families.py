"""Kernels that grow with a number: deep chains in which every step uses the last one more than once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_TENSORS = "A: tensor<f32>[M, N], C: tensor<f32>[M], T: tensor<i32>[M], B: tensor<f32>[M, N], s: f32, n: i32"


def _rows(body: str, store: str = "B[r :+ 8, :] = x", start: str = "var x = A[r :+ 8, :]") -> str:
    return (
        f"kernel k({_TENSORS}) {{\n  let r = ctx.block.x * 8\n  {start}\n"
        f"  let c = C[r :+ 8, new]\n  let t = T[r :+ 8, new]\n{body}\n  {store}\n}}\n"
    )


def _links(link: str, **frame: str) -> Callable[[int], str]:
    """A chain of `link`, in which `#` stands for the number of the step."""
    return lambda count: _rows("\n".join("  " + link.replace("#", str(step)) for step in range(count)), **frame)


def _nested(opening: str, inner: str, closing: str = "}") -> Callable[[int], str]:
    def text(count: int) -> str:
        opened = "\n".join(opening.replace("#", str(step)) for step in range(count))
        return _rows(f"{opened}\n{inner}\n" + f"{closing}\n" * count)

    return text


def _functions(first: str, step: str) -> Callable[[int], str]:
    def text(count: int) -> str:
        steps = [first, *(step.replace("#", str(n + 1)).replace("@", str(n)) for n in range(count))]
        return "\n".join(steps) + "\n" + _rows(f"  x = f{count}(x)")

    return text


def _extents(start: str, step: str) -> Callable[[int], str]:
    def text(count: int) -> str:
        steps = [f"let e{n + 1} = {step.replace('@', f'e{n}')}" for n in range(count)]
        body = "\n  ".join([f"let e0 = {start}", *steps])
        return (
            "kernel k(A: tensor<f32>[M, N, K], B: tensor<f32>[M, N, K], n: i32) {\n"
            f"  {body}\n  B[:, :, :] = A[:, :, :] * f32(e{count})\n  B[0, 0, e{count}] = 1.0\n}}\n"
        )

    return text


_COLUMN: dict[str, str] = {
    "start": "let x = A[r :+ 8, :]\n  var y = C[r :+ 8, new]",
    "store": "B[r :+ 8, :] = x * y",
}
_GRADIENT: dict[str, str] = {"start": "let x0 = A[r :+ 8, :]\n  var x = x0", "store": "B[r :+ 8, :] = grad(x, x0)"}

FAMILIES: Mapping[str, Callable[[int], str]] = {
    "elementwise": _links("x = x * x + x"),
    "calls of built-ins": _links("x = max(exp(x), x * tanh(x))"),
    "where by a column": _links("x = where(c > #.0, x, x * 2.0 + A[r :+ 8, :])"),
    "where by a column, both sides": _links("x = where(c > #.0, x * 3.0, x * 2.0)"),
    "where by a scalar": _links("x = where(s > #.0, x * 3.0, x * 2.0)"),
    "where by a scalar, other reads": _links("x = where(s > #.0, x + A[r + # :+ 8, :], x * 2.0)"),
    "where by a tile": _links("x = where(x > #.0, x * 3.0, x * 2.0)"),
    "where by a reduced row": _links("x = where(rowsum(x) > #.0, x * 3.0, x * 2.0)"),
    "where of columns": _links("y = where(t == #, y * 2.0, y + c)", **_COLUMN),
    "where of scalars": _links("y = where(n == #, y * 2.0, y + C[#])", start="let x = A[r :+ 8, :]\n  var y = s",
                               store="B[r :+ 8, :] = x * y"),
    "ifs": _links("if s > #.0 { x = x * 2.0 } else { x = x + x * 3.0 }"),
    "ifs without else": _links("if s > #.0 { x = x * 2.0 + x }"),
    "ifs by a value": _links("if s > #.0 { s1 = s1 * 2.0 + s1 } else { s1 = s1 + C[#] }",
                             start="let x = A[r :+ 8, :]\n  var s1 = s", store="B[r :+ 8, :] = x * s1"),
    "ifs by the value itself": _links("if s1 > #.0 { s1 = s1 * 2.0 + s1 } else { s1 = s1 + 1.0 }",
                                      start="let x = A[r :+ 8, :]\n  var s1 = s", store="B[r :+ 8, :] = x * s1"),
    "ifs with reductions": _links("if s > #.0 { x = x - rowmax(x) } else { x = x + rowsum(x) }"),
    "ifs with stores": _links("if s > #.0 { B[r :+ 8, :] = x * #.0 }"),
    "nested ifs": _nested("if s > #.0 {", "x = x * 2.0"),
    "nested ifs with else": _nested("if s > #.0 {", "x = x * 2.0", "} else { x = x + x }"),
    "nested loops": _nested("for i# in range(0, 2) {", "x = x * 2.0"),
    "nested loops of any length": _nested("for i# in range(0, n) {", "x = x * 2.0"),
    "nested whiles": _nested("while s > #.0 {", "x = x * 2.0"),
    "loops": _links("for i in range(0, n) { x = x * 2.0 + x }"),
    "loops with reductions": _links("for i in range(0, n) { x = x - rowmax(x) }"),
    "loops of chunks": _links("for i in range(0, N, 64) { y += rowsum(A[r :+ 8, i :+ 64]) }",
                              start="let x = A[r :+ 8, :]\n  var y = C[r :+ 8, new]", store="B[r :+ 8, :] = x * y"),
    "whiles": _links("while amax(C[0:]) > #.0 { x = x * 2.0 }"),
    "breaks": lambda count: _rows("for i in range(0, n) {\n"
                                  + "\n".join(f"if s > {n}.0 {{ break }}\nx = x * 2.0" for n in range(count)) + "\n}"),
    "returns": _links("if s > #.0 { return }\n  x = x + x"),
    "rowmax": _links("x = x - rowmax(x)"),
    "rowsum and rowmax": _links("x = x * rowsum(x) - rowmax(x)"),
    "softmax": _links("x = softmax(x)"),
    "logsumexp": _links("x = x - logsumexp(x)"),
    "rowmean and rowvar": _links("x = (x - rowmean(x)) * rsqrt(rowvar(x) + 0.1)"),
    "reductions of columns": _links("y = y + rowsum(x * y)", **_COLUMN),
    "reductions that agree": _links("y = y + rowsum(x * #.0)", **_COLUMN),
    "colsum": _links("x = x - colsum(x)"),
    "sums": _links("x = x - sum(x)"),
    "argmax": _links("x = where(iota(1) == rowargmax(x), 0.0, x)"),
    "picks": _links("x = x - pick(x, t + #)"),
    "picks in picks": _links("x = x - pick(x, i32(pick(x, t)))"),
    "picks of picks": _links("y = y + pick(x * y, t)", **_COLUMN),
    "one-hot rows": _links("x = x + onehot(t + #, N) * x"),
    "pads": _links("x = pad(x, #.0) * x"),
    "fills": _links("x = x + A[r + # :+ 8, :] else s"),
    "ragged updates": _links("y = y + A[r + # :+ 8, :]", start="let x = A[r :+ 8, :]\n  var y = A[r :+ 8, :]",
                             store="B[r :+ 8, :] = x * y"),
    "ragged reductions": _links("x = x - rowmax(A[r :+ 8, # :+ 64] + c)"),
    "columns and rows": _links("x = x[:, :] + c[:, :] * x"),
    "stores": _links("B[r :+ 8, # :+ 1] = c * c"),
    "stores of rows": lambda count: "kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {\n"
    + "\n".join(f"  B[{n}, :] = A[{n}, :]" for n in range(count)) + "\n}\n",
    "stores and reads": _links("B[r :+ 8, :] = B[r :+ 8, :] * 2.0 + x"),
    "stores and shifted reads": _links("B[r :+ 8, :] = A[r :+ 8, :] + rowsum(B[r :+ 8, # :+ 4])"),
    "stores of points": lambda count: "kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {\n"
    + "\n".join(f"  B[0, {n}] = A[0, {n}] + B[0, {n + 1}]" for n in range(count)) + "\n}\n",
    "stores of old values": _links("let y# = B[r :+ 8, :]\n  B[r :+ 8, :] = x + y# * #.0"),
    "stores over what was read": lambda count: _rows("\n".join(
        [f"  let y{n} = B[r :+ 8, {n} :+ 4]" for n in range(count)]
        + [f"  B[r :+ 8, {n + 1} :+ 4] = y{n}" for n in range(count)]), store=""),
    "points of points": _links("i = i + T[i]", start="let x = A[r :+ 8, :]\n  var i = n",
                               store="B[r :+ 8, :] = x * f32(i)"),
    "starts of starts": _links("i = i + T[i]", start="var i = n", store="B[r :+ 8, :] = A[i :+ 8, :]"),
    "starts": _links("x = x + A[r + n * # :+ 8, :]"),
    "shapes": lambda count: "\n".join(
        ["kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {", "  var x = A[0, 0]"]
        + [f"  x = x + sum(A[{n} : div(M, {n + 2}), {n} : N - {n}])" for n in range(count)] + ["  B[0, 0] = x", "}"]),
    "functions, each calling the last": _functions("fn f0(x) = x + x", "fn f#(x) = f@(x) * 2.0 + x"),
    "functions, each calling the last twice": _functions("fn f0(x) = x + x", "fn f#(x) = f@(f@(x))"),
    "functions with two arguments": lambda count: "\n".join(
        ["fn f0(a, b) = a + b", *(f"fn f{n + 1}(a, b) = f{n}(a * b, a + b)" for n in range(count))]
    ) + "\n" + _rows(f"  x = f{count}(x, x)"),
    "out parameters": lambda count: "\n".join(
        ["fn f0(o, x) { o = x + x }", *(f"fn f{n + 1}(o, x) {{ f{n}(o, x)\n o = o * x }}" for n in range(count))]
    ) + "\n" + _rows(f"  f{count}(x, c)"),
    "functions with early returns": lambda count: "\n".join(
        ["fn f0(o, x) { o = x + x }",
         *(f"fn f{n + 1}(o, x) {{ if s0() > {n}.0 {{ return }}\n f{n}(o, x)\n o = o * x }}" for n in range(count)),
         "fn s0() = 1.0"]
    ) + "\n" + _rows(f"  f{count}(x, c)"),
    "integers": _links("i = i * i + div(i, 3) % 7", start="let x = A[r :+ 8, :]\n  var i = n",
                       store="B[r :+ 8, :] = x * f32(i)"),
    "conditions": _links("b = (b && c > #.0) || (b && s > #.0)",
                         start="let x = A[r :+ 8, :]\n  var b = T[r :+ 8, new] > 0",
                         store="B[r :+ 8, :] = where(b, x, 0.0)"),
    "constants": lambda count: "const K0 = 3\n"
    + "".join(f"const K{n + 1} = K{n} * K{n} + K{n}\n" for n in range(count)) + _rows(f"  x = x * f32(K{count})"),
    "float constants": lambda count: "const K0 = 3.0\n"
    + "".join(f"const K{n + 1} = K{n} * K{n} + K{n}\n" for n in range(count)) + _rows(f"  x = x * K{count}"),
    "extents: squares": _extents("M + N", "@ * @"),
    "extents: sums": _extents("M + N", "@ + @"),
    "extents: products of sums": _extents("M + N + K", "@ * (M + N + K)"),
    "extents: min": _extents("M + N", "min(@, N) + min(@, K)"),
    "extents: max": _extents("M", "max(@ - 3, N) * max(@, K)"),
    "extents: quotients": _extents("M + N", "div(@, 3) + ceildiv(@, 5) * N"),
    "extents: remainders": _extents("M + N", "(@ + 1) % 7 * @"),
    "extents: scalars": _extents("n", "@ * @ + n"),
    "gradient of elementwise": _links("x = x * x + tanh(x)", **_GRADIENT),
    "gradient of where by a column": _links("x = where(c > #.0, x * 3.0, x * x)", **_GRADIENT),
    "gradient of where by a tile": _links("x = where(x > #.0, x * 3.0, x * x)", **_GRADIENT),
    "gradient of products": _links("x = x * exp(x) * (x + 1.0)", **_GRADIENT),
    "gradient of quotients": _links("x = x / (1.0 + x * x)", **_GRADIENT),
    "gradient of max": _links("x = max(x * 2.0, x * x)", **_GRADIENT),
    "gradient of clamp": _links("x = clamp(x, -1.0, 1.0) * x", **_GRADIENT),
    "gradient of pow": _links("x = pow(x, 3.0) + pow(2.0, x)", **_GRADIENT),
    "gradient of rowsum": _links("x = x - rowsum(x) * x", **_GRADIENT),
    "gradient of rowmax": _links("x = x - rowmax(x)", **_GRADIENT),
    "gradient of rowprod": _links("x = x - rowprod(x)", **_GRADIENT),
    "gradient of logsumexp": _links("x = x - logsumexp(x)", **_GRADIENT),
    "gradient of softmax": _links("x = softmax(x)", **_GRADIENT),
    "gradient of layer norm": _links("x = (x - rowmean(x)) * rsqrt(rowvar(x) + 0.1)", **_GRADIENT),
    "gradient of pick": _links("x = x * pick(x, t)", **_GRADIENT),
    "gradient of ifs": _links("if s > #.0 { x = x * 2.0 } else { x = x * x }", **_GRADIENT),
    "gradient of ifs by the value": _links("if sum(x) > #.0 { x = x * 2.0 } else { x = x * x }", **_GRADIENT),
    "gradient of loops": _links("for i in range(0, 3) { x = x * x }", **_GRADIENT),
    "gradient of nested loops": lambda count: _rows(
        "".join(f"for i{n} in range(0, 2) {{\n" for n in range(count)) + "x = x * x\n" + "}\n" * count, **_GRADIENT),
    "gradient of accumulation": _links("for i in range(0, 3) { y += rowsum(x0 * f32(i)) * y }",
                                       start="let x0 = A[r :+ 8, :]\n  var y = C[r :+ 8, new]",
                                       store="B[r :+ 8, :] = grad(y, x0)"),
    "gradient of gradients": lambda count: _rows(
        "\n".join(f"  let g{n + 1} = grad(g{n}, x)" for n in range(count)),
        start="let x = A[r :+ 8, :]\n  let g0 = exp(x) * x * sin(x)", store=f"B[r :+ 8, :] = g{count}"),
    "gradient of gradients of rows": lambda count: _rows(
        "\n".join(f"  let g{n + 1} = grad(g{n}, x)" for n in range(count)),
        start="let x = A[r :+ 8, :]\n  let g0 = softmax(x) * x", store=f"B[r :+ 8, :] = g{count}"),
    "many gradients": lambda count: _rows(
        "\n".join(f"  y = y + grad(x * x * {n}.0 + y, x)" for n in range(count)),
        start="let x = A[r :+ 8, :]\n  var y = x * x", store="B[r :+ 8, :] = y"),
    "parameters": lambda count: "kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N], "
    + ", ".join(f"p{n}: f32 = {n}.0" for n in range(count)) + ") {\n  B[:, :] = A[:, :] * ("
    + " + ".join(f"p{n}" for n in range(count)) + ")\n}\n",
    "dims": lambda count: "kernel k(A: tensor<f32>[M], B: tensor<f32>[M], " + ", ".join(
        f"T{n}: tensor<f32>[D{n}, E{n}]" for n in range(min(count, 6))) + ") {\n  B[:] = A[:]\n}\n",
    "alternatives": lambda count: "kernel k(" + ", ".join(
        f"T{n}: tensor<f32|f16|bf16>[M]" for n in range(min(count, 7))) + ") {\n  T0[:] = T0[:]"
    + "".join(f" + T{n}[:]" for n in range(1, min(count, 7))) + "\n}\n",
    "kernels": lambda count: "\n".join(_rows("").replace("kernel k(", f"kernel k{n}(" if n else "kernel k(")
                                       for n in range(count)),
    "bf16 stores": lambda count: "kernel k(A: tensor<f32>[M, N], B: tensor<bf16>[M, N]) {\n  let r = ctx.block.x * 8\n"
    + "\n".join(f"  B[r :+ 8, :] = B[r :+ 8, :] + A[r :+ 8, :] * {n}.0" for n in range(count)) + "\n}\n",
    "bf16 points": lambda count: "kernel k(A: tensor<f32>[M, N], B: tensor<bf16>[M, N]) {\n"
    + "\n".join(f"  B[{n}, {n + 1}] = A[{n}, 1] * {n}.0" for n in range(count)) + "\n}\n",
}  # fmt: skip
