"""What is said about mistakes, and where."""

import pytest

from tests.syntax.helpers import codes, parse_text, places


def in_kernel(text: str) -> list[str]:
    return places(f"kernel k() {{\n{text}\n}}")


def message(text: str) -> str:
    (diagnostic,) = parse_text(f"kernel k() {{\n{text}\n}}")[1]
    return f"{diagnostic.message} | {diagnostic.hint}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1 +", ["E0101 2:8"]),
        ("x = ", ["E0101 2:4"]),
        ("x = (a", ["E0106 2:5"]),
        ("x = a)", ["E0107 2:6"]),
        ("x = f(a]", ["E0107 2:8"]),
        ("x = f(a[0)", ["E0106 2:8"]),
        ("x = A[(0]", ["E0106 2:7"]),
        ("x = a b", ["E0119 2:7"]),
        ("x = 1 y = 2", ["E0119 2:7"]),
        ("x == 1", ["E0112 2:1"]),
        ("A[0]", ["E0112 2:1"]),
        ("-f(x)", ["E0112 2:1"]),
        ("(f(x))", ["E0112 2:1"]),
        ("x = y = 1", ["E0115 2:7"]),
        ("f(a = 1)", ["E0115 2:5"]),
        ("a + b = 1", ["E0116 2:1"]),
        ("A[0][1] = 1", ["E0116 2:1"]),
        ("(A)[0] = 1", ["E0116 2:1"]),
        ("(x) = 1", ["E0116 2:1"]),
        ("1 = x", ["E0116 2:1"]),
        ("x = a < b < c", ["E0111 2:11"]),
        ("x = a == b != c", ["E0111 2:12"]),
        ("x = a < b < c < d", ["E0111 2:11"]),
        ("x = a\n+ b", ["E0110 3:1"]),
        ("x = a\n- b", ["E0110 3:1"]),
        ("x = a\n  && b", ["E0110 3:3"]),
        ("x\n= a", ["E0110 3:1"]),
        ("x = f(a)\n  .b", ["E0110 3:3"]),
        ("if a\n{\n x = 1\n}", ["E0109 3:1"]),
        ("if a {\n x = 1\n}\nelse\n{\n x = 1\n}", []),
        ("{\n x = 1\n}", ["E0109 2:1"]),
        ("if a x = 1", ["E0135 2:6"]),
        ("for i in range(0, 1)", ["E0135 2:21"]),
        ("while a", ["E0135 2:8"]),
        ("if a { } else x = 1", ["E0135 2:15"]),
        ("else { }", ["E0136 2:1"]),
        ("x = 1\nelse { }", ["E0136 3:1"]),
        ("x = a ? b : c", ["E0117 2:7"]),
        ("x = a & b", ["E0117 2:7"]),
        ("x = a | b", ["E0117 2:7"]),
        ("x = a ** 2", ["E0117 2:7"]),
        ("x := 2", ["E0117 2:3"]),
        ("x %= 2", ["E0117 2:3"]),
        ("x = not a", ["E0118 2:5"]),
        ("x = a or b", ["E0118 2:7"]),
        ("if a { }\nelif b { }", ["E0118 3:1"]),
        ("let if = 1", ["E0108 2:5"]),
        ("x = in + 1", ["E0108 2:5"]),
        ("f(new: 1)", ["E0101 2:3"]),
        ("x = new", ["E0108 2:5"]),
        ("x = if a { b }", ["E0101 2:5"]),
        ("let x", ["E0101 2:6"]),
        ("let x += 1", ["E0101 2:7"]),
        ("let x: 3 = 1", ["E0101 2:8"]),
        ("let x: tensor = 1", ["E0122 2:8"]),
        ("let x: tile[8] = 1", ["E0122 2:8"]),
        ("let x: tile<f32> = 1", ["E0121 2:8"]),
        ("let x: matrix<f32>[8] = 1", ["E0232 2:8"]),
        ("x = .5", ["E0104 2:5"]),
        ("x = 1.", ["E0104 2:5"]),
        ("x = 1.e5", ["E0104 2:5"]),
        ("x = 1..2", ["E0105 2:5"]),
        ("x = 0x", ["E0105 2:5"]),
        ("x = 0xg", ["E0105 2:5"]),
        ("x = 1__0", ["E0105 2:5"]),
        ("x = 1_", ["E0105 2:5"]),
        ("x = 12abc", ["E0105 2:5"]),
        ("x = 1e", ["E0105 2:5"]),
        ("x = " + "9" * 5000, ["E0325 2:5"]),
        ('x = "text"', ["E0123 2:5"]),
        ('x = "text', ["E0103 2:5"]),
        ('f("text)', ["E0103 2:3"]),
        ("x = 'text'", ["E0102 2:5", "E0102 2:10"]),
        ("x = a # why", ["E0102 2:7"]),
        ("x = a /* why */", ["E0138 2:7"]),
        ("require a > 0", ["E0133 2:14"]),
        ("require (a > 0", ["E0106 2:9"]),
        ("require a > 0, b", ["E0101 2:16"]),
        ("f(a: 1, 2)", ["E0120 2:9"]),
        ("f(a: 1, a: 2)", ["E0209 2:9"]),
        ("f(a,, b)", ["E0101 2:5"]),
        ("f(, b)", ["E0101 2:3"]),
        ("A[] = 1", ["E0128 2:2"]),
        ("A[0 : 1 : 2] = 1", ["E0101 2:9"]),
        ("A[0] else 1 = 1", ["E0134 2:11"]),
        ("for i in x { }", ["E0129 2:10"]),
        ("for i in range(3) { }", ["E0130 2:10"]),
        ("for i in range(0, 3, step: 1) { }", ["E0130 2:10"]),
        ("for i = 0 { }", ["E0101 2:7"]),
        ("break", ["E0127 2:1"]),
        ("if a { continue }", ["E0127 2:8"]),
        ("return 1", ["E0126 2:8"]),
        ("  const a = 1", ["E0114 2:3"]),
        ("x = a.sum()", ["E0139 2:5"]),
        ("x = f(a)(b)", ["E0101 2:9"]),
        ("/// lost\nx = 1", ["W0101 2:1"]),
        ("x = 1 /// lost", ["W0101 2:7"]),
        ("  @threads(1)\n  x = 1", ["E0114 2:3"]),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    assert in_kernel(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let x = 1", ["E0113 1:1"]),
        ("x = 1\ny = 2\nconst A = 1", ["E0113 1:1"]),
        ("def f(x) { }", ["E0118 1:1"]),
        ("kernel", ["E0101 1:7"]),
        ("kernel k", ["E0101 1:9"]),
        ("kernel k(", ["E0106 1:9"]),
        ("kernel k()", ["E0135 1:11"]),
        ("kernel k() {", ["E0106 1:12"]),
        ("kernel k()\n{ }", ["E0109 2:1"]),
        ("kernel k(A) { }", ["E0132 1:10"]),
        ("kernel k(const A: tensor<f32>[M]) { }", ["E0137 1:10"]),
        ("kernel k(A: tensor<>[M]) { }", ["E0101 1:20"]),
        ("kernel k<T>(A: tensor<T>[M]) { }", ["E0101 1:11"]),
        ("fn f(x)", ["E0135 1:8"]),
        ("fn f(x) =", ["E0101 1:10"]),
        ("fn f(x) -> f32 { }", ["E0117 1:9"]),
        ("fn f(x) = x }", ["E0107 1:13"]),
        ("fn f(x) { return x; let y = 1 }", ["E0124 1:11"]),
        ("fn f(x) { if x { return x } }", ["E0124 1:18"]),
        ("fn f(x) { if x { return }\n return x }", ["E0125 1:18"]),
        ("@threads(1)\nfn f(x) = x", ["E0131 1:1"]),
        ("@threads(1)", ["E0131 1:1"]),
        ("import lib", ["E0101 1:8"]),
        ("/// lost", ["W0101 1:1"]),
        ('/// lost\nimport "a.ph"', ["W0101 1:1"]),
        ("fn f(/// lost\n) = 1", ["W0101 1:6"]),
        ("fn new(x) = x", ["E0108 1:4"]),
        ("const A = 1 const B = 2", ["E0119 1:13"]),
        ("}", ["E0107 1:1"]),
        (")", ["E0107 1:1"]),
        (";", []),
    ],
)
def test_items(text: str, expected: list[str]) -> None:
    assert places(text) == expected


