"""Fixtures for all tests: devices, and how hypothesis draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.diff import backends, tint
from tests.diff.web import WebDevice, dawn_device
from tilec.runtime.device import Device
from tilec.wgsl import emit

# The same examples each run, so that a red run means a changed program. TILEC_HYPOTHESIS=explore looks for new ones.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("fixed", derandomize=True, database=None, print_blob=True, **_COMMON)
settings.register_profile("explore", derandomize=False, max_examples=1000, **_COMMON)
# What a developer tuned must not decide what tests compile.
os.environ["TILEC_CACHE"] = ""
settings.load_profile(os.environ.get("TILEC_HYPOTHESIS", "fixed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the texts of tests/golden anew")


@pytest.fixture(scope="session", autouse=True)
def _every_shader_is_accepted() -> Iterator[None]:
    """Tint judges every text that the compiler emits in a test; naga judges those that run."""
    written = emit.emit_module

    def judged(*arguments: Any, **options: Any) -> emit.Emitted:
        emitted = written(*arguments, **options)
        tint.assert_valid(emitted.text)
        return emitted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit, "emit_module", judged)
        yield


@pytest.fixture(scope="session", params=backends.DEVICE_NAMES)
def device(request: pytest.FixtureRequest) -> Device:
    """Each device in turn: a test that takes it runs once a device."""
    return backends.open_device(request.param)


@pytest.fixture(scope="session")
def devices() -> list[Device]:
    """All devices at once, for comparisons."""
    return backends.all_devices()


@pytest.fixture(scope="session")
def lavapipe() -> Device:
    """The fast software device, for tests that need only one."""
    return backends.open_device(backends.DEVICE_NAMES[0])


@pytest.fixture(scope="session")
def dawn() -> WebDevice:
    """Dawn, Chrome's WebGPU, on the fast software driver: kernels run on it as on any device."""
    return dawn_device(backends.DEVICE_NAMES[0])
