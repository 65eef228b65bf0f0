"""The kernels that the GPU benchmarks run give what their twins in float64 owe, and so does PyTorch's form of each."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from itertools import product

import numpy as np
import pytest

from tests.bench.cases import FORWARD, worst_error
from tests.bench.cuda import CONTENDERS, forward_cell, training_cell
from tests.bench.cuda_peers import Clock, Peers
from tests.bench.gpu import forward_table, training_table
from tests.bench.picture import draw, shares
from tilec.tile import interp

ROWS, COLUMNS = 16, 40
CASES = [(case, dtype) for case, dtype in product(FORWARD, ("f32", "f16", "bf16")) if dtype in case.dtypes]


@pytest.mark.parametrize(("case", "dtype"), CASES, ids=[f"{case.kernel}-{dtype}" for case, dtype in CASES])
def test_a_kernel_agrees_with_its_twin(case, dtype):
    kernel, dims, sample = case.build(dtype), case.dims(ROWS, COLUMNS), case.sample(ROWS, COLUMNS, dtype)
    tensors = dict(sample)
    for parameter in kernel.tensors:
        if parameter.name not in tensors:
            shape = tuple(dim.evaluate(dims) for dim in parameter.dims)
            like = next(iter(sample.values())).dtype if str(parameter.dtype) == dtype else np.float32
            tensors[parameter.name] = np.zeros(shape, like)
    results = interp.run(kernel, tensors, {}, dims)
    expected = case.expected(sample, ROWS)
    assert set(expected) == {one.name for one in kernel.tensors if one.access != "in"}
    got = {name: np.asarray(results[name]) for name in expected}
    for name, array in got.items():
        if array.dtype == np.uint16:  # bf16 as its bits
            got[name] = array.view(tensors[name].dtype)
    assert worst_error(got, expected, dtype) <= 1.0


def test_peers_agree_on_the_processor():
    """The script for CUDA machines, tried where there is none: eager PyTorch alone."""
    torch = pytest.importorskip("torch")
    peers = Peers(torch, "cpu", Clock(torch, "cpu", 0.0))
    rows = [training_cell(peers, 8, 30, dtype, ["eager", "liger"]) for dtype in ("f32", "f16", "bf16")]
    rows += [forward_cell(peers, case, ROWS, COLUMNS, dtype, ["eager", "liger"]) for case, dtype in CASES]
    for row in rows:
        assert row["check"] == "ok", row
        assert row["eager kernel ms"] > 0
        assert row["eager error"] <= 1.0
        assert row.get("liger problem", "needs CUDA") == "needs CUDA"
    assert CONTENDERS[0] == "tilec"


# --- what is made of the rows --------------------------------------------------------------------------------

GPU_ROW = {"rows": 8192, "columns": 512, "dtype": "f16", "copy": 0.006, "t64": 0.008, "error64": 0.2, "t256": 0.006}
CUDA_ROW = {
    "rows": 8192, "columns": 512, "dtype": "f32", "copy kernel ms": 0.007, "tilec kernel ms": 0.01,
    "liger kernel ms": 0.014, "torch.compile kernel ms": 0.07, "compile static kernel ms": 0.028,
}  # fmt: skip


def test_the_best_workgroup_size_counts():
    table = training_table([GPU_ROW, {**GPU_ROW, "problem256": "no"}, {**GPU_ROW, "error64": 2.0}])
    assert [row["tilec"] for row in table.rows] == [0.006] * 3
    assert [row["check"] for row in table.rows] == ["ok", "FAILED no", "WRONG [2.0]"]
    assert not table.is_right
    assert table.goals[0] == ("8192 x 512 f16 in 0.0055 ms", False, "0.0060 ms")


def test_readers_are_held_against_a_read_only_sweep():
    row = {"rows": 8, "columns": 8, "dtype": "f32", "copy": 1.0, "read": 1.0, "of_copy": 0.95, "of_read": 0.5}
    table = forward_table([{"kernel": name, **row} for name in ("softmax_rows", "mse_rows")])
    assert [reached for _, reached, _ in table.goals] == [True, False]


def test_the_picture_shows_every_contender():
    assert shares(CUDA_ROW) == {"tilec": 0.7, "Liger": 0.5, "torch.compile": 0.25}
    assert shares(GPU_ROW) == {"tilec": 1.0}
    picture = xml.fromstring(draw([CUDA_ROW, GPU_ROW], "a & b"))
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a & b", "f32", "f16", "8192 x 512", "0.70", "0.50", "0.25", "1.00"} <= set(texts)
