"""Looking at what a kernel is compiled to, without arrays, NumPy or a device."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import tilec
from tests.diff import tint

SOURCE = """
kernel token_loss(Logits: tensor<f32|f16>[M, V], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1], alpha: f32 = 0.5) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, :] = alpha * cross_entropy(Logits[r :+ 8, :], Target[r :+ 8, :])
}

@grid(ceildiv(M, 4), n)
kernel tall(A: tensor<f32>[M, N], n: i32) {
  A[ctx.block.x * 4 :+ 4, ctx.block.y :+ 1] += 1.0
}
"""


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    return tilec.compile(source=SOURCE)


def test_wgsl_is_text_that_tint_accepts(m):
    general, fixed = m.token_loss.wgsl(), m.token_loss.wgsl(dims={"V": 512})
    half = m.token_loss.wgsl(dims={"V": 512}, dtypes={"Logits": "f16"}, features=())
    for text in (general, fixed, half, m.token_loss.specialize(alpha=0.25).wgsl(), m.tall.wgsl()):
        tint.assert_valid(text)
    assert len({general, fixed, half}) == 3
    assert "// Only for" not in general
    assert m.token_loss.wgsl() == general
    with pytest.raises(tilec.ArrayError, match="W is no dim; there is M, V"):
        m.token_loss.wgsl(dims={"W": 3})
    with pytest.raises(tilec.ArrayError, match="Logits may be f32, f16"):
        m.token_loss.wgsl(dtypes={"Logits": "i8"})


def test_bindings(m):
    found = [(binding.number, binding.kind, binding.tensor) for binding in m.token_loss.bindings]
    assert found[0] == (0, "uniform", None)
    assert {("read", "Logits"), ("read", "Target"), ("read_write", "Loss")} <= {
        (kind, tensor) for _, kind, tensor in found
    }


def test_grid(m):
    assert m.token_loss.grid(M=64) == (8, 1, 1)
    assert m.token_loss.grid(M=65, V=3) == (9, 1, 1)
    assert m.token_loss.grid(M=0) == (0, 1, 1)
    assert m.tall.grid(M=5, n=3) == (2, 3, 1)
    with pytest.raises(tilec.ArrayError, match=r"grid\(M=\.\.\.\)"):
        m.token_loss.grid()


def test_ir_and_plan(m):
    assert "pick" in m.token_loss.ir()
    assert "kernel token_loss" in m.token_loss.ir("raise_reductions")
    assert "f16" in m.token_loss.ir(dtypes={"Logits": "f16"})
    with pytest.raises(tilec.CompileError, match="no pass is named raise; there are"):
        m.token_loss.ir("raise")
    assert m.token_loss.plan()
    assert m.token_loss.plan(dims={"V": 512}) != m.token_loss.plan()


def test_compiling_needs_neither_numpy_nor_wgpu():
    code = f"""
    import sys
    for name in ("numpy", "wgpu", "torch", "ml_dtypes"):
        sys.modules[name] = None
    import tilec
    m = tilec.compile(source={SOURCE!r})
    k = m.token_loss.specialize(alpha=0.0)
    assert "fn token_loss" in k.wgsl(dims={{"V": 512}}, dtypes={{"Logits": "f16"}})
    assert k.bindings and k.grid(M=8) and k.ir()
    try:
        m.token_loss()
    except ImportError:
        pass
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_importing_tilec_loads_nothing_big():
    code = "import sys, tilec; print(sorted({'numpy', 'wgpu', 'lark', 'argparse', 'dataclasses'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names():
    for name in tilec.__all__:
        assert getattr(tilec, name) is not None
        assert name in dir(tilec)
    for error in (tilec.ArrayError, tilec.CompileError, tilec.DeviceError):
        assert issubclass(error, tilec.TilecError)
    with pytest.raises(AttributeError):
        tilec.nothing  # noqa: B018


def test_unknown_features_are_refused(m):
    assert m.token_loss.wgsl(features=("shader-f16", "subgroups"))
    with pytest.raises(tilec.CompileError, match="no feature is named float64; there are shader-f16, subgroups"):
        m.token_loss.wgsl(features=("float64",))