def test_hints_name_the_fix() -> None:
    assert message("x = a < b < c").endswith("write `a < b && b < c`")
    assert message("x = .5e3").endswith("write `0.5e3`")
    assert message("x = 1.e3").endswith("write `1.0e3`")
    assert message("x = 1.0f").endswith("write `1.0`")
    assert message("x = 1f").endswith("write `1.0`")
    assert message("x = 1u").endswith("write `u32(1)`")
    assert message("x = 0..8").endswith("`range(0, 8)`")
    assert message("x = a.sum()").endswith("`sum(a)` of everything")
    assert "`where(condition, a, b)`" in message("x = if a { b }")
    assert message("x = a and b").endswith("write `&&`")
    assert message("x = 2\u00d73").endswith("write `*`")


def test_expectations_are_in_words() -> None:
    assert message("let = 1").startswith("expected a name, found `=`")
    assert message("x = * 2").startswith("expected an expression, found `*`")
    assert message("x = A[*]").startswith("expected a subscript or `]`, found `*`")
    assert message("let x 1").startswith("expected `:` or `=`, found `1`")
    assert message("x = f(1;2)").startswith("expected `)`, `,` or an operator, found `;`")


def test_a_broken_item_is_named() -> None:
    file, diagnostics = parse_text("fn f(x) = x +\n\nfn g(x) = x\nkernel k() { x = }\nconst A = *")
    assert [diagnostic.code for diagnostic in diagnostics] == ["E0101", "E0101", "E0101"]
    assert [item.name.name for item in file.items] == ["g"]
    assert file.broken == {"f", "k", "A"}


