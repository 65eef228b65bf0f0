"""The specification interpreter on kernels built by hand: memory, activity, storage types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tile.build import Builder, dim
from tilec.tile import interp
from tilec.tile.interp import run
from tilec.tile.verify import verify
from tilec.types import DType, Extent, Symbol, apply

F32, F16, BF16, I32, U32, BOOL = DType.F32, DType.F16, DType.BF16, DType.I32, DType.U32, DType.BOOL

BLOCK = Extent.of(Symbol("ctx.block.x", "block"))


def check(kernel, tensors, dims, scalars=None, **options):
    """The results, after the verifier and with a proof that no input changed."""
    verify(kernel)
    before = {name: array.copy() for name, array in tensors.items()}
    results = run(kernel, tensors, scalars or {}, dims, **options)
    for name, array in tensors.items():
        assert array.tobytes() == before[name].tobytes()
    return results


def rows_kernel(rows, dtype=F32):
    """Every block takes `rows` rows of A: their logsumexp less the element at T."""
    b = Builder()
    b.tensor("A", dtype, ["M", "V"])
    b.tensor("T", I32, ["M"])
    b.tensor("L", F32, ["M"], "out")
    start = b.op("mul", b.block(), rows)
    starts = (BLOCK * rows,)
    x = b.load("A", b.span(start, rows), b.span(0, dim("V")), starts=starts)
    t = b.view(b.load("T", b.span(start, rows), starts=starts), (0, None))
    loss = b.op("sub", b.logsumexp(x), b.pick(x, t))
    b.store("L", b.view(loss, (0,)), b.span(start, rows), starts=starts)
    return b.kernel((apply("ceildiv", dim("M"), Extent.of(rows)), 1, 1))


@pytest.mark.parametrize(("rows", "height", "width"), [(8, 20, 5), (1, 3, 1), (3, 7, 33), (8, 0, 4), (5, 1, 100)])
@pytest.mark.parametrize("lanes", [1, 1 << 20])
def test_token_loss(monkeypatch, rows, height, width, lanes):
    monkeypatch.setattr(interp, "_LANES_AT_ONCE", lanes)
    rng = np.random.default_rng(0)
    a = rng.normal(0, 3, (height, width)).astype(np.float32)
    t = rng.integers(-1, width + 1, height).astype(np.int32)
    actual = check(rows_kernel(rows), {"A": a, "T": t}, {"M": height, "V": width})["L"]
    picked = np.array([a[i, t[i]] if 0 <= t[i] < width else 0 for i in range(height)])
    expected = np.log(np.exp(a.astype(np.float64)).sum(axis=1)) - picked
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)
    assert actual.dtype == np.float32


def test_a_thousand_blocks_take_about_a_second():
    import time

    a = np.random.default_rng(0).normal(size=(8000, 512)).astype(np.float32)
    begin = time.process_time()
    run(rows_kernel(8), {"A": a, "T": np.zeros(8000, np.int32)}, {}, {"M": 8000, "V": 512})
    assert time.process_time() - begin < 2


# --- activity ------------------------------------------------------------------------------------------------


def inside(array, row, column, height, width):
    """The span of an array as a masked array: what is outside is masked."""
    result = np.ma.masked_all((height, width), np.float64)
    for i in range(height):
        for j in range(width):
            if 0 <= row + i < array.shape[0] and 0 <= column + j < array.shape[1]:
                result[i, j] = array[row + i, column + j]
    return result


@settings(max_examples=60)
@given(
    shape=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    span=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    first=st.tuples(st.integers(-4, 7), st.integers(-4, 7)),
    second=st.tuples(st.integers(-4, 7), st.integers(-4, 7)),
)
def test_an_elementwise_result_is_active_where_all_operands_are(shape, span, first, second):
    b = Builder()
    b.tensor("A", F32, ["M", "N"])
    for name, dtype in (("Sum", F32), ("Max", F32), ("Count", I32), ("Best", I32)):
        b.tensor(name, dtype, [span[0]], "out")
    b.tensor("All", F32, [2], "out")
    left, right = (
        b.load("A", b.span(row, span[0]), b.span(column, span[1]), starts=(row, column))
        for row, column in (first, second)
    )
    x = b.op("sub", left, right)
    whole = b.span(0, span[0])
    b.store("Sum", b.view(b.reduce("sum", x), (0,)), whole)
    b.store("Max", b.view(b.reduce("max", x), (0,)), whole)
    b.store("Count", b.view(b.count(x, dtype=I32), (0,)), whole)
    b.store("Best", b.view(b.reduce("argmax", x), (0,)), whole)
    b.store("All", b.reduce("sum", x, (0, 1), keeps_axes=False), b.point(0))
    b.store("All", b.count(x, (0, 1), keeps_axes=False), b.point(1))
    a = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    actual = check(b.kernel(), {"A": a}, {"M": shape[0], "N": shape[1]})
    expected = inside(a, *first, *span) - inside(a, *second, *span)
    for row in range(span[0]):
        lanes = expected[row].compressed()
        if not len(lanes):
            # The row's lanes are inactive as a whole, and so is its result, or a sum of nothing.
            assert actual["Sum"][row] == 0
            assert actual["Count"][row] == 0
            continue
        assert actual["Sum"][row] == pytest.approx(lanes.sum(), abs=1e-5)
        assert actual["Max"][row] == pytest.approx(lanes.max())
        assert actual["Count"][row] == len(lanes)
        assert actual["Best"][row] == np.flatnonzero(~np.ma.getmaskarray(expected)[row])[lanes.argmax()]
    assert actual["All"][0] == pytest.approx(expected.sum() or 0.0, abs=1e-5)
    assert actual["All"][1] == expected.count()


def test_a_stretched_lane_passes_its_activity_on():
    b = Builder()
    b.tensor("A", F32, [4])
    b.tensor("B", F32, [4])
    b.tensor("Sum", F32, [3], "out")
    # The second is outside, so the sum has no active lanes; the third stretches a lane that is inside.
    for place, start in enumerate((0, 4, 3)):
        one = b.load("A", b.span(start, 1), starts=(start,))
        wide = b.op("add", one, b.load("B", b.span(0, 4)))
        b.store("Sum", b.reduce("sum", wide, (0,), keeps_axes=False), b.point(place))
    a = np.array([1, 2, 3, 4], np.float32)
    np.testing.assert_array_equal(check(b.kernel(), {"A": a, "B": a}, {})["Sum"], [14, 0, 26])


def test_reads_with_a_fill_are_active_everywhere():
    b = Builder()
    b.tensor("A", F32, [3])
    b.tensor("Out", F32, [3], "out")
    x = b.load("A", b.span(-1, 6), fill=-100.0, starts=(-1,))
    b.store("Out", b.reduce("sum", x, (0,), keeps_axes=False), b.point(0))
    b.store("Out", b.reduce("max", b.op("neg", x), (0,), keeps_axes=False), b.point(1))
    b.store("Out", b.load("A", b.point(7), fill=-7.0), b.point(2))
    np.testing.assert_array_equal(
        check(b.kernel(), {"A": np.array([1, 2, 3], np.float32)}, {})["Out"], [-294, 100, -7]
    )


def test_points_outside_read_an_active_0_and_drop_stores():
    b = Builder()
    b.tensor("A", F32, [3])
    b.tensor("B", BOOL, [2])
    b.tensor("Out", F32, [4], "out")
    for place, index in enumerate((0, -1, 3)):
        b.store("Out", b.op("add", b.load("A", b.point(index)), 10.0), b.point(place))
    b.store("Out", 5.0, b.point(-1))
    b.store("Out", 5.0, b.point(4))
    b.store("Out", b.op("f32", b.load("B", b.point(2))), b.point(3))
    tensors = {"A": np.array([1, 2, 3], np.float32), "B": np.array([True, True])}
    np.testing.assert_array_equal(check(b.kernel(), tensors, {})["Out"], [11, 10, 10, 0])


def test_a_point_outside_makes_the_spans_beside_it_inactive():
    b = Builder()
    b.tensor("A", F32, ["M", 4])
    b.tensor("Out", F32, [2], "out")
    for place, row in enumerate((1, 2)):
        x = b.load("A", b.point(row), b.span(0, 4), starts=(row,))
        b.store("Out", b.reduce("sum", b.op("add", x, 1.0), (0,), keeps_axes=False), b.point(place))
    np.testing.assert_array_equal(check(b.kernel(), {"A": np.ones((2, 4), np.float32)}, {"M": 2})["Out"], [8, 0])


def test_assigning_leaves_what_the_value_does_not_cover():
    """acc = 2 acc + A[0 :+ 1, c :+ 4] over a row of 6: the last, ragged chunk keeps what the first left."""
    b = Builder()
    b.tensor("A", F32, [1, "V"])
    b.tensor("Out", F32, [1, 4], "out")
    zero = b.broadcast(b.const(0.0), (1, 4))

    def chunk(index, acc):
        start = Extent.of(Symbol(index.name, "loop"))
        x = b.load("A", b.span(0, 1), b.span(index, 4), starts=(0, start))
        return (b.update(acc, b.op("add", b.op("mul", acc, 2.0), x)),)

    (acc,) = b.loop(0, b.dim(dim("V")), 4, [zero], chunk)
    b.store("Out", acc, b.span(0, 1), b.span(0, 4))
    a = np.arange(1, 7, dtype=np.float32)[None]
    np.testing.assert_array_equal(check(b.kernel(), {"A": a}, {"V": 6})["Out"], [[2 * 1 + 5, 2 * 2 + 6, 3, 4]])


def test_padding_makes_every_lane_active():
    b = Builder()
    b.tensor("A", F32, [3])
    b.tensor("Out", F32, [2], "out")
    x = b.load("A", b.span(1, 4), starts=(1,))
    b.store("Out", b.reduce("sum", x, (0,), keeps_axes=False), b.point(0))
    b.store("Out", b.reduce("sum", b.pad(x, 10.0), (0,), keeps_axes=False), b.point(1))
    np.testing.assert_array_equal(check(b.kernel(), {"A": np.array([1, 2, 3], np.float32)}, {})["Out"], [5, 25])


def test_picks():
    b = Builder()
    b.tensor("A", F32, [3, 4])
    b.tensor("W", F32, [4])
    b.tensor("T", I32, [3])
    b.tensor("Out", F32, [3], "out")
    b.tensor("Weight", F32, [3], "out")
    b.tensor("Late", F32, [3], "out")
    t = b.view(b.load("T", b.span(0, 3)), (0, None))
    x = b.load("A", b.span(0, 3), b.span(0, 4))
    b.store("Out", b.view(b.pick(x, t), (0,)), b.span(0, 3))
    b.store("Weight", b.view(b.pick(b.load("W", b.span(0, 4)), t), (0,)), b.span(0, 3))
    # Lanes 2 and 3 of this tile are outside the tensor: a pick of them gives 0.
    late = b.load("A", b.span(0, 3), b.span(2, 4), starts=(0, 2))
    b.store("Late", b.view(b.pick(b.op("add", late, 5.0), t), (0,)), b.span(0, 3))
    a = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    tensors = {"A": a, "W": np.array([5, 6, 7, 8], np.float32), "T": np.array([1, 3, -1], np.int32)}
    actual = check(b.kernel(), tensors, {})
    np.testing.assert_array_equal(actual["Out"], [2, 8, 0])
    np.testing.assert_array_equal(actual["Weight"], [6, 8, 0])
    np.testing.assert_array_equal(actual["Late"], [9, 0, 0])


# --- memory --------------------------------------------------------------------------------------------------

STORAGE = {
    F32: np.float32, F16: np.float16, BF16: ml_dtypes.bfloat16, I32: np.int32, U32: np.uint32, DType.I8: np.int8,
    DType.U8: np.uint8, BOOL: np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("dtype", STORAGE, ids=str)
def test_a_copy_is_exact(dtype):
    b = Builder()
    b.tensor("A", dtype, [65536])
    b.tensor("B", dtype, [65536], "out")
    b.store("B", b.load("A", b.span(0, 65536)), b.span(0, 65536))
    words = np.arange(65536, dtype=np.uint16)
    if dtype is BOOL:
        a = words % 3 == 0
    elif np.dtype(STORAGE[dtype]).itemsize == 2:
        a = words.view(STORAGE[dtype])
    else:
        a = words.astype(STORAGE[dtype])
    actual = check(b.kernel(), {"A": a}, {})["B"]
    assert actual.dtype == a.dtype
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(actual.astype(np.float64), a.astype(np.float64))


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_stores_round_to_nearest_even(dtype):
    b = Builder()
    b.tensor("A", F32, ["N"])
    b.tensor("B", dtype, ["N"], "out")
    b.store("B", b.load("A", b.span(0, dim("N"))), b.span(0, dim("N")))
    rng = np.random.default_rng(0)
    sizes = 2.0 ** rng.integers(-30, 20, 5000)
    special = [65519, 65520, 3e38, 3.4e38, -np.inf, np.nan]
    a = np.concatenate([rng.normal(size=5000) * sizes, special]).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = a.astype(STORAGE[dtype])
    actual = check(b.kernel(), {"A": a}, {"N": len(a)})["B"]
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))


def test_bf16_as_bits_stays_bits():
    b = Builder()
    b.tensor("A", BF16, [2], "inout")
    b.store("A", b.op("add", b.load("A", b.span(0, 2)), 1.0), b.span(0, 2))
    actual = check(b.kernel(), {"A": np.array([0x3F80, 0], np.uint16)}, {})["A"]
    np.testing.assert_array_equal(actual, np.array([0x4000, 0x3F80], np.uint16))


def test_integers_keep_their_low_bits_and_i64_saturates():
    b = Builder()
    b.tensor("A", DType.I64, [5])
    b.tensor("Wide", I32, [5], "out")
    b.tensor("Narrow", DType.I8, [5], "out")
    b.tensor("Bytes", DType.U8, [5], "out")
    x = b.load("A", b.span(0, 5))
    for name in ("Wide", "Narrow", "Bytes"):
        b.store(name, x, b.span(0, 5))
    a = np.array([200, -300, 2**40, -(2**40), 7], np.int64)
    actual = check(b.kernel(), {"A": a}, {})
    np.testing.assert_array_equal(actual["Wide"], [200, -300, 2**31 - 1, -(2**31), 7])
    np.testing.assert_array_equal(actual["Narrow"], [-56, -44, -1, 0, 7])
    np.testing.assert_array_equal(actual["Bytes"], [200, 212, 255, 0, 7])


def test_a_read_after_a_store_sees_it_rounded_and_an_earlier_value_stays():
    b = Builder()
    b.tensor("A", F16, [4], "inout")
    b.tensor("Out", F32, [2, 4], "out")
    before = b.load("A", b.span(0, 4))
    b.store("A", b.op("add", before, 1 / 3), b.span(0, 4))
    after = b.load("A", b.span(1, 4), fill=9.0, starts=(1,))
    b.store("Out", before, b.point(0), b.span(0, 4))
    b.store("Out", after, b.point(1), b.span(0, 4))
    a = np.array([1, 2, 3, 4], np.float16)
    actual = check(b.kernel(), {"A": a}, {})
    stored = (a.astype(np.float32) + np.float32(1 / 3)).astype(np.float16)
    np.testing.assert_array_equal(actual["A"], stored)
    np.testing.assert_array_equal(actual["Out"][0], a)
    np.testing.assert_array_equal(actual["Out"][1], np.append(stored[1:], 9).astype(np.float32))


def test_what_no_block_writes_is_0_and_stores_skip_inactive_lanes():
    b = Builder()
    b.tensor("A", F32, [4])
    b.tensor("Out", F32, [6], "out")
    x = b.load("A", b.span(2, 4), starts=(2,))
    b.store("Out", b.op("add", x, 1.0), b.span(1, 4), starts=(1,))
    np.testing.assert_array_equal(
        check(b.kernel(), {"A": np.array([1, 2, 3, 4], np.float32)}, {})["Out"], [0, 4, 5, 0, 0, 0]
    )


def test_three_axes_of_blocks_and_a_tensor_of_rank_4():
    b = Builder()
    b.tensor("A", I32, [2, 3, 4, 5])
    b.tensor("Out", I32, [4, 3, 2], "out")
    x, y, z = b.block(0), b.block(1), b.block(2)
    row = b.load("A", b.point(x), b.point(y), b.point(z), b.span(0, 5))
    b.store("Out", b.reduce("sum", row, (0,), keeps_axes=False), b.point(z), b.point(y), b.point(x))
    a = np.arange(120, dtype=np.int32).reshape(2, 3, 4, 5)
    actual = check(b.kernel((2, 3, 4)), {"A": a}, {})["Out"]
    np.testing.assert_array_equal(actual, a.sum(axis=3).transpose(2, 1, 0))


def test_wrong_arrays_are_refused():
    kernel = rows_kernel(8)
    a, t = np.zeros((3, 4), np.float32), np.zeros(3, np.int32)
    with pytest.raises(KeyError, match="no array for the tensor T"):
        run(kernel, {"A": a}, {}, {"M": 3, "V": 4})
    with pytest.raises(ValueError, match="A has shape"):
        run(kernel, {"A": a, "T": t}, {}, {"M": 3, "V": 5})
    with pytest.raises(ValueError, match="A is stored as f32"):
        run(kernel, {"A": a.astype(np.float64), "T": t}, {}, {"M": 3, "V": 4})


def test_scalars_defaults_and_the_trace():
    b = Builder()
    b.tensor("Out", F32, [2], "out")
    alpha, beta = b.scalar("alpha", F32), b.scalar("beta", F32, 0.1)
    b.store("Out", alpha, b.point(0))
    b.store("Out", beta, b.point(1))
    kernel = b.kernel()
    seen = []
    actual = check(kernel, {}, {}, {"alpha": 2.5}, trace=lambda value, array: seen.append((value, array)))["Out"]
    np.testing.assert_array_equal(actual, np.array([2.5, 0.1], np.float32))
    assert alpha in [value for value, _ in seen]
    with pytest.raises(KeyError, match="alpha"):
        run(kernel, {}, {}, {})


def test_integer_scalars_are_known_to_extents():
    b = Builder()
    n = b.scalar("n", I32)
    b.tensor("A", F32, ["M"])
    b.tensor("Out", F32, [1], "out")
    count = Extent.of(Symbol("n", "scalar", nonnegative=False))
    x = b.load("A", b.span(n, count), starts=(count,))
    b.store("Out", b.reduce("sum", x, (0,), keeps_axes=False), b.point(0))
    kernel = b.kernel()
    a = np.arange(8, dtype=np.float32)
    for value, expected in ((3, 3 + 4 + 5), (0, 0), (-2, 0), (6, 6 + 7)):
        assert check(kernel, {"A": a}, {"M": 8}, {"n": value})["Out"][0] == expected
