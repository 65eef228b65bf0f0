"""What is not understood is told: each of some two hundred mistakes has its diagnostic, for gradient kernels too."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.sema.refused_calls import CALLS
from tests.sema.refused_statements import KERNELS, STATEMENTS
from tests.sema.support import codes, run
from tilec import driver
from tilec.diag import catalog
from tilec.diag.report import Diagnostic, Reporter, outermost
from tilec.errors import CompileError, InternalError
from tilec.sema.faults import Faults
from tilec.source import Source, Span

ROOM = Path(__file__).resolve().parents[2] / "tilec/sema"
KERNEL = """kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], L: tensor<f32>[M, 1]) {{
  let r = ctx.block.x * 8
  var x = A[r :+ 8, :]
  let t = T[r :+ 8, :]
{body}
  L[r :+ 8, :] = rowsum(x)
}}
"""


def text_of(body: str, head: str = "") -> str:
    """The statements in a kernel, behind functions and constants."""
    return head + KERNEL.format(body="\n".join("  " + line for line in body.split("\n")))


REFUSED = {
    **{name: (expected, text_of(*parts)) for name, (expected, *parts) in (CALLS | STATEMENTS).items()},
    **{name: (expected, text) for name, (expected, text) in KERNELS.items()},
}


def compile_text(text: str, is_derived: bool) -> str:
    program, name = driver.parse_file(Source("k.ph", text)).program, "k"
    if is_derived:
        program, signature = driver.derive(program, name, ["A"], "L")
        name = signature.name
    return driver.compile_kernel(program, name).wgsl


def errors_of(text: str, *, is_derived: bool = False) -> list[str]:
    """`CODE at LINE:COLUMN` of the errors that compiling ends in."""
    with pytest.raises(CompileError) as caught:
        compile_text(text, is_derived)
    found: list[str] = []
    for one in caught.value.diagnostics:
        assert isinstance(one, Diagnostic)
        span = outermost(one.span)
        if one.severity == "error":
            found.append("{} at {}:{}".format(one.code, *span.source.line_column(span.start)))
    return found


def test_each_mistake_is_in_the_tables_once() -> None:
    assert len(REFUSED) == len(CALLS) + len(STATEMENTS) + len(KERNELS)
    assert len({text for _, text in REFUSED.values()}) == len(REFUSED)


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_are_told(name: str) -> None:
    expected, text = REFUSED[name]
    assert expected in errors_of(text)


@pytest.mark.parametrize("name", [*CALLS, *STATEMENTS])
def test_mistakes_are_told_of_gradient_kernels(name: str) -> None:
    expected, text = REFUSED[name]
    assert expected in errors_of(text, is_derived=True)


# --- the rule


def test_nothing_is_given_up_without_a_diagnostic() -> None:
    span = Span(Source("k.ph", "let a = b\n"), 8, 9)
    faults = Faults(Reporter())
    with pytest.raises(InternalError, match=r"k\.ph:1:9: `b` was not understood"):
        faults.give_up(span)
    Faults(Reporter(), is_silent=True).give_up(span)  # a trial may not know yet
    faults = Faults(Reporter())
    faults.error(catalog.UNKNOWN_NAME, span, name="b", hint=None)
    faults.give_up(span)
    assert faults.count == 2


def test_one_place_makes_what_has_no_value() -> None:
    """Whatever else made one could forget to ask whether the user was told."""
    makers: set[str] = set()
    for path in sorted(ROOM.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for node in ast.walk(function):
                if (isinstance(node, ast.Call) and _makes_nothing(node)) or (
                    isinstance(node, ast.AugAssign) and ast.unparse(node.target).endswith("faults.count")
                ):
                    makers.add(f"{path.name}:{function.name}")
    assert makers == {"expand.py:poison", "builder.py:poison", "infer.py:_whole_tensor"}


def _makes_nothing(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return name == "core.Poison" or (name == "Item" and len(call.args) == 1 and not call.keywords)


# --- declared types of parameters

def refused(text: str) -> list[str]:
    return [code for code in codes(text) if code.startswith("E")]


A = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_the_type_of_an_out_parameter_names_dims_and_is_checked() -> None:
    head = "fn total(out: tile<f32>[R, C], x: tile<f32>[R, D]) {\n  out = rowsum(x) * f32(D + 10 * C)\n}\n"
    text = text_of("total(L[r :+ 8, :], x)\nx = pad(rowsum(L[r :+ 8, :]), 0.0) + x * 0.0", head)
    given = {"A": A, "T": np.zeros((4, 1), np.int32)}
    np.testing.assert_array_equal(run(text, given)["L"][:, 0], A.sum(1) * 13 * 3)
    assert refused(text.replace("out: tile<f32>[R, C]", "out: tile<f32>[C]")) == ["E0334"]
    assert refused(text.replace("out: tile<f32>", "out: tile<i32>")) == ["E0334"]
    assert refused(text.replace("out: tile<f32>[R, C]", "out: tile<f32>[R, D]").replace(" + 10 * C", "")) == ["E0334"]


def test_an_out_parameter_passed_on_has_the_type_of_the_first_place() -> None:
    inner = "fn inner(out: tile<f32>[R, C], x) {\n  out = x * f32(C)\n}\n"
    outer = "fn outer(out: tile<f32>[R, C], x) {\n  inner(out, x)\n}\n"
    text = text_of("outer(x, x)", inner + outer)
    given = {"A": A, "T": np.zeros((4, 1), np.int32)}
    np.testing.assert_array_equal(run(text, given)["L"][:, 0], A.sum(1) * 3)
    assert refused(text.replace("inner(out: tile<f32>[R, C]", "inner(out: tile<f32>[C]")) == ["E0334"]


def test_dims_of_types_are_formulas_of_parameters_and_of_dims_named_later() -> None:
    head = "fn f(n: i32, y: tile<f32>[R, C + n - 8], x: tile<f32>[R, C]) = x + y * f32(n)\n"
    text = text_of("x = f(8, x, x)", head)
    given = {"A": A, "T": np.zeros((4, 1), np.int32)}
    np.testing.assert_array_equal(run(text, given)["L"][:, 0], A.sum(1) * 9)
    assert refused(text.replace("f(8,", "f(7,")) == ["E0334"]


def test_whole_tensors_are_of_their_declared_type() -> None:
    head = "fn f(X: tensor<f16|f32>[N, D]) = X[0, 1] * f32(D)\n"
    text = text_of("x = x * 0.0 + f(A)", head)
    given = {"A": A, "T": np.zeros((4, 1), np.int32)}
    np.testing.assert_array_equal(run(text, given)["L"][:, 0], [9] * 4)
    assert refused(text.replace("f16|f32", "f16")) == ["E0334"]
    assert refused(text.replace("tensor<f16|f32>[N, D]", "tensor<f32>[N, 4]").replace("f32(D)", "f32(N)")) == ["E0334"]


def test_a_default_sees_the_file_alone() -> None:
    text = text_of("x = f(x)", "const C = 5\nfn f(x: tile<f32>[R, W], s = C) = x * f32(s)\n")
    np.testing.assert_array_equal(run(text, {"A": A, "T": np.zeros((4, 1), np.int32)})["L"][:, 0], A.sum(1) * 5)
