"""What every pass must keep: well-formed kernels, and the results of the specification interpreter."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from tilec.tile import interp
from tilec.tile.verify import verify
from tilec.tile.walk import walk

SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.25, 80.0, -80.0, 1e4, 1e8, -1e30, np.inf, -np.inf, np.nan]


def floats(*shape, specials=True):
    """Arrays of f32, among them zeros of both signs, infinities and NaN; or mild finite numbers."""
    count = int(np.prod(shape))
    element = st.floats(-100, 100, width=32)
    if specials:
        element = element | st.sampled_from(SPECIALS)
    return st.lists(element, min_size=count, max_size=count).map(lambda flat: np.array(flat, np.float32).reshape(shape))


def count(kernel, kind, op=None):
    """How many instructions of a class (and an op) the kernel has."""
    return sum(isinstance(value, kind) and (op is None or value.op == op) for value in walk(kernel.body))


def outcome(kernel, tensors, dims, scalars=None):
    return interp.run(kernel, tensors, scalars or {}, dims)


def assert_same(before, after, tensors, dims, scalars=None, *, tolerance=0.0, refines=False):
    """Both kernels give the same results: bit by bit (NaN any NaN) or within a relative tolerance.

    `refines`: where the first gives NaN or an infinity, the second may give a number.
    """
    verify(after)
    expected, actual = outcome(before, tensors, dims, scalars), outcome(after, tensors, dims, scalars)
    assert expected.keys() == actual.keys()
    for name, wanted in expected.items():
        got = actual[name]
        if wanted.dtype == ml_dtypes.bfloat16:
            wanted, got = wanted.astype(np.float32), got.astype(np.float32)
        if wanted.dtype.kind == "f" and refines:
            got = np.where(np.isfinite(wanted), got, wanted)
        if tolerance:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=name)
            if wanted.dtype.kind == "f":
                signs = ~np.isnan(wanted)
                np.testing.assert_array_equal(np.signbit(got)[signs], np.signbit(wanted)[signs], err_msg=name)
