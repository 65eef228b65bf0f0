"""Finds which built-ins of a device are right on all values, and not only where the standard says so.

A shader compares each with the helper function that stands for it elsewhere, over every upper half of a float (all
signs, exponents and the first bits behind them) with those lower halves at which rounding is decided. It counts what
is wrong of each name of `TRUSTED`, in their order.
"""

from __future__ import annotations

import re
import weakref

from tilec.errors import DeviceError
from tilec.runtime.adapters import DeviceInfo
from tilec.runtime.compute import Device, Launch
from tilec.wgsl.helpers import helper_closure
from tilec.wgsl.trusted import TRUSTED

_THREADS = 64
_UPPER_HALVES = 1 << 16
_BODY = """
@group(0) @binding(0) var<storage, read> lower_halves: array<u32>;
@group(0) @binding(1) var<storage, read_write> wrong: array<atomic<u32>>;

fn is_same(left: u32, right: u32) -> bool {
  let both_nan = ((left & 0x7fffffffu) > 0x7f800000u) & ((right & 0x7fffffffu) > 0x7f800000u);
  return (left == right) | both_nan;
}

fn is_same_f16(left: u32, right: u32) -> bool {
  return (left == right) | (((left & 0x7fffu) > 0x7c00u) & ((right & 0x7fffu) > 0x7c00u));
}

@compute @workgroup_size(64)
fn probe(@builtin(global_invocation_id) id: vec3<u32>) {
  var exp_is_right = true;
  var f16_is_right = is_same(bitcast<u32>(f16_to_f32(id.x)), bitcast<u32>(unpack2x16float(id.x).x));
  f16_is_right &= is_same(bitcast<u32>(f16_to_f32(id.x)), bitcast<u32>(unpack2x16float(id.x << 16u).y));
  for (var i = 0u; i < arrayLength(&lower_halves); i += 1u) {
    let x = bitcast<f32>((id.x << 16u) | lower_halves[i]);
    exp_is_right &= is_same(bitcast<u32>(exp_f32(x)), bitcast<u32>(exp(x)));
    f16_is_right &= is_same_f16(f32_to_f16(x), pack2x16float(vec2<f32>(x, 0.0)));
    f16_is_right &= is_same_f16(f32_to_f16(x), pack2x16float(vec2<f32>(0.0, x)) >> 16u);
  }
  if (!exp_is_right) {
    atomicAdd(&wrong[0], 1u);
  }
  if (!f16_is_right) {
    atomicAdd(&wrong[1], 1u);
  }
}
"""
_ORDER = """
enable subgroups;

@group(0) @binding(0) var<storage, read_write> wrong: array<atomic<u32>>;

@compute @workgroup_size(THREADS)
fn probe(
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
  let partner = subgroupShuffleXor(thread, LEASTu / 2u);
  let last = subgroupMax(i32(thread) - 2000);
  let bits = subgroupOr(1u << (thread & 31u));
  let run = (0xffffffffu >> (32u - min(32u, LEASTu))) << (thread & 31u & ~(min(32u, LEASTu) - 1u));
  let is_reduced = (last >= i32(thread | (LEASTu - 1u)) - 2000) & ((bits & run) == run);
  if ((lane % LEASTu != thread % LEASTu) | (size < LEASTu) | (partner != (thread ^ (LEASTu / 2u))) | !is_reduced) {
    atomicAdd(&wrong[0], 1u);
  }
}
"""
# By PCI vendor: NVIDIA's warps and Apple's SIMD groups have 32 threads, AMD's waves 32 or 64.
_LEAST_OF_VENDOR = {0x10DE: 32, 0x106B: 32, 0x1002: 32}
_found: weakref.WeakKeyDictionary[Device, tuple[str, ...]] = weakref.WeakKeyDictionary()
_clusters: weakref.WeakKeyDictionary[Device, int] = weakref.WeakKeyDictionary()


def trusted_builtins(device: Device) -> tuple[str, ...]:
    """The names of `TRUSTED` that hold on the device; found at the first call and kept for its life."""
    with device.lock:
        if device not in _found:
            _found[device] = _probe(device)
        return _found[device]


def _probe(device: Device) -> tuple[str, ...]:
    # Each of the three bits that an f16 keeps of the lower half, with the 13 behind it at, below and above a tie.
    lower = [top << 13 | rest for top in range(8) for rest in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF)]
    text = "\n".join([*helper_closure(["exp_f32", "f32_to_f16", "f16_to_f32"]), _BODY])
    try:
        halves, wrong = device.create_buffer(4 * len(lower)), device.create_buffer(8)
        device.write(halves, b"".join(one.to_bytes(4, "little") for one in lower))
        pipeline = device.compute_pipeline(text, "probe", ("read", "read_write"))
        device.run([Launch(pipeline, (halves, wrong), (_UPPER_HALVES // _THREADS, 1, 1))])
        counts = device.read(wrong).cast("I")
    except DeviceError:
        return ()  # a device that cannot run the probe is not trusted
    return tuple(name for name, count in zip(TRUSTED, counts, strict=True) if not count)


def shuffled_threads(device: Device) -> int:
    """How many neighbouring threads of a workgroup are surely of one subgroup: `Limits.subgroup` for the device.

    The standard does not say which threads form a subgroup, so a probe looks; and drivers may take another size for
    another shader, so what counts is the least that the hardware has.
    """
    with device.lock:
        if device not in _clusters:
            _clusters[device] = _probe_order(device)
        return _clusters[device]


def _probe_order(device: Device) -> int:
    least = least_subgroup(device.info)
    if "subgroups" not in device.features or least < 2:
        return 1
    try:
        wrong = device.create_buffer(4)
        for threads in (least, 64, device.limits["max-compute-invocations-per-workgroup"]):
            text = _ORDER.replace("THREADS", str(threads)).replace("LEAST", str(least))
            pipeline = device.compute_pipeline(text, "probe", ("read_write",))
            device.run([Launch(pipeline, (wrong,), (4, 1, 1))])
        return 1 if device.read(wrong).cast("I")[0] else least
    except DeviceError:
        return 1


def least_subgroup(info: DeviceInfo) -> int:
    """The smallest subgroup that the adapter's hardware has, where that is known better than the driver tells."""
    words = info.adapter.info
    vector = re.search(r"LLVM [^)]*, (\d+) bits", info.name)
    if vector:  # llvmpipe: the lanes of a vector register
        return int(vector[1]) // 32
    return max(_LEAST_OF_VENDOR.get(int(words.get("vendor_id") or 0), 1), info.subgroup_sizes[0])
