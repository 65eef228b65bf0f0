"""What has no gradient kernel, and the words in which it is refused."""

from __future__ import annotations

import pytest

import tilec

HEADER = "kernel k(X: tensor<f32>[M, V], W: tensor<f32>[V], T: tensor<i32>[M], Loss: tensor<f32>[M]"


def refused(body: str, *words: str, wrt: str = "X", more: str = "", in_place: bool = False, before: str = "") -> str:
    """The error's text, which points at line `^` of the body if the body marks one with that sign."""
    marked = body.replace("^", "")
    kernel = tilec.compile(source=f"{before}{HEADER}{more}) {{\n{marked}\n}}").k
    with pytest.raises(tilec.CompileError) as found:
        kernel.grad(wrt, "Loss", in_place=in_place)
    (diagnostic,) = [one for one in found.value.diagnostics if one.severity == "error"]
    assert diagnostic.code == "E0435"
    text = str(found.value)
    for word in words:
        assert word in text, text
    if "^" in body:
        line = body[: body.index("^")].count("\n") + 2 + before.count("\n")
        assert diagnostic.span.source.line_column(diagnostic.span.start)[0] == line, text
    return text


@pytest.mark.filterwarnings("ignore::tilec.CompileWarning")
class TestRefusals:
    def test_values_that_are_stored(self):
        body = "let r = ctx.block.x * 8\nlet x = X[r :+ 8, :]\nLoss[r :+ 8, new] = rowsum(x)\n^X[r :+ 8, :] = x"
        refused(body, "the kernel stores to `X` itself")

    def test_values_that_are_never_read(self):
        refused("let r = ctx.block.x * 8\nLoss[r :+ 8] = f32(T[r :+ 8])", "the kernel never reads `X`")

    def test_a_loss_that_does_not_depend(self):
        body = "let r = ctx.block.x * 8\nLoss[r :+ 8, new] = f32(rowargmax(X[r :+ 8, :]))"
        refused(body, "`Loss` does not depend on `X` by what has a derivative")
        body = "let r = ctx.block.x * 8\nLoss[r :+ 8, new] = rowsum(stop_grad(X[r :+ 8, :]))"
        refused(body, "`Loss` does not depend on `X` by what has a derivative")

    def test_a_loss_that_is_never_stored(self):
        body = "let r = ctx.block.x * 8\nOut[r :+ 8, new] = rowsum(X[r :+ 8, :])"
        refused(body, "`Loss` is the loss, and the kernel never stores to it", more=", Out: tensor<f32>[M]")

    def test_what_all_blocks_read(self):
        body = "let r = ctx.block.x * 8\nLoss[r :+ 8, new] = rowsum(X[r :+ 8, :] * ^W[:])"
        refused(body, "blocks along `ctx.block.x` may read the same elements of `W`", wrt="W")

    def test_overlapping_blocks(self):
        body = "let r = ctx.block.x * 8\nlet x = ^X[r :+ 9, :]\nLoss[r :+ 8] = f32(T[r :+ 8]) * sum(x)"
        refused(body, "blocks along `ctx.block.x` may read the same elements of `X`")

    def test_reads_that_overlap(self):
        body = (
            "let r = ctx.block.x * 8\nlet a = X[r :+ 8, 0 :+ 4]\nlet b = ^X[r :+ 8, 2 :+ 4]\n"
            "Loss[r :+ 8, new] = rowsum(a * b)"
        )
        refused(body, "line 3 may read too", "have to be added")

    def test_reads_in_loops(self):
        body = (
            "let r = ctx.block.x * 8\nvar total: tile<f32>[8, 64] = 0.0\nfor c in range(0, V, 64) {\n"
            "total += square(^X[r :+ 8, c :+ 64])\n}\nLoss[r :+ 8, new] = rowsum(total)"
        )
        refused(body, "inside the `for` whose number of rounds is not constant, of line 4")
        body = (
            "let r = ctx.block.x\nvar total = 0.0\nwhile total < 10.0 {\ntotal += 1.0 + square(^X[r, 0])\n}\n"
            "Loss[r] = total"
        )
        refused(body, "inside the `while` of line 4")

    def test_losses_that_may_be_stored_over(self):
        body = (
            "let r = ctx.block.x * 8\nlet x = X[r :+ 8, :]\nLoss[r :+ 8, new] = rowsum(x)\n"
            "if T[r] == 0 {\n^Loss[r :+ 4] = 0.0\n}"
        )
        refused(body, "`Loss` is stored here over what line 4 may have stored")

    def test_losses_that_are_partly_stored_over(self):
        """The rows of the second store that are inactive keep what the first one left."""
        body = (
            "let r = ctx.block.x * 8\nlet x = X[r :+ 8, :]\nLoss[r :+ 8, new] = rowsum(x)\n"
            "let y = rowsum(square(X[r - 2 :+ 8, :]))\n^Loss[r :+ 8, new] = y"
        )
        refused(body, "`Loss` is stored here over what line 4 may have stored")

    def test_values_through_memory(self):
        body = (
            "let r = ctx.block.x * 8\nlet x = X[r :+ 8, :]\nOut[r :+ 8, :] = exp(x)\n"
            "let part = ^Out[r :+ 8, 0 :+ 2]\nLoss[r :+ 8, new] = rowsum(part) + rowsum(x)"
        )
        refused(body, "the loss is computed from `Out` after line 4 stored there", more=", Out: tensor<f32>[M, V]")

    def test_in_place_all_of_it_is_read(self):
        body = "let r = ctx.block.x * 8\nLoss[r :+ 8, new] = rowsum(square(^X[r :+ 8, 0 :+ 16]))"
        refused(body, "it is not proved that all of `X` is read", in_place=True)
        body = "let r = ctx.block.x * 8\nlet x = ^X[r :+ 7, :]\nLoss[r :+ 7, new] = rowsum(square(x))"
        refused(body, "it is not proved that all of `X` is read", in_place=True)
        body = "let r = ctx.block.x * 8\nlet x = ^X[r :+ 8, :]\nLoss[r :+ 8, new] = rowsum(square(x))"
        refused(body, "it is not proved that all of `X` is read", in_place=True, before="@grid(4)\n")

    def test_what_grad_itself_refuses(self):
        source = (
            f"{HEADER}) {{\nlet r = ctx.block.x\nlet x = X[r, :]\nvar y = sum(x)\n"
            "while y < 100.0 {\ny = y * 2.0\n}\nLoss[r] = y\n}"
        )
        with pytest.raises(tilec.CompileError, match="E0433"):
            tilec.compile(source=source).k.grad("X", "Loss")


def test_disjoint_is_believed():
    """`@disjoint` says of a tensor that blocks do not share elements, where that cannot be proved."""
    body = "let b = ctx.block.x\nlet s = Start[b]\nLoss[b] = sum(square(X[s :+ 4]))"
    parameters = "X: tensor<f32>[N], Start: tensor<i32>[B], Loss: tensor<f32>[B]"
    kernel = tilec.compile(source=f"@disjoint(X)\nkernel k({parameters}) {{\n{body}\n}}").k
    values = [float(number) for number in range(1, 10)]
    result = kernel.grad("X", "Loss", upstream=1.0)(values, [4, 0], device="numpy")
    assert result.DX.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 0.0]
    plain = tilec.compile(source=f"kernel k({parameters}) {{\n{body}\n}}").k
    with pytest.raises(tilec.CompileError, match="may read the same elements"):
        plain.grad("X", "Loss")
