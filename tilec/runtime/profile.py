"""A device's profile, measured: what a copy, exponentials, arithmetic, barriers and an empty dispatch take there."""

from __future__ import annotations

import os
from dataclasses import replace

from tilec.plan.profile import Profile, profile_of
from tilec.runtime.compute import BindingKind, Device, Launch
from tilec.runtime.launch import options_for
from tilec.runtime.timing import Timer, copy_launch

_profiles: dict[int, Profile] = {}

_COPIED_BYTES = 1 << 26
_SECONDS = 0.1
_THREADS, _TURNS = 64, 64
_CPU_CACHE, _GPU_CACHE = 16 << 20, 4 << 20

# Each thread keeps its own chain, whose end is stored so that nothing can be left out.
_CHAIN = """
@group(0) @binding(0) var<storage, read_write> kept: array<f32>;
%s
@compute @workgroup_size(64)
fn chain(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
  var a = f32(i) * 0.01;
  var b = a + 0.5;
  for (var turn = 0u; turn < 64u; turn++) {
    %s
  }
  kept[id.x] = a + b;
}
"""
_EMPTY = _CHAIN.replace("turn < 64u", "turn < 0u") % ("", "a = b;")
_FUNCTION = _CHAIN % ("", "a = exp(a - 1.0); b = exp(b - 1.0);")
_OPERATION = _CHAIN % ("", " ".join(["a = a * 0.99 + b;", "b = b * 0.98 + a;"] * 4))
_BARRIER = _CHAIN % (
    "var<workgroup> shared_words: array<f32, 64>;",
    "shared_words[i] = a; workgroupBarrier(); a = shared_words[(i + 1u) % 64u]; workgroupBarrier();",
)


def measure_profile(device: Device) -> Profile:
    """The profile of an opened device; what cannot be measured (cores, the cache) is taken from a known profile of the
    same adapter, or guessed. Takes about a second, once a process."""
    if id(device) not in _profiles:
        _profiles[id(device)] = _measure(device)
    return _profiles[id(device)]


def _measure(device: Device) -> Profile:
    timer = Timer(device)
    limits = options_for(device).limits
    known = profile_of(device.name)
    cores = known.cores if known is not None else (os.cpu_count() or 1) if limits.is_cpu else 32
    groups = cores * (4 if limits.is_cpu else 64)
    empty = _chain(timer, _EMPTY, 1)
    base = _chain(timer, _EMPTY, groups)
    work = groups * _THREADS * _TURNS

    def rate(wgsl: str, amount: int) -> float:
        return work * amount / max(1e-9, _chain(timer, wgsl, groups) - base)

    barriers = rate(_BARRIER, 2)
    profile = Profile(
        name=device.name,
        limits=limits,
        bandwidth=copy_bandwidth(timer, _COPIED_BYTES),
        operations=rate(_OPERATION, 16),
        functions=rate(_FUNCTION, 2),
        cores=cores,
        core_threads=limits.invocations if limits.is_cpu else 2048,
        core_registers=1 << 30 if limits.is_cpu else 65536,
        cache_bytes=_CPU_CACHE if limits.is_cpu else _GPU_CACHE,
        dispatch_seconds=empty,
        barrier_seconds=cores / barriers if limits.is_cpu else 0.0,
    )
    if known is None:
        return profile
    return replace(
        known, name=device.name, limits=limits, bandwidth=profile.bandwidth, operations=profile.operations,
        functions=profile.functions, dispatch_seconds=empty,
    )  # fmt: skip


def _chain(timer: Timer, wgsl: str, groups: int) -> float:
    device = timer.device
    kinds: tuple[BindingKind] = ("read_write",)
    pipeline = device.compute_pipeline(wgsl, "chain", kinds)
    kept = device.create_buffer(4 * groups * _THREADS)
    try:
        return timer.median([[Launch(pipeline, (kept,), (groups, 1, 1))]], _SECONDS, 1 if groups > 1 else 16)
    finally:
        kept.free()


def copy_bandwidth(timer: Timer, nbytes: int) -> float:
    """Bytes a second, read and written ones together, of a copy of that many bytes from one buffer to another."""
    device = timer.device
    source, target = device.create_buffer(nbytes), device.create_buffer(nbytes)
    try:
        return 2 * source.size / timer.median([[copy_launch(device, source, target)]], _SECONDS, 1)
    finally:
        source.free()
        target.free()
