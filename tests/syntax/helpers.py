"""Parsing in tests, and trees as short text."""

from __future__ import annotations

from tilec.diag.report import Diagnostic, Reporter
from tilec.source import Source
from tilec.syntax import ast
from tilec.syntax.parse import parse

KERNEL = """\
/// Mean and hit of each row.
@grid(ceildiv(M, 8))
@disjoint(Loss)
kernel score<T: f32|f16>(Logits: tensor<T>[M, V], Target: tensor<i32|i64>[M],   // one class a row
                         /// The result.
                         Loss: tensor<f32>[M, 1], alpha: f32 = 0.5, const limit: i32 = -1) {
  require M > 0 && V != 0, "nothing to score"
  let r = ctx.block.x * 8; let t = Target[r :+ 8, new]
  var acc: tile<f32>[8, 1] = 0.0
  for c in range(0, V, 512) {
    acc += rowsum(Logits[r :+ 8, c :+ 512] else -1.5e3)
    if limit > 0 && c > limit { break } else if c == 7 {
      continue
    }
    else {
      acc *= 1.0
    }
  }
  while false || !true { return }
  blend(Loss[r :+ 8, :], acc, where(t == 0x1f, acc[:, :], alpha *
        2_000.0), weight: 0.25,)
}

fn blend(out, a, b, weight = 0.5) {
  out = weight * a + (1.0 - weight) * b
}
fn half(x) = x / 2.0
const N: i32 = 3
import "lib/more.ph"
"""


def parse_text(text: str, name: str = "test.ph") -> tuple[ast.File, tuple[Diagnostic, ...]]:
    reporter = Reporter()
    return parse(Source(name, text), reporter), reporter.diagnostics


def parse_clean(text: str) -> ast.File:
    file, diagnostics = parse_text(text)
    assert not diagnostics, [str(diagnostic) for diagnostic in diagnostics]
    return file


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in parse_text(text)[1]]


def places(text: str) -> list[str]:
    """`CODE line:column` of each diagnostic."""
    found = []
    for diagnostic in parse_text(text)[1]:
        line, column = diagnostic.span.source.line_column(diagnostic.span.start)
        found.append(f"{diagnostic.code} {line}:{column}")
    return found


def statements(text: str) -> tuple[ast.Statement, ...]:
    (kernel,) = parse_clean(f"kernel k() {{\n{text}\n}}").items
    assert isinstance(kernel, ast.Kernel)
    return kernel.body


def expression(text: str) -> str:
    (statement,) = statements(f"let it = {text}")
    assert isinstance(statement, ast.Let)
    return show(statement.value)


def statement(text: str) -> str:
    return " ".join(show(one) for one in statements(text))


def show(node: ast.Node | tuple | None) -> str:
    """A tree as an S-expression."""
    if node is None:
        return "_"
    if isinstance(node, tuple):
        return "{" + " ".join(map(show, node)) + "}"
    name = type(node).__name__.lower()
    if isinstance(node, ast.Node) and type(node) in _SHORT:
        return _SHORT[type(node)](node)
    parts = []
    for field in node.__match_args__[1:]:
        value = getattr(node, field)
        if field == "function_span" or value in ("", False, ()):
            continue
        parts.append(show(value) if isinstance(value, ast.Node | tuple) or value is None else str(value))
    return f"({' '.join([name, *parts])})"


def _subscripts(node: ast.Index) -> str:
    fill = f" else {show(node.fill)}" if node.fill is not None else ""
    return f"{show(node.value)}[{', '.join(map(show, node.subscripts))}]{fill}"


_SHORT = {
    ast.Number: lambda node: repr(node.value),
    ast.Bool: lambda node: str(node.value).lower(),
    ast.String: lambda node: repr(node.value),
    ast.Name: lambda node: node.name,
    ast.Attribute: lambda node: f"{show(node.value)}.{node.name}",
    ast.Unary: lambda node: f"({node.op} {show(node.operand)})",
    ast.Binary: lambda node: f"({node.op} {show(node.left)} {show(node.right)})",
    ast.Argument: lambda node: show(node.value) if node.name is None else f"{node.name}: {show(node.value)}",
    ast.Call: lambda node: f"{node.function}({', '.join(map(show, node.arguments))})",
    ast.Point: lambda node: show(node.index),
    ast.Range: lambda node: f"{show(node.start)}:{show(node.stop)}",
    ast.Count: lambda node: f"{show(node.start)}:+{show(node.count)}",
    ast.NewAxis: lambda node: "new",
    ast.Index: _subscripts,
    ast.Assign: lambda node: f"({node.op} {show(node.place)} {show(node.value)})",
    ast.CallStatement: lambda node: f"(do {show(node.call)})",
}
