"""Workloads: tensors are full of the samples, launches of every set do the same, and what is overwritten comes back."""

from __future__ import annotations

import numpy as np
import pytest

from tilec import driver
from tilec.runtime.launch import options_for
from tilec.runtime.prepared import Prepared
from tilec.runtime.workload import Workload, time_contenders
from tilec.source import Source

DOUBLED = """
kernel doubled(X: tensor<f32>[M, V], Twice: tensor<f32>[M, V], by: f32 = 2.0) {
  let r = ctx.block.x * 8
  Twice[r :+ 8, :] = X[r :+ 8, :] * by
  X[r :+ 8, :] = 0.0
}
"""
DIMS = {"M": 10, "V": 6}


@pytest.fixture
def workload(lavapipe):
    kernel = driver.build_kernel(driver.parse_file(Source("doubled.ph", DOUBLED)).program, "doubled").kernel
    made = Workload(lavapipe, kernel, DIMS, {"X": np.arange(12, dtype=np.float32)})
    yield made
    made.free()


@pytest.fixture
def prepared(workload, lavapipe):
    compiled = driver.compile_built(workload.kernel, DIMS, options_for(lavapipe))
    return Prepared(compiled, lavapipe, DIMS, {"by": 2.0})


def test_samples_repeat(workload):
    expected = np.resize(np.arange(12, dtype=np.float32), (10, 6))
    assert len(workload.sets) > 1
    for arrays in (workload.sets[0], workload.sets[-1]):
        np.testing.assert_array_equal(arrays["X"].numpy(), expected)


def test_results_are_those_of_a_fresh_launch(workload, prepared):
    expected = np.resize(np.arange(12, dtype=np.float32), 60)
    for _ in range(2):
        results = workload.results(prepared)
        np.testing.assert_array_equal(results["Twice"], 2 * expected)
        np.testing.assert_array_equal(results["X"], 0 * expected)
    workload.restore()
    np.testing.assert_array_equal(workload.sets[1]["X"].numpy().ravel(), expected)


def test_a_launch_for_every_set(workload, prepared, lavapipe):
    launches = workload.launches(prepared)
    assert len(launches) == len(workload.sets)
    lavapipe.run(launches[1])
    np.testing.assert_array_equal(workload.sets[1]["X"].numpy(), np.zeros((10, 6), np.float32))
    assert workload.sets[0]["X"].numpy().any()


def test_contenders_are_timed_beside_a_copy(workload, prepared):
    timings = time_contenders(workload, {"one": prepared, "other": prepared}, 0.0, workload.nbytes)
    assert set(timings.kernels) == set(timings.walls) == {"one", "other"}
    assert timings.copy is not None
    assert min(timings.copy.median, *(one.median for one in timings.kernels.values())) > 0
    assert time_contenders(workload, {"one": prepared}, 0.0).copy is None
