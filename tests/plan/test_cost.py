"""What a plan costs: counted by hand, and against what the loop interpreter sees the lowered code touch."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.plan.harness import run_plan, storage_dtype
from tilec import driver
from tilec.loop import interp_memory
from tilec.options import Limits, Options
from tilec.plan.advice import advise
from tilec.plan.cost import Lowered, PlanCost
from tilec.plan.profile import H200, KNOWN, profile_of
from tilec.source import Source
from tilec.types import DTYPES

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL_CACHE = replace(H200, cache_bytes=0)
ROW_SUMS = """
kernel sums(A: tensor<f32>[M, V], Out: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, new] = rowsum(A[r :+ 8, :])
}
"""
SCALED = """
kernel scaled(X: tensor<f32|f16>[M, V], W: tensor<f32>[V]) {
  let r = ctx.block.x * 8
  X[r :+ 8, :] = softmax(X[r :+ 8, :]) * W[new, :]
}
"""
REPEATED = """
kernel repeated(X: tensor<f32>[M, V], Out: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  var total = rowsum(X[r :+ 8, :])
  for i in range(0, 3) { total += rowsum(X[r :+ 8, :] * f32(i)) }
  Out[r :+ 8, new] = total
}
"""
WHOLE = "kernel whole(X: tensor<f32>[N], Out: tensor<f32>[1]) {\n  Out[0] = sum(X[:])\n}\n"


def explain(source, dims, profile=H200, dtypes=None, kernel=None, **options) -> driver.Explanation:
    program = driver.parse_file(source if isinstance(source, Path) else Source("t.ph", source)).program
    types = {name: DTYPES[label] for name, label in (dtypes or {}).items()}
    built = driver.build_kernel(program, kernel or next(iter(program.kernels)), types).kernel
    limits = profile.limits if profile is not None else Limits()
    return driver.explain(built, dims, Options(limits=limits, **options), profile)


def cost_of(*arguments, **options) -> PlanCost:
    cost = explain(*arguments, **options).cost
    assert cost is not None
    return cost


def rounds(cost: PlanCost):
    return [each for dispatch in cost.dispatches for each in dispatch.rounds.values()]


def advice(*arguments, **options) -> str:
    explanation = explain(*arguments, **options)
    return "\n".join(advise(explanation.compiled.kernel, explanation.compiled.plan, explanation.cost))


# --- counted by hand -----------------------------------------------------------------------------------------


def test_row_sums_read_once_and_write_once():
    cost = cost_of(ROW_SUMS, {"M": 64, "V": 1000})
    assert cost.ideal == {"A": (64 * 1000 * 4, 0), "Out": (0, 64 * 4)}
    assert cost.moved == cost.ideal_bytes == 64 * 1000 * 4 + 64 * 4
    [only] = rounds(cost)
    assert only.elements == 64_000
    assert only.work.reductions == ["sum"]
    assert only.work.functions == {}
    assert cost.scratch_bytes == 0


def test_rows_of_the_last_block_that_do_not_exist_cost_nothing():
    cost = cost_of(ROW_SUMS, {"M": 4, "V": 1000})
    assert cost.moved == 4 * 1000 * 4 + 4 * 4
    [only] = rounds(cost)
    assert (only.elements, only.filled) == (4000, 0.5)


def test_a_long_row_is_read_twice_a_short_one_stays_in_registers():
    for columns, times, source in ((65536, 2, "memory"), (512, 1, "registers")):
        cost = cost_of(EXAMPLES / "train_loss.ph", {"M": 64, "V": columns}, SMALL_CACHE, {"T": "f16"}, "train_loss")
        logits = 64 * columns * 2
        wide = [s for each in rounds(cost) for s in each.streams if s.memory == "Logits" and s.is_wide]
        assert [(s.writes, s.source) for s in wide] == [(False, "memory"), (False, source), (True, "memory")]
        assert sum(s.moved for s in wide) == (times + 1) * logits
        assert cost.ideal["Logits"] == (logits, logits)
        assert [each.work.functions for each in rounds(cost)] == [{"exp": 1}, {"exp": 1}]


def test_what_runs_at_once_fits_the_cache_or_not():
    dims = {"M": 4096, "V": 65536}
    large = cost_of(SCALED, dims, replace(H200, cache_bytes=1 << 40), {"X": "f16"})
    small = cost_of(SCALED, dims, SMALL_CACHE, {"X": "f16"})
    weights = 65536 * 4
    assert small.moved - large.moved == 4096 * 65536 * 2 + 4095 * weights
    assert small.seconds > large.seconds


def test_a_sweep_that_turns_finds_what_was_read_last():
    dims = {"M": 4096, "V": 1 << 18}
    cost = cost_of(EXAMPLES / "train_loss.ph", dims, kernel="train_loss", dtypes={"T": "f16"})
    first, second = [s for each in rounds(cost) for s in each.streams if s.memory == "Logits" and not s.writes]
    logits = 4096 * (1 << 18) * 2
    assert first.moved == first.touched == logits
    assert second.touched == logits - 4096 * 32 * 1024 * 2  # what 1024 lanes keep
    assert 0.5 * logits < second.moved < 0.9 * second.touched
    half = cost_of(
        EXAMPLES / "train_loss.ph", dims, replace(H200, cache_bytes=H200.cache_bytes // 2), {"T": "f16"}, "train_loss"
    )
    assert half.moved - cost.moved == pytest.approx((second.touched - second.moved) / 2, rel=1e-6)


def test_of_a_long_row_the_beginning_is_kept():
    dims = {"M": 4096, "V": 1 << 17}
    explanation = explain(EXAMPLES / "train_loss.ph", dims, SMALL_CACHE, {"T": "f32"}, "train_loss")
    mapping = explanation.compiled.plan.dispatches[0].phase.mapping
    kept = mapping.resident * mapping.lanes * mapping.granule
    assert mapping.streams_rest
    again = [s for each in rounds(explanation.cost) for s in each.streams if s.source == "registers"]
    assert [s.moved for s in again] == [4096 * ((1 << 17) - kept) * 4]
    assert "and reads " in explanation.text


def test_a_tensor_that_all_rows_share_is_read_again_from_the_cache():
    """Beside rows that are too long for registers, of which it too keeps a part there."""
    text = SCALED.replace("softmax(X[r :+ 8, :]) * W[new, :]", "softmax(X[r :+ 8, :] + W[new, :])")
    cost = cost_of(text, {"M": 4096, "V": 1 << 17}, H200, {"X": "f32"})
    first, second = ([s for s in each.streams if s.memory == "W"] for each in rounds(cost))
    assert [s.moved for s in first] == [(1 << 17) * 4]
    assert [s.moved for s in second] == [0]


def test_a_tensor_that_all_rows_share_comes_from_memory_once():
    cost = cost_of(SCALED, {"M": 256, "V": 1024})
    [weights] = [s for each in rounds(cost) for s in each.streams if s.memory == "W"]
    assert (weights.moved, weights.touched) == (4096, 256 * 4096)


def test_rows_that_share_words_are_copied_twice():
    cost = cost_of(SCALED, {"M": 64, "V": 33}, None, {"X": "f16"})
    unpack, work, pack = cost.dispatches
    assert unpack.moved == pack.moved == 64 * 33 * (2 + 4)
    assert work.dispatch.kind == "jobs"
    assert cost.scratch_bytes == 64 * 33 * 4
    assert cost.ideal["X"] == (64 * 33 * 2, 64 * 33 * 2)


def test_the_naive_plan_moves_more():
    for name in ("train_loss", "layer_norm", "softmax", "batch_loss", "label_smoothing", "quantize"):
        dims = {"M": 512, "V": 256, "C": 256, "D": 256}
        grouped = cost_of(EXAMPLES / f"{name}.ph", dims)
        naive = cost_of(EXAMPLES / f"{name}.ph", dims, fusion=False)
        assert naive.moved > 1.5 * grouped.moved
        assert naive.seconds > grouped.seconds
        assert grouped.moved >= grouped.ideal_bytes


def test_a_loop_counts_its_turns():
    once = cost_of(REPEATED.replace("range(0, 3)", "range(0, 1)"), {"M": 8192, "V": 4096}, SMALL_CACHE)
    thrice = cost_of(REPEATED, {"M": 8192, "V": 4096}, SMALL_CACHE)
    elements = [sum(each.elements for each in rounds(cost)) for cost in (once, thrice)]
    assert elements == [2 * 8192 * 4096, 4 * 8192 * 4096]
    assert thrice.is_exact


def test_a_split_sweep_leaves_partial_results():
    cost = cost_of(WHOLE, {"N": 1 << 22})
    assert [one.dispatch.kind for one in cost.dispatches] == ["split", "finish"]
    assert [one.workgroups for one in cost.dispatches] == [512, 1]
    assert cost.moved == 4 * (1 << 22) + 4 + 2 * 4 * 512


def test_a_size_that_is_missing_is_named():
    explanation = explain(ROW_SUMS, {"V": 8})
    assert explanation.cost is None
    assert explanation.missing == "M"
    assert "costs of" not in explanation.text


def test_barriers_and_workgroup_memory_are_those_of_the_code():
    cost = cost_of(ROW_SUMS, {"M": 64, "V": 4096})
    [dispatch] = cost.dispatches
    text = explain(ROW_SUMS, {"M": 64, "V": 4096}).compiled.wgsl
    assert dispatch.lowered is not None
    assert dispatch.lowered.barriers == text.count("workgroupBarrier();") > 0
    assert dispatch.lowered.workgroup_bytes > 0
    assert cost_of(ROW_SUMS, {"M": 64, "V": 4}).dispatches[0].lowered == Lowered(0, 0, 0)


# --- against the lowered code --------------------------------------------------------------------------------

CASES = [
    ("train_loss", {"M": 20, "V": 301}, {"T": "f32"}),
    ("train_loss", {"M": 9, "V": 4099}, {"T": "f32"}),
    ("train_loss", {"M": 20, "V": 304}, {"T": "f32"}),
    ("train_loss", {"M": 9, "V": 4096}, {"T": "f32"}),
    ("train_loss", {"M": 9, "V": 4100}, {"T": "f32"}),
    ("softmax", {"M": 16, "C": 67}, {}),
    ("softmax", {"M": 16, "C": 64}, {}),
    ("layer_norm", {"M": 16, "D": 96}, {}),
    ("layer_norm", {"M": 16, "D": 99}, {}),
    ("column_mean", {"M": 100, "C": 70}, {}),
]


@pytest.mark.parametrize("threads", [32, 64])
@pytest.mark.parametrize(("name", "dims", "dtypes"), CASES)
def test_bytes_are_those_that_the_code_touches(name, dims, dtypes, threads, monkeypatch):
    """Words that the interpreter loads and stores for the elements of sweeps, but for those once a job."""
    touched: Counter[tuple[str, bool]] = Counter()

    def counting(method, writes):
        def count(memory, touch, *rest):
            if memory.name in tensors:
                touched[memory.name, writes] += touch.elements.size * memory.width * 4
            return method(memory, touch, *rest)

        return count

    kernel = name if name == "train_loss" else None
    explanation = explain(EXAMPLES / f"{name}.ph", dims, None, dtypes, kernel, threads=threads)
    built, cost = explanation.compiled.kernel, explanation.cost
    rng = np.random.default_rng(3)
    tensors = {}
    for parameter in built.tensors:
        shape = tuple(dim.evaluate(dims) for dim in parameter.dims)
        tensors[parameter.name] = rng.random(shape, np.float32).astype(storage_dtype(parameter.dtype))
    monkeypatch.setattr(interp_memory.Memory, "load", counting(interp_memory.Memory.load, False))
    monkeypatch.setattr(interp_memory.Memory, "store", counting(interp_memory.Memory.store, True))
    scalars = {scalar.name: scalar.default or 0 for scalar in built.scalars}
    run_plan(built, tensors, scalars, dims=dims, options=Options(threads=threads))
    expected: Counter[tuple[str, bool]] = Counter()
    for stream in (stream for each in rounds(cost) for stream in each.streams):
        if stream.is_wide:
            expected[stream.memory, stream.writes] += stream.touched
    assert expected
    for key, amount in expected.items():
        narrow = 16 * dims["M"]  # a picked element comes with its vector
        assert amount <= touched[key] <= amount + narrow, key


# --- time and advice -----------------------------------------------------------------------------------------


def test_time_is_that_of_the_slowest_unit():
    dims = {"M": 8192, "V": 32768}
    plain = cost_of(EXAMPLES / "train_loss.ph", dims, kernel="train_loss", dtypes={"T": "f32"})
    assert plain.dispatches[0].bound == "memory"
    assert plain.seconds > plain.ideal_seconds
    slow = replace(H200, functions=H200.functions / 100)
    bound = cost_of(EXAMPLES / "train_loss.ph", dims, slow, kernel="train_loss", dtypes={"T": "f32"})
    assert bound.dispatches[0].bound == "functions"
    assert bound.seconds > 10 * plain.seconds
    assert cost_of(ROW_SUMS, {"M": 8, "V": 8}).dispatches[0].bound == "launch"
    assert cost_of(ROW_SUMS, {"M": 8, "V": 8}, None).seconds is None


def test_a_trusted_conversion_is_cheap():
    program = driver.parse_file(EXAMPLES / "train_loss.ph").program
    built = driver.build_kernel(program, "train_loss", {"T": DTYPES["f16"]}).kernel
    operations = []
    for trusted in ((), ("f16",)):
        cost = driver.explain(built, {"M": 64, "V": 4096}, Options(trusted=trusted), H200).cost
        operations.append(sum(dispatch.operations for dispatch in cost.dispatches))
    assert operations[1] < 0.6 * operations[0]


def test_few_workgroups_use_few_cores():
    four, many = (cost_of(ROW_SUMS, {"M": rows, "V": 1 << 15}).seconds for rows in (4, 8192))
    assert many < 100 * four


def test_a_software_device_does_one_thing_after_the_other():
    cpu = replace(H200, limits=Limits(is_cpu=True), barrier_seconds=1e-6, cores=2)
    gpu = replace(cpu, limits=Limits())
    dims = {"M": 4096, "V": 4096}
    lanes = cost_of(ROW_SUMS, dims, cpu, threads=8)
    assert lanes.seconds is not None
    assert cost_of(ROW_SUMS, dims, gpu).dispatches[0].bound == "barriers"


def test_advice_names_what_is_lost():
    train = EXAMPLES / "train_loss.ph"
    assert "V=20001: rows of A start between vectors; V divisible by 4" in advice(ROW_SUMS, {"M": 64, "V": 20001})
    long = advice(train, {"M": 8192, "V": 1 << 18}, SMALL_CACHE, {"T": "f32"}, "train_loss")
    assert "Logits is read again, 7.25 GB more than once" in long
    shared = advice(SCALED, {"M": 64, "V": 33}, dtypes={"X": "f16"})
    assert "neighbouring rows of X share words" in shared
    assert "V divisible by 2" in shared
    assert "4 workgroups for 132 cores" in advice(ROW_SUMS, {"M": 4, "V": 1 << 15})
    twice = advice(EXAMPLES / "batch_loss.ph", {"M": 8192, "V": 4096})
    assert "X is read by the dispatches 0, " in twice
    assert advice(ROW_SUMS, {"M": 8192, "V": 4096}) == ""


def test_known_profiles():
    assert profile_of("NVIDIA H200") is H200
    assert profile_of("llvmpipe (LLVM 15.0.6, 256 bits)") is None
    assert all(profile.cores > 0 < profile.bandwidth for profile in KNOWN.values())
