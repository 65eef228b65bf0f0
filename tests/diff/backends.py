"""The WGSL implementations that tests compare: naga on two software drivers, and Tint as a second validator.

`TILEC_TEST_DEVICES=lavapipe,swiftshader,nvidia` names others. A device that is missing fails the tests that need it,
because a comparison with nothing proves nothing: `bash scripts/setup_drivers.sh` installs both.
"""

from __future__ import annotations

import os

from tests.diff import tint
from tilec.runtime.device import BindingKind, Device, device

DEVICE_NAMES: tuple[str, ...] = tuple(os.environ.get("TILEC_TEST_DEVICES", "lavapipe,swiftshader").split(","))


def open_device(name: str) -> Device:
    """A device by the name that tests use for it."""
    return device(name)


def all_devices() -> list[Device]:
    """Every device that results are compared on."""
    return [open_device(name) for name in DEVICE_NAMES]


def assert_accepted(wgsl: str, entries: dict[str, tuple[BindingKind, ...]] | None = None) -> None:
    """Fails where Tint refuses the text, or naga does: `entries` are its entry points with their binding kinds."""
    tint.assert_valid(wgsl)
    for entry, bindings in (entries or {}).items():
        open_device(DEVICE_NAMES[0]).compute_pipeline(wgsl, entry, bindings)
