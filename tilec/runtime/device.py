"""Chooses devices: `device` opens one, `devices` says what there is and what is wrong with it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilec.errors import DeviceError
from tilec.runtime.adapters import (
    DEFAULT_LIMITS,
    LOOP_TRAP,
    LOOP_TRAP_FIX,
    DeviceInfo,
    adapters,
    native_feature,
    no_adapter_reason,
)
from tilec.runtime.compute import Device
from tilec.runtime.memory import BindingKind, Buffer, Launch, Pipeline, Slice

__all__ = ["BindingKind", "Buffer", "Device", "DeviceInfo", "Launch", "Pipeline", "Slice", "device", "devices"]

_devices: dict[tuple[Any, ...], Device] = {}
_devices_lock = threading.RLock()


class NoSuchDeviceError(DeviceError):
    """No device is called so. (A kernel's call knows one name more: the interpreter's.)"""


def device(
    which: Device | str | int | None = None,
    *,
    features: Sequence[str] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Device:
    """Opens a device; the same one each time for the same request.

    `which` is None (the best usable adapter: discrete, integrated, virtual, then a software device), "vulkan" or
    another backend, "swiftshader", a part of an adapter's name, or an index of `devices()`. `features` are WebGPU's
    names and default to all of those that kernels can use and the adapter has; `limits` raises WebGPU's default
    limits (`{"max-storage-buffers-per-shader-stage": 10}`), and lowers the sizes of buffers and bindings, which are the
    adapter's largest otherwise, as is what a workgroup may be on a GPU. A device that was lost is opened anew.
    Raises DeviceError in words, with the fix, where there is none, where a driver gives wrong numbers, or where it
    lacks what is asked for.
    """
    if isinstance(which, Device):
        return which
    found = adapters()
    candidates = [info for info in found if which is None or _is_named(info, which)]
    if not candidates:
        raise NoSuchDeviceError(_no_match(which, found))
    judged = []
    for info in candidates:
        judged.append(_judge(info))
        if judged[-1].is_usable:
            return _open(judged[-1], features, limits)
    if which is None:
        raise DeviceError(no_adapter_reason(judged))
    raise DeviceError(f"{judged[0].name} is not usable: {judged[0].problems[0]}")


def devices() -> list[DeviceInfo]:
    """What there is, best first, each with its problems (and their fixes) after a short probe of the driver.

    An empty list means no driver at all. Raises DeviceError where the package wgpu is missing.
    """
    return [_judge(info) for info in adapters()]


def _is_named(info: DeviceInfo, which: str | int) -> bool:
    if not isinstance(which, (str, int)):
        raise DeviceError(
            'a device is a name such as "numpy" or "vulkan", an index of tilec.devices() or a tilec.Device, '
            f"not {which!r}"
        )
    return info.index == which if isinstance(which, int) else info.matches(which)


def _no_match(which: str | int | None, found: Sequence[DeviceInfo]) -> str:
    """What there is instead, and what a name of another library's devices would be here."""
    if which == "numpy":
        return 'the interpreter is no device to open: "numpy" is for a call, device="numpy", and for `tilec run`'
    if not found:
        return no_adapter_reason(list(found))
    shown = [info for info in found if info.is_usable] or found
    there_is = f"there is {'; '.join(f'{info.index}: {info}' for info in shown)}"
    kind = str(which).partition(":")[0].casefold()
    if kind in ("cuda", "gpu", "hip", "rocm", "mps", "xpu"):
        reason = ": GPUs are reached through Vulkan, Metal or D3D12, and the best one is taken where none is named"
    elif kind in ("cpu", "host"):
        software = next((info for info in found if info.kind == "cpu" and info.is_usable), None)
        reason = f": {software.name}, index {software.index}, is one of the processor" if software is not None else ""
    else:
        reason = ""
    return f"no device is called {which!r}{reason}; {there_is}"


