"""Tuned plans: what is remembered is used for sizes of the same kind, and nothing else in the directory is believed."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest

import tilec
from tilec import driver
from tilec.runtime.cache import Variants
from tilec.runtime.directory import MOST_BYTES, cache_directory, read_text, write_text
from tilec.runtime.launch import options_for
from tilec.runtime.limits import compile_for
from tilec.runtime.tuned import remember, tuned_options
from tilec.source import Source

SUMS = """
kernel sums(A: tensor<f32>[M, V], Out: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, new] = rowsum(A[r :+ 8, :])
}
"""
DIMS, ALIKE, OTHER = {"M": 16, "V": 4096}, {"M": 24, "V": 4096}, {"M": 16, "V": 5}


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def kernel():
    return build(SUMS)


def build(source: str):
    program = driver.parse_file(Source("sums.ph", source)).program
    return driver.build_kernel(program, "sums").kernel


@pytest.fixture
def options(lavapipe):
    return options_for(lavapipe)


@pytest.fixture
def file(directory, kernel, lavapipe, options):
    """Four threads are remembered."""
    return remember(kernel, lavapipe, DIMS, options, tilec_threads(options, 4), {"plan": "4 threads"})


def tilec_threads(options, count):
    from dataclasses import replace

    return replace(options, threads=count)


def threads_of(kernel, device, dims, options):
    return compile_for(Variants(kernel), device, dims, options).plan.dispatches[0].threads


def test_a_remembered_plan_is_compiled_for_such_sizes(file, kernel, lavapipe, options):
    assert threads_of(kernel, lavapipe, DIMS, options) == 4
    assert threads_of(kernel, lavapipe, ALIKE, options) == 4
    assert threads_of(kernel, lavapipe, OTHER, options) == 32
    document = json.loads(file.read_text())
    assert document["kernel"] == "sums"
    [entry] = document["plans"].values()
    assert entry["plan"] == "4 threads"
    assert entry["guards"]


def test_a_launch_uses_it_and_is_right(file, lavapipe, options, monkeypatch):
    asked = []

    def recording(variants, dims, chosen, for_dims=Variants.for_dims):
        asked.append(chosen.threads)
        return for_dims(variants, dims, chosen)

    monkeypatch.setattr(Variants, "for_dims", recording)
    module = tilec.compile(source=SUMS, name="sums.ph")
    a = np.arange(16 * 4096, dtype=np.float32).reshape(16, 4096) % 7
    np.testing.assert_array_equal(module.sums(a, device=lavapipe).Out, a.sum(1))
    assert asked == [4]


def test_other_kernels_devices_and_options_do_not(file, kernel, lavapipe, options, devices):
    other = build(SUMS.replace("rowsum", "rowmax"))
    assert tuned_options(other, lavapipe, DIMS, options) is options
    fixed = tilec_threads(options, 8)
    assert tuned_options(kernel, lavapipe, DIMS, fixed) is fixed
    asked = build(SUMS.replace("kernel", "@threads(8)\nkernel"))
    assert tuned_options(asked, lavapipe, DIMS, options) is options
    for device in devices:
        if device is not lavapipe and hasattr(device, "info"):
            own = options_for(device)
            assert tuned_options(kernel, device, DIMS, own) is own


def test_the_rules_choice_is_forgotten(file, kernel, lavapipe, options):
    assert remember(kernel, lavapipe, DIMS, options, options, {}) == file
    assert tuned_options(kernel, lavapipe, DIMS, options) is options
    assert json.loads(file.read_text())["plans"] == {}


def test_nothing_is_kept_without_a_directory(kernel, lavapipe, options, monkeypatch):
    monkeypatch.setenv("TILEC_CACHE", "")
    assert cache_directory() is None
    assert remember(kernel, lavapipe, DIMS, options, tilec_threads(options, 4), {}) is None
    assert tuned_options(kernel, lavapipe, DIMS, options) is options


@pytest.mark.parametrize("threads", [0, -4, 3, 4.0, "4", True, None, 1 << 40, [4], {"threads": 4}])
def test_only_a_workgroup_size_is_believed(file, kernel, lavapipe, options, threads):
    document = json.loads(file.read_text())
    for entry in document["plans"].values():
        entry["threads"] = threads
    file.write_text(json.dumps(document))
    assert tuned_options(kernel, lavapipe, DIMS, options) is options


@pytest.mark.parametrize(("name", "values"), [
    ("split", [0, -1, "8", 8.0, True, 1 << 31, [8]]), ("kept", [-1, 1 << 20, "8", 0.0, False, {}]),
])  # fmt: skip
def test_only_numbers_that_a_plan_can_have_are_believed(file, kernel, lavapipe, options, name, values):
    document = json.loads(file.read_text())
    for value in values:
        for entry in document["plans"].values():
            entry[name] = value
        file.write_text(json.dumps(document))
        assert tuned_options(kernel, lavapipe, DIMS, options) is options


@pytest.mark.parametrize("choice", [{"split": 512}, {"kept": 0}, {"kept": 16, "threads": 4}])
def test_all_that_a_plan_is_made_of_is_remembered(directory, kernel, lavapipe, options, choice):
    from dataclasses import replace

    remember(kernel, lavapipe, DIMS, options, replace(options, **choice), {})
    assert tuned_options(kernel, lavapipe, DIMS, options) == replace(options, **choice)
    assert threads_of(kernel, lavapipe, DIMS, options) > 0


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"plans": []}', '{"plans": {"x": 1}}', "[" * 100_000, "\0"])
def test_damaged_files_are_as_good_as_none(file, kernel, lavapipe, options, text):
    file.write_text(text)
    assert tuned_options(kernel, lavapipe, DIMS, options) is options


def test_files_of_others_are_not_read(tmp_path):
    path = tmp_path / "text"
    write_text(path, "mine")
    assert read_text(path) == "mine"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o622)
    assert read_text(path) is None
    path.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert read_text(link) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe") is None
    assert read_text(tmp_path) is None
    path.write_bytes(b"x" * (MOST_BYTES + 1))
    assert read_text(path) is None
    path.write_bytes(b"\xff")
    assert read_text(path) is None


def test_a_write_that_fails_leaves_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "text"
    write_text(path, "old")

    def refuse(*arguments):
        raise OSError("full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["text"]
