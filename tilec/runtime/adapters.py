"""Finds the adapters of this machine: which drivers there are, what each can do, and what is wrong with it."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tilec.errors import DeviceError

DRIVER_FIX = (
    "run `bash scripts/setup_drivers.sh vulkan` as root in a checkout, "
    "or on a recent system `apt-get install libvulkan1 mesa-vulkan-drivers`"
)
GPU_EXTRA_FIX = 'install it with `pip install "tilec[gpu]"`'
LOOP_TRAP = (
    "this driver ends a shader's loops after about 65,535 rounds without an error (Mesa's lavapipe before 25), "
    "so long rows would give wrong numbers"
)
LOOP_TRAP_FIX = "use Mesa 25 or newer: `bash scripts/setup_drivers.sh vulkan` unpacks it beside the sources"

# Of WebGPU's optional features, those that a compiled kernel can use, by the standard's names; wgpu's differ for one.
_NATIVE_FEATURES = {"shader-f16": "shader-f16", "subgroups": "subgroup", "timestamp-query": "timestamp-query"}

# What every WebGPU device has to offer; a kernel that keeps to these runs everywhere.
DEFAULT_LIMITS: Mapping[str, int] = {
    "max-bind-groups": 4,
    "max-bindings-per-bind-group": 1000,
    "max-buffer-size": 268_435_456,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-size-z": 64,
    "max-compute-workgroup-storage-size": 16_384,
    "max-compute-workgroups-per-dimension": 65_535,
    "max-storage-buffer-binding-size": 134_217_728,
    "max-storage-buffers-per-shader-stage": 8,
    "max-uniform-buffer-binding-size": 65_536,
    "max-uniform-buffers-per-shader-stage": 12,
}

_TYPE_ORDER = ("discrete", "integrated", "virtual", "cpu", "unknown")
_TYPE_OF_WGPU = {"discretegpu": "discrete", "integratedgpu": "integrated", "virtualgpu": "virtual", "cpu": "cpu"}


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One adapter. `index` is its place in `devices()`, best first, and names it for `device(index)`.

    `kind` is discrete, integrated, virtual, cpu or unknown. `features` holds WebGPU's names of what kernels can use,
    `limits` the adapter's maxima by WebGPU's names (`max-buffer-size`, in bytes). `problems` says in words why the
    adapter is not used, each with its fix; empty for a usable one.
    """

    index: int
    name: str
    backend: str
    driver: str
    kind: str
    features: tuple[str, ...]
    limits: Mapping[str, int]
    subgroup_sizes: tuple[int, int]
    problems: tuple[str, ...] = ()
    adapter: Any = field(default=None, repr=False, compare=False)

    @property
    def is_usable(self) -> bool:
        return not self.problems

    def matches(self, name: str) -> bool:
        """Whether `name`, in any case, is this adapter's backend or a part of what it is called."""
        wanted = name.casefold()
        called = [self.name, self.driver, "lavapipe" if "llvmpipe" in self.name and self.backend == "Vulkan" else ""]
        return wanted == self.backend.casefold() or any(wanted in text.casefold() for text in called)

    def __str__(self) -> str:
        return f"{self.name} ({self.backend}, {self.driver or self.kind})"


def load_wgpu() -> Any:
    """The wgpu module, with the drivers of this checkout made known first. Raises DeviceError where it is missing."""
    announce_drivers()
    try:
        import wgpu
    except ImportError as error:
        raise DeviceError(f"no device: the Python package wgpu is not there ({error}); {GPU_EXTRA_FIX}") from None
    except OSError as error:
        raise DeviceError(f"no device: wgpu's native library does not load: {error}") from None
    return wgpu


