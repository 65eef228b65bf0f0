"""Every construct of the language, as a tree."""

import pytest

from tests.syntax.helpers import KERNEL, expression, parse_clean, show, statement
from tilec.syntax import ast


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1", "1"),
        ("0x1f", "31"),
        ("1_000", "1000"),
        ("1.0", "1.0"),
        ("1e-6", "1e-06"),
        ("2.5E+3", "2500.0"),
        ("1_0.0_1", "10.01"),
        ("true", "true"),
        ("false", "false"),
        ("inf", "inf"),
        ("target", "target"),
        ("_private", "_private"),
        ("a + b - c", "(- (+ a b) c)"),
        ("a * b / c % d", "(% (/ (* a b) c) d)"),
        ("a + b * c", "(+ a (* b c))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a < b && c >= d || e", "(|| (&& (< a b) (>= c d)) e)"),
        ("a || b && c", "(|| a (&& b c))"),
        ("a && b == c", "(&& a (== b c))"),
        ("(a < b) == c", "(== (< a b) c)"),
        ("a + 1 != b - 1", "(!= (+ a 1) (- b 1))"),
        ("-a * b", "(* (- a) b)"),
        ("- -a", "(- (- a))"),
        ("!a && !b", "(&& (! a) (! b))"),
        ("-x[0]", "(- x[0])"),
        ("a - -1", "(- a (- 1))"),
        ("a-1", "(- a 1)"),
        ("f()", "f()"),
        ("f(a, b)", "f(a, b)"),
        ("f(a, b,)", "f(a, b)"),
        ("f(a, axis: 1)", "f(a, axis: 1)"),
        ("f(g(a), -b)", "f(g(a), (- b))"),
        ("f(a)[0]", "f(a)[0]"),
        ("(a + b)[:, new]", "(+ a b)[_:_, new]"),
        ("A[:]", "A[_:_]"),
        ("A[r :+ 8, :]", "A[r:+8, _:_]"),
        ("A[r * 2 :+ n + 1]", "A[(* r 2):+(+ n 1)]"),
        ("A[a : b]", "A[a:b]"),
        ("A[a :, : b]", "A[a:_, _:b]"),
        ("A[i, new, 0,]", "A[i, new, 0]"),
        ("A[:][:, new]", "A[_:_][_:_, new]"),
        ("A[r + 1 :+ 8, :] else -100", "A[(+ r 1):+8, _:_] else (- 100)"),
        ("A[0] else 1.0 + b", "(+ A[0] else 1.0 b)"),
        ("-A[0] else b", "(- A[0] else b)"),
        ("A[0] else B[0] else 2", "A[0] else B[0] else 2"),
        ("f(A[0] else 1, 2)", "f(A[0] else 1, 2)"),
        ("ctx.block.x", "ctx.block.x"),
        ("ctx.block.x * 8", "(* ctx.block.x 8)"),
    ],
)
def test_expressions(text: str, tree: str) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("let x = 1", "(let x _ 1)"),
        ("let x: i32 = 1", "(let x (typeexpr scalar {i32} _) 1)"),
        ("var x: tile<f32>[8, 1] = 0.0", "(var x (typeexpr tile {f32} {8 1}) 0.0)"),
        ("var x: tile<f32>[8, ceildiv(V, 2),] = 0.0", "(var x (typeexpr tile {f32} {8 ceildiv(V, 2)}) 0.0)"),
        ("x = 1", "(= x 1)"),
        ("x += 1", "(+= x 1)"),
        ("x -= 1", "(-= x 1)"),
        ("x *= 1", "(*= x 1)"),
        ("x /= 1", "(/= x 1)"),
        ("A[:, new] = x", "(= A[_:_, new] x)"),
        ("A[r :+ 8] += x", "(+= A[r:+8] x)"),
        ("f(A[:], 1)", "(do f(A[_:_], 1))"),
        ("if a { x = 1 }", "(if a {(= x 1)} _)"),
        ("if a { x = 1 } else { x = 2 }", "(if a {(= x 1)} {(= x 2)})"),
        ("if a { } else if b { x = 2 } else { }", "(if a {(if b {(= x 2)} )})"),
        ("if a {\n}\nelse {\n x = 2 }", "(if a {(= x 2)})"),
        ("if a {\n}\n\n// why\nelse\nif b {\n x = 2 }", "(if a {(if b {(= x 2)} _)})"),
        ("while a { x = 1; break }", "(while a {(= x 1) (break)})"),
        ("for i in range(0, n) { continue }", "(for i range(0, n) {(continue)})"),
        ("for i in range(a, b + 1, 2) { }", "(for i range(a, (+ b 1), 2))"),
        ("return", "(return _)"),
        ('require M > 0, "no rows"', "(require (> M 0) 'no rows')"),
        ('assert a == b, "differ"', "(assert (== a b) 'differ')"),
        ("print(a + b)", "(print (+ a b) _)"),
        ('print("sum", a + b)', "(print (+ a b) 'sum')"),
        ("", ""),
        (";;", ""),
        ("x = 1;", "(= x 1)"),
        ("x = 1; y = 2", "(= x 1) (= y 2)"),
        ("x = 1\n\n\ny = 2", "(= x 1) (= y 2)"),
        ("x = 1 // one\ny = 2 //// two", "(= x 1) (= y 2)"),
    ],
)
def test_statements(text: str, tree: str) -> None:
    assert statement(text).replace(" )", ")") == tree.replace(" )", ")")


