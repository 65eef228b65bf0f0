"""tilec: a compiler for a small tile language, `.ph` in, WGSL out.

>>> import tilec
>>> m = tilec.compile(source="kernel double(A: tensor<f32>[N], B: tensor<f32>[N]) { B[:] = A[:] * 2.0 }")
>>> m.double([1.0, 2.0], device="numpy").B
array([2., 4.], dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilec.errors import ArrayError, CompileError, DebugError, DeviceError, DeviceLostError, SandboxError, TilecError

if TYPE_CHECKING:
    from tilec.runtime.arrays import DeviceArray
    from tilec.runtime.bound import Bound
    from tilec.runtime.device import Device, DeviceInfo, device, devices
    from tilec.runtime.kernel import Kernel
    from tilec.runtime.module import CompileWarning, Module, compile
    from tilec.runtime.reports import DebugWarning
    from tilec.runtime.result import Result
    from tilec.runtime.sandbox.limits import Sandbox

__version__ = "0.1.0"

__all__ = [
    "ArrayError", "Bound", "CompileError", "CompileWarning", "DebugError", "DebugWarning", "Device", "DeviceArray",
    "DeviceError", "DeviceInfo", "DeviceLostError", "Kernel", "Module", "Result", "Sandbox", "SandboxError",
    "TilecError", "__version__", "compile", "device", "devices",
]  # fmt: skip

# Importing tilec is cheap: the compiler, NumPy and wgpu load when they are first used.
_HOMES = {
    "Bound": "tilec.runtime.bound",
    "CompileWarning": "tilec.runtime.module",
    "DebugWarning": "tilec.runtime.reports",
    "Device": "tilec.runtime.device",
    "DeviceArray": "tilec.runtime.arrays",
    "DeviceInfo": "tilec.runtime.device",
    "Kernel": "tilec.runtime.kernel",
    "Module": "tilec.runtime.module",
    "Result": "tilec.runtime.result",
    "Sandbox": "tilec.runtime.sandbox.limits",
    "compile": "tilec.runtime.module",
    "device": "tilec.runtime.device",
    "devices": "tilec.runtime.device",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tilec' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