def test_every_independent_error_is_reported() -> None:
    text = """\
fn f(x) = x +
fn g(x) {
  let a = max(x, 1.0
  let b = x ** 2
  if x = 1 {
    y = .5
    while x {
      y == 2
    }
  }
  return a
}
const = 3
kernel k(A: tensor<f32>[M], b) {
  A[:] = 1.0 2.0
  for i in range(3) { let new = 2 }
}
"""
    assert places(text) == [
        "E0101 1:14",
        "E0106 3:14",
        "E0117 4:13",
        "E0115 5:8",
        "E0104 6:9",
        "E0112 8:7",
        "E0101 13:7",
        "E0132 14:29",
        "E0101 15:14",
        "E0130 16:12",
        "E0108 16:27",
    ]


def test_unclosed_brackets_end_at_the_next_statement_or_item() -> None:
    assert places("fn f(x) = max(x,\nfn g(x) = x\n") == ["E0106 1:14"]
    assert places("kernel k() {\n  x = f(a,\n  return\n}\n") == ["E0106 2:8"]
    assert places("kernel k(a: f32 {\n  x = 1\n}\n") == ["E0106 1:9"]
    assert places("kernel k() {\n  if a {\n    x = 1\n}\n\nkernel m() {\n}\n") == ["E0106 2:8"]
    assert places("kernel k() {\n  x = 1\n\nkernel m() {\n}\n") == ["E0106 1:12"]


def test_a_missing_brace_is_one_error() -> None:
    assert places("kernel k()\n  x = 1\n  y = 2\n}\n") == ["E0135 1:11"]
    assert places("kernel k() {\n  if a\n    x = 1\n  }\n  y = 2\n}\n") == ["E0135 2:7"]
    assert places("kernel k() {\n  x = 1\n  }\n  y = 2\n}\n") == ["E0113 4:3"]
    assert codes("kernel k() {\n  kernel m() {\n  }\n}\n") == ["E0114"]