@pytest.mark.parametrize(
    "text",
    ["x = a +\nb", "x =\na + b", "x = a\t+ \r\n b", "x = (a\n+ b)", "x = (\na + b\n)", "x = a + // why\n\n b"],
)
def test_newlines_inside_expressions(text: str) -> None:
    assert statement(text) == "(= x (+ a b))"


def test_a_whole_kernel() -> None:
    kernel, blend, half, const, imported = parse_clean(KERNEL).items
    assert isinstance(kernel, ast.Kernel)
    assert kernel.doc == "Mean and hit of each row."
    assert [show(attribute) for attribute in kernel.attributes] == [
        "(kernelattribute grid {ceildiv(M, 8)})",
        "(kernelattribute disjoint {Loss})",
    ]
    assert [show(one) for one in kernel.type_parameters] == ["(typeparameter T {f32 f16})"]
    assert [parameter.name.name for parameter in kernel.parameters] == ["Logits", "Target", "Loss", "alpha", "limit"]
    assert [parameter.doc for parameter in kernel.parameters] == ["", "", "The result.", "", ""]
    assert [parameter.is_const for parameter in kernel.parameters] == [False, False, False, False, True]
    assert show(kernel.parameters[4].default) == "(- 1)"
    assert show(kernel.parameters[1].type) == "(typeexpr tensor {i32 i64} {M})"
    assert len(kernel.body) == 7
    assert show(kernel.body[-1]) == (
        "(do blend(Loss[r:+8, _:_], acc, where((== t 31), acc[_:_, _:_], (* alpha 2000.0)), weight: 0.25))"
    )
    assert isinstance(blend, ast.Function)
    assert (blend.value, len(blend.body)) == (None, 1)
    assert isinstance(half, ast.Function)
    assert (show(half.value), half.body) == ("(/ x 2.0)", ())
    assert show(const) == "(const N (typeexpr scalar {i32} _) 3)"
    assert show(imported) == "(import 'lib/more.ph')"


def test_function_with_a_value_at_its_end() -> None:
    (function,) = parse_clean("fn f(a: f32, b) {\n  let c = a\n  return c * b\n}").items
    assert isinstance(function, ast.Function)
    assert show(function.value) == "(* c b)"
    assert show(function.body) == "{(let c _ a)}"


def test_autotune_arguments() -> None:
    (kernel,) = parse_clean("@autotune(N in [16, 256], K in [1]) kernel k() { }").items
    assert show(kernel.attributes) == "{(kernelattribute autotune {(namedin N {16 256}) (namedin K {1})})}"


def test_attribute_without_arguments() -> None:
    (kernel,) = parse_clean("@threads\nkernel k() { }").items
    assert show(kernel.attributes) == "{(kernelattribute threads)}"


def test_words_of_other_languages_are_names() -> None:
    names = ["target", "out", "filter", "main", "var_", "let1", "type", "struct", "class", "def", "inf", "nan", "range"]
    (function,) = parse_clean(f"fn f({', '.join(names)}) = 0").items
    assert [parameter.name.name for parameter in function.parameters] == names


def test_empty_files() -> None:
    for text in ("", "\n\n", "// nothing\n", "\ufeff", "  \r\n\t"):
        assert parse_clean(text).items == ()


def test_line_endings() -> None:
    assert show(parse_clean("const A = 1 +\r\n  2\r\nconst B = 3").items) == "{(const A _ (+ 1 2)) (const B _ 3)}"


def test_every_kind_of_node_is_reached() -> None:
    more = '@autotune(N in [1])\nkernel k() { assert true, "" \n print(A[a : b, new]) \n x = y[1].z \n f(-1) }'
    seen: set[type] = set()
    pending: list[object] = [parse_clean(KERNEL + more)]
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending.extend(value)
        elif isinstance(value, ast.Node):
            seen.add(type(value))
            assert value.span.start <= value.span.end
            pending.extend(getattr(value, name) for name in value.__match_args__)
    kinds = {kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.Node)}
    assert kinds - {ast.Node} == seen


def test_spans_cover_the_text_of_a_node() -> None:
    text = "kernel k() {\n  x = (a + b) * f(c)[0, :] else -1.0\n}"
    (kernel,) = parse_clean(text).items
    (assign,) = kernel.body
    assert assign.span.text == "x = (a + b) * f(c)[0, :] else -1.0"
    assert assign.value.span.text == "(a + b) * f(c)[0, :] else -1.0"
    assert assign.value.left.span.text == "(a + b)"
    assert assign.value.right.span.text == "f(c)[0, :] else -1.0"
    assert assign.value.right.fill.span.text == "-1.0"
    assert kernel.span.text == text
