"""The kernels that the GPU benchmarks run give what their twins in float64 owe, and so does PyTorch's form of each."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.bench.cases import FORWARD, worst_error
from tests.bench.cuda import CONTENDERS, Clock, Peers, forward_cell, training_cell
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