def driver_files() -> list[Path]:
    """Vulkan driver descriptions on this machine: those set up in this checkout first, then the system's own."""
    checkout = Path(__file__).resolve().parents[2]
    set_up = [checkout / ".drivers/mesa/icd.json", checkout / ".drivers/swiftshader/vk_swiftshader_icd.json"]
    browser = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
    found = [path for path in set_up if path.is_file()]
    if not any("swiftshader" in path.name for path in found) and browser.is_file():
        found.append(browser)
    # The checkout has a Mesa of its own because the system's lavapipe is missing or too old.
    hides_lavapipe = any(path.parent.name == "mesa" for path in found)
    folders = ["/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"]
    folders.append(str(Path.home() / ".local/share/vulkan/icd.d"))
    for folder in folders:
        for path in sorted(Path(folder).glob("*.json")):
            if not (hides_lavapipe and path.name.startswith("lvp")):
                found.append(path)
    return found


def announce_drivers() -> None:
    """Tells the Vulkan loader about drivers that it would not look for. Leaves a choice that the user made alone.

    It reads the variable once, when the first Vulkan instance is made: this has to come before wgpu's.
    """
    if not sys.platform.startswith("linux"):
        return
    if os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES"):
        return
    files = driver_files()
    if all("icd.d" in path.parts for path in files):
        return
    # Loaders before 1.3.207 know only the second name.
    os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = ":".join(map(str, files))


@functools.cache
def adapters() -> tuple[DeviceInfo, ...]:
    """Every adapter of the machine, best first: by kind, then usable ones, then the fast software device.

    The loop probe has not run on these yet: see `tilec.runtime.device.devices`. Raises DeviceError without wgpu.
    """
    wgpu = load_wgpu()
    try:
        found = [_describe(adapter) for adapter in wgpu.gpu.enumerate_adapters_sync()]
    except Exception as error:
        raise DeviceError(f"no device: wgpu could not list the adapters: {error}") from error
    found.sort(key=_rank)
    return tuple(replace(info, index=index) for index, info in enumerate(found))


def no_adapter_reason(found: tuple[DeviceInfo, ...] | list[DeviceInfo]) -> str:
    """One line that says why there is no usable device and how to get one."""
    if not found:
        return f"no device: no Vulkan, Metal or D3D12 driver found; {DRIVER_FIX}"
    first = found[0]
    return f"no usable device: {first.name}: {first.problems[0]}"


def _rank(info: DeviceInfo) -> tuple[bool, int, bool, str]:
    # SwiftShader runs the same shaders several times slower than lavapipe.
    return (not info.is_usable, _TYPE_ORDER.index(info.kind), "swiftshader" in info.name.casefold(), info.name)


def _describe(adapter: Any) -> DeviceInfo:
    words = adapter.info
    backend = str(words.get("backend_type", ""))
    offered = {str(name) for name in adapter.features}
    known = {str(name).replace("_", "-"): value for name, value in adapter.limits.items()}
    limits = {name: int(known[name]) for name in DEFAULT_LIMITS if name in known}
    problems = []
    if backend.casefold().startswith("opengl"):
        # Half of what kernels rely on is not promised there, and no test covers it.
        problems.append(f"it is reached through OpenGL, which is not supported: {DRIVER_FIX}")
    for name, least in DEFAULT_LIMITS.items():
        if limits.get(name, least) < least:
            problems.append(f"it offers {name} {limits[name]}, below WebGPU's minimum of {least}")
    return DeviceInfo(
        index=-1,
        name=str(words.get("device", "") or words.get("description", "") or "unnamed adapter"),
        backend=backend,
        driver=str(words.get("description", "") or words.get("vendor", "")),
        kind=_TYPE_OF_WGPU.get(str(words.get("adapter_type", "")).casefold(), "unknown"),
        features=tuple(name for name, native in _NATIVE_FEATURES.items() if native in offered),
        limits=limits,
        # The names are wgpu-py's.
        subgroup_sizes=(int(words.get("stackgroup_min_size") or 4), int(words.get("stackgroup_max_size") or 128)),
        problems=tuple(problems),
        adapter=adapter,
    )


def native_feature(name: str) -> str:
    """wgpu's name of a WebGPU feature. Raises DeviceError for one that kernels cannot use."""
    if name not in _NATIVE_FEATURES:
        raise DeviceError(f"no feature is named '{name}'; there are {', '.join(_NATIVE_FEATURES)}")
    return _NATIVE_FEATURES[name]