def _open(info: DeviceInfo, features: Sequence[str] | None, limits: Mapping[str, int] | None) -> Device:
    asked = tuple(info.features if features is None else features)
    raised = {name.replace("_", "-"): int(value) for name, value in (limits or {}).items()}
    key = (id(info.adapter), asked, tuple(sorted(raised.items())))
    with _devices_lock:
        known = _devices.get(key)
        if known is None or known.is_lost:
            known = _devices[key] = _request(info, asked, raised)
        return known


_SIZES = ("max-buffer-size", "max-storage-buffer-binding-size")


# Rows of tens of thousands of elements stay on a GPU's chip in workgroups of 1,024 threads.
_WORKGROUPS = (
    "max-compute-invocations-per-workgroup", "max-compute-workgroup-size-x", "max-compute-workgroup-storage-size",
)  # fmt: skip


def _request(info: DeviceInfo, features: tuple[str, ...], raised: Mapping[str, int]) -> Device:
    native = [native_feature(name) for name in features]
    for name in features:
        if name not in info.features:
            raise DeviceError(f"{info.name} lacks the feature {name}; it has {', '.join(info.features) or 'none'}")
    wanted = dict(DEFAULT_LIMITS)
    for name in _SIZES if info.kind == "cpu" else (*_SIZES, *_WORKGROUPS):
        wanted[name] = info.limits.get(name, wanted[name])
    for name, value in raised.items():
        if name not in DEFAULT_LIMITS:
            raise DeviceError(f"no limit is named '{name}'; there are {', '.join(DEFAULT_LIMITS)}")
        if value > info.limits.get(name, DEFAULT_LIMITS[name]):
            raise DeviceError(f"{info.name} offers {name} {info.limits[name]:,}, and {value:,} was asked for")
        wanted[name] = value if name in _SIZES else max(value, wanted[name])
    try:
        handle = info.adapter.request_device_sync(required_features=native, required_limits=wanted)
    except Exception as error:
        raise DeviceError(f"{info.name} does not open: {str(error).strip()}") from error
    return Device(info, handle, features)


# Rounds that a driver must survive: more than 65,535. The bound comes from memory so that nothing can be unrolled.
_PROBE_ROUNDS = 70_000
_PROBE = """
@group(0) @binding(0) var<storage, read> bound: array<u32>;
@group(0) @binding(1) var<storage, read_write> counted: array<u32>;
@compute @workgroup_size(1) fn probe() {
  var rounds = 0u;
  var mixed = 1u;
  while (rounds < bound[0]) { mixed = mixed * 1664525u + 1013904223u; rounds = rounds + 1u; }
  counted[0] = rounds;
  counted[1] = mixed;
}
"""
_verdicts: dict[int, tuple[str, ...]] = {}


def _judge(info: DeviceInfo) -> DeviceInfo:
    """The adapter with what the probe found; a verdict is kept for the process."""
    if not info.is_usable:
        return info
    with _devices_lock:
        if info.index not in _verdicts:
            _verdicts[info.index] = _probe(info)
    return replace(info, problems=_verdicts[info.index])


def _probe(info: DeviceInfo) -> tuple[str, ...]:
    try:
        opened = _open(info, None, None)
        bound, counted = opened.create_buffer(4), opened.create_buffer(8)
        opened.write(bound, _PROBE_ROUNDS.to_bytes(4, "little"))
        pipeline = opened.compute_pipeline(_PROBE, "probe", ("read", "read_write"))
        opened.run([Launch(pipeline, (bound, counted), (1, 1, 1))])
        result = opened.read(counted).cast("I")
    except DeviceError as error:
        return (f"a first small shader fails: {error}",)
    if (result[0], result[1]) == (_PROBE_ROUNDS, _mixed(_PROBE_ROUNDS)):
        return ()
    return (f"{LOOP_TRAP}; {LOOP_TRAP_FIX}",)


def _mixed(rounds: int) -> int:
    value = 1
    for _ in range(rounds):
        value = (value * 1664525 + 1013904223) & 0xFFFFFFFF
    return value
