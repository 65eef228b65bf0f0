"""Prepared launches, and launches recorded into one submission."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import tilec
from tests.api.test_calls import SOURCE, x

F32 = np.float32
SOME = """
kernel some(T: tensor<i32>[K], B: tensor<f32>[M]) {
  for k in range(0, K) {
    B[T[k]] = 1.0
  }
}
"""


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="calls.ph")


def test_a_prepared_launch_runs_again_and_again(m, device):
    a, w = device.array(x(6, 3)), device.array(x(3) + 1)
    bound = m.scale.bind(a, w, 2.0)
    assert bound.results.X is a
    np.testing.assert_array_equal(a.numpy(), x(6, 3))
    expected = x(6, 3)
    for _ in range(3):
        assert bound.launch() is bound.results
        expected = expected * (x(3) + 1) * F32(2)
        np.testing.assert_array_equal(a.numpy(), expected)


def test_host_arrays_are_uploaded_once_and_outputs_allocated_once(m, device):
    given = x(5, 4)
    bound = m.double.bind(given, 1.0, device=device)
    given[:] = 0
    first = bound.launch().B
    assert isinstance(first, tilec.DeviceArray)
    np.testing.assert_array_equal(first.numpy(), 2 * x(5, 4) + 1)
    assert bound.launch().B is first
    out = device.array(np.zeros((5, 4), F32))
    assert m.double.bind(x(5, 4), 1.0, B=out).launch().B is out
    np.testing.assert_array_equal(out.numpy(), 2 * x(5, 4) + 1)


def test_other_arguments_hold_for_one_launch(m, device):
    a, b = device.array(x(4, 4)), device.array(x(4, 4) + 10)
    bound = m.double.bind(a, 1.0)
    np.testing.assert_array_equal(bound.launch(A=b).B.numpy(), 2 * x(4, 4) + 21)
    np.testing.assert_array_equal(bound.launch(shift=5).B.numpy(), 2 * x(4, 4) + 5)
    np.testing.assert_array_equal(bound.launch(A=b, shift=0.5).B.numpy(), 2 * x(4, 4) + 20.5)
    np.testing.assert_array_equal(bound.launch().B.numpy(), 2 * x(4, 4) + 1)
    own = device.array(np.zeros((4, 4), F32))
    assert bound.launch(B=own).B is own
    np.testing.assert_array_equal(own.numpy(), 2 * x(4, 4) + 1)


def test_arguments_that_do_not_fit_are_refused(m, devices):
    first, second = devices[:2]
    bound = m.double.bind(first.array(x(4, 4)))
    for named, words in (
        ({"A": first.array(x(4, 5))}, r"A: f32\[4, 5\] where the launch is prepared for f32\[4, 4\]"),
        ({"A": first.array(x(4, 4), dtype="f16")}, r"A: f16\[4, 4\] where"),
        ({"A": second.array(x(4, 4))}, "A is on .* prepared for"),
        ({"A": x(4, 4)}, "A must be a device array"),
        ({"shfit": 1.0}, "shfit is no tensor or scalar"),
        ({"shift": "one"}, "shift: the string 'one' was given for a scalar of type f32: pass a number"),
        ({"B": bound._arrays["A"]}, "A and B are the same array, and double writes B"),
    ):
        with pytest.raises(tilec.ArrayError, match=words):
            bound.launch(**named)
    with pytest.raises(tilec.DeviceError, match="bind to a device"):
        m.double.bind(x(2, 2), device="numpy")
    with pytest.raises(tilec.ArrayError, match=r"is 3 by .*5 by"):
        m.pair.bind(x(3, 4), x(5, 4), device=first)


def test_a_freed_array_is_refused(m, lavapipe):
    a = lavapipe.array(x(4, 4))
    bound = m.double.bind(a)
    a.free()
    with pytest.raises(tilec.DeviceError, match="freed"):
        bound.launch()


def test_what_a_launch_does_not_write_is_zero_each_time(lavapipe):
    module = tilec.compile(source="@disjoint(B)\n" + SOME.strip())
    targets = lavapipe.array(np.array([1, 3], np.int32))
    bound = module.some.bind(targets, M=5)
    assert bound.launch().B.numpy().tolist() == [0, 1, 0, 1, 0]
    lavapipe.write(targets.buffer, np.array([0, 3], np.int32))
    assert bound.launch().B.numpy().tolist() == [1, 0, 0, 1, 0]


def test_const_parameters_are_fixed_by_bind(m, lavapipe):
    bound = m.fixed.bind(x(3), power=3, device=lavapipe)
    np.testing.assert_array_equal(bound.launch().Out.numpy(), x(3) * 3 + 4)
    with pytest.raises(tilec.ArrayError, match="power"):
        bound.launch(power=2)


# --- batches -----------------------------------------------------------------------------------------------------


def test_launches_of_a_batch_see_each_other(m, device):
    a, w = device.array(np.ones((6, 3), F32)), device.array(np.ones(3, F32))
    bound = m.scale.bind(a, w, 2.0)
    with device.batch():
        for _ in range(5):
            bound.launch()
        doubled = m.double(a, 1.0).B
        m.scale(a, w, 0.5)
    assert (doubled.numpy() == 65).all()
    assert (a.numpy() == 16).all()


def test_reading_and_writing_submit_what_was_recorded(m, device):
    a, w = device.array(np.ones((2, 2), F32)), device.array(np.ones(2, F32))
    with device.batch():
        m.scale(a, w, 3.0)
        assert (a.numpy() == 3).all()
        m.scale(a, w, 3.0)
        device.write(a.buffer, np.full((2, 2), 5, F32))
        m.scale(a, w, 2.0)
        with device.batch():
            m.scale(a, w, 2.0)
        assert (a.numpy() == 20).all()


def test_memory_that_recorded_work_uses_lives_until_it_is_submitted(m, device):
    out = device.array(np.zeros((3, 3), F32))
    with device.batch():
        for value in range(20):
            a = device.array(np.full((3, 3), value, F32))
            m.double(m.double(a).B, B=out)
            del a
        b = device.array(np.full((3, 3), 7, F32))
        m.double(b, B=out)
        b.free()
    assert (out.numpy() == 14).all()


def test_an_exception_does_not_take_back_what_was_recorded(m, device):
    a, w = device.array(np.ones((2, 2), F32)), device.array(np.ones(2, F32))

    def fails() -> None:
        with device.batch():
            m.scale(a, w, 3.0)
            m.scale(a, x(5), 3.0)

    with pytest.raises(tilec.ArrayError):
        fails()
    assert (a.numpy() == 3).all()
    m.scale(a, w, 3.0)
    assert (a.numpy() == 9).all()


def test_a_batch_records_the_launches_of_its_own_thread(m, lavapipe):
    a, w = lavapipe.array(np.ones((2, 2), F32)), lavapipe.array(np.ones(2, F32))
    b = lavapipe.array(np.ones((2, 2), F32))
    seen = []

    def other() -> None:
        m.scale(b, w, 3.0)
        seen.append(b.numpy())

    with lavapipe.batch():
        m.scale(a, w, 3.0)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(lavapipe._batches) == 1
    assert (seen[0] == 3).all()
    assert (a.numpy() == 3).all()
    assert not lavapipe._batches


def test_spare_memory_is_not_reused_under_recorded_work(m, lavapipe):
    """What writes or reads the memory of an output is submitted before another thread's launch gets that memory."""
    a, b = lavapipe.array(np.ones((3, 3), F32)), lavapipe.array(np.full((3, 3), 100, F32))
    kept = lavapipe.array(np.zeros((3, 3), F32))
    got = []
    with lavapipe.batch():
        m.double(m.double(a).B, B=kept)
        thread = threading.Thread(target=lambda: got.append(m.double(b).B))
        thread.start()
        thread.join()
    assert (kept.numpy() == 4).all()
    assert (got[0].numpy() == 200).all()  # also after the end of the batch
