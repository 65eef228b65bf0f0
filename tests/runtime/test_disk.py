"""Compiled kernels on disk: found where they are right, and nowhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tilec
from tilec.runtime import cache, disk
from tilec.runtime.executable import Executable
from tilec.types import DType

SOURCE = """
import "helpers.ph"

kernel losses<T: f32|f16>(X: tensor<T>[M, N], Y: tensor<f32>[M], scale: f32 = 1.0, shift: i32 = 0) {
  let r = ctx.block.x * 8
  Y[r :+ 8, new] = bent(logsumexp(X[r :+ 8, :])) * scale + f32(shift)
}

kernel totals(X: tensor<f32>[M, N], Sum: tensor<f32>[1]) {
  Sum[0] = sum(X[:, :])
}
"""
HELPERS = "fn bent(x) = 2.0 * x\n"
F32 = np.float32


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "helpers.ph").write_text(HELPERS)
    path = tmp_path / "losses.ph"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that were compiled and not found."""
    made: list[str] = []
    compile_built = cache.compile_built

    def counted(built, *arguments):
        made.append(built.name)
        return compile_built(built, *arguments)

    monkeypatch.setattr(cache, "compile_built", counted)
    return made


def given(rows: int = 9, columns: int = 5, dtype: type = F32) -> np.ndarray:
    return np.linspace(-3, 3, rows * columns).reshape(rows, columns).astype(dtype)


def right(x: np.ndarray, scale: float = 1.0, shift: int = 0) -> np.ndarray:
    return 2 * np.log(np.exp(x.astype(np.float64)).sum(1)) * scale + shift


def run(sources, folder, device, *, rows=9, columns=5, dtype=F32, kernel="losses", **scalars) -> None:
    """A new module, as in a new process, whose result is right."""
    x = given(rows, columns, dtype)
    module = tilec.compile(sources, cache=folder)
    if kernel == "totals":
        np.testing.assert_allclose(module.totals(x, device=device).Sum, x.sum(keepdims=True)[0], atol=1e-5)
    else:
        got = module.losses(x, device=device, **scalars).Y
        np.testing.assert_allclose(got, right(x, **scalars), rtol=2e-3 if dtype is np.float16 else 1e-5)


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "compiled").iterdir())


def test_another_module_finds_what_was_compiled(sources, folder, device, compilations):
    run(sources, folder, device)
    run(sources, folder, device, kernel="totals")
    assert compilations == ["losses", "totals"]
    for rows in (9, 1, 8, 3):
        run(sources, folder, device, rows=rows, scale=3.0, shift=-2)
    run(sources, folder, device, kernel="totals")
    assert compilations == ["losses", "totals"]
    found = tilec.compile(sources, cache=folder).losses
    bound = found.bind(given(), device=device)
    assert isinstance(bound._prepared.compiled, Executable)
    np.testing.assert_allclose(bound.launch().Y.numpy(), right(given()), rtol=1e-5)


def test_what_is_found_launches_the_same_text(sources, folder, lavapipe):
    made = tilec.compile(sources, cache=folder).losses.bind(given(), device=lavapipe)._prepared
    found = tilec.compile(sources, cache=folder).losses.bind(given(), device=lavapipe)._prepared
    assert made.compiled.emitted.text == found.compiled.emitted.text
    assert made.compiled.emitted.entries == found.compiled.emitted.entries
    assert made.compiled.program.guards == found.compiled.program.guards
    places = [{line: (span.source.name, span.line) for line, span in one.compiled.emitted.spans.items()}
              for one in (made, found)]  # fmt: skip
    assert places[0] == places[1]
    for name in ("groups", "names"):
        assert [getattr(step, name) for step in made._steps] == [getattr(step, name) for step in found._steps]
    assert made.scratch_bytes == found.scratch_bytes


def test_each_thing_that_decides_misses(sources, folder, lavapipe, compilations):
    run(sources, folder, lavapipe)
    misses = 1
    for change in ({"columns": 4000}, {"dtype": np.float16}, {"kernel": "totals"}):
        run(sources, folder, lavapipe, **change)
        misses += 1
        assert len(compilations) == misses, change
    x = given()
    module = tilec.compile(sources, cache=folder)
    for constant in (2.0, 2, float("nan"), 0.0, -0.0):
        module.losses.specialize(scale=constant)(x, device=lavapipe)
    assert len(compilations) == misses + 4  # 2.0 and 2 are one f32
    module.losses.grad("X")(x, DY=np.ones(9), device=lavapipe)
    module.losses.grad("X", in_place=True)(x, DY=np.ones(9), device=lavapipe)
    assert len(compilations) == misses + 6
    small = tilec.device("lavapipe", limits={"max-storage-buffer-binding-size": 1 << 20})
    run(sources, folder, small)
    assert len(compilations) == misses + 7


def test_edited_sources_miss(sources, folder, lavapipe, compilations, monkeypatch):
    run(sources, folder, lavapipe)
    helpers = sources.parent / "helpers.ph"
    helpers.write_text("fn bent(x) = x + x\n")
    run(sources, folder, lavapipe)
    assert len(compilations) == 2
    sources.write_text(SOURCE + "// a comment moves nothing, but a text is a text\n")
    run(sources, folder, lavapipe)
    assert len(compilations) == 3
    helpers.write_text(HELPERS)
    sources.write_text(SOURCE)
    run(sources, folder, lavapipe)
    assert len(compilations) == 3
    monkeypatch.setattr(cache, "compiler_digest", lambda: "another compiler")
    run(sources, folder, lavapipe)
    assert len(compilations) == 4


def test_an_edited_library_or_compiler_misses(sources, folder, tmp_path):
    """With a copy of everything, in processes of their own."""
    root = Path(tilec.__file__).parents[1]
    copy = tmp_path / "copy"
    for name in ("tilec", "std"):
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / ".drivers").symlink_to(root / ".drivers")
    code = (
        "import sys, numpy as np, tilec\nfrom tilec.runtime import cache\nmade = []\nreal = cache.compile_built\n"
        "cache.compile_built = lambda *a: (made.append(1), real(*a))[1]\n"
        f"m = tilec.compile({str(sources)!r}, cache={str(folder)!r})\n"
        "m.losses(np.ones((3, 4), np.float32), device='lavapipe')\nprint(len(made), tilec.__file__)\n"
    )

    def compiled() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(copy)}, cwd=tmp_path,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        count, place = done.stdout.split()
        assert place.startswith(str(copy))
        return count

    assert [compiled(), compiled()] == ["1", "0"]
    library = copy / "std" / "loss.ph"
    library.write_text(library.read_text() + "\n// edited\n")
    assert [compiled(), compiled()] == ["1", "0"]
    module = copy / "tilec" / "plan" / "mapping.py"
    module.write_text(module.read_text() + "\n# edited\n")
    assert [compiled(), compiled()] == ["1", "0"]


# --- hostile folders ---------------------------------------------------------------------------------------------


def test_folder_and_files_are_the_users_alone(sources, folder, lavapipe):
    run(sources, folder, lavapipe)
    compiled = folder / "compiled"
    assert compiled.stat().st_mode & 0o777 == 0o700
    [entry] = entries(folder)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert json.loads(entry.read_text())["values"]["wgsl"].startswith("// Kernel losses")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[" * 100_000,
        lambda text: "9" * 100_000,
        lambda text: "null",
        lambda text: "{}",
        lambda text: text.replace("2.0", "3.0"),
        lambda text: text.replace('"format":1', '"format":2'),
        lambda text: "\udcff" + text,
    ],
)
def test_damaged_entries_are_ignored(sources, folder, lavapipe, compilations, damage):
    run(sources, folder, lavapipe)
    [entry] = entries(folder)
    entry.write_bytes(damage(entry.read_text()).encode("utf-8", "surrogateescape"))
    run(sources, folder, lavapipe)
    assert len(compilations) == 2


def forge(entry: Path, change) -> None:
    """Changes the values of an entry, with a digest that is right for them."""
    document = json.loads(entry.read_text())
    change(document["values"])
    document["sha256"] = disk.digest_of(document["values"])
    entry.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values.pop("wgsl"),
        lambda values: values.update(wgsl=7),
        lambda values: values.update(kernel="other"),
        lambda values: values.update(guards=["__import__('os').system('true') == 0"]),
        lambda values: values.update(guards=["(" * 1000 + "M" + ")" * 1000 + " == 9"]),
        lambda values: values.update(guards=["M == 9 or True"]),
        lambda values: values.update(scratch_words="M.real"),
        lambda values: values.update(scratch_words="secret"),
        lambda values: values.update(entries=["a b"]),
        lambda values: values.update(entries=[]),
        lambda values: values.update(dispatches={}),
        lambda values: values["dispatches"][0].update(threads=1 << 20),
        lambda values: values["dispatches"][0].update(workgroups=3),
        lambda values: values["dispatches"][0]["buffers"][0].__setitem__(2, "Unknown"),
        lambda values: values["dispatches"][0]["buffers"].append(["x"]),
        lambda values: values["uniforms"][0].update(extent=None, scalar="nothing"),
        lambda values: values["uniforms"][0].update(dtype="f99"),
        lambda values: values.update(spans={"1": [999, 0, 0]}),
        lambda values: values.update(spans={"x": [0, 0, 0]}),
        lambda values: values.update(spans=[]),
    ],
)
def test_entries_of_another_shape_are_ignored(sources, folder, lavapipe, compilations, change):
    run(sources, folder, lavapipe)
    [entry] = entries(folder)
    forge(entry, change)
    run(sources, folder, lavapipe)
    assert len(compilations) == 2


def test_an_entry_under_another_name_is_ignored(sources, folder, lavapipe, compilations):
    run(sources, folder, lavapipe)
    run(sources, folder, lavapipe, kernel="totals")
    first, second = entries(folder)
    texts = first.read_text(), second.read_text()
    first.write_text(texts[1])
    second.write_text(texts[0])
    run(sources, folder, lavapipe)
    run(sources, folder, lavapipe, kernel="totals")
    assert len(compilations) == 4


def test_folders_and_files_that_others_may_write_are_ignored(sources, folder, lavapipe, compilations, tmp_path):
    run(sources, folder, lavapipe)
    compiled = folder / "compiled"
    [entry] = entries(folder)
    for path, mode in ((compiled, 0o777), (compiled, 0o710), (entry, 0o666), (entry, 0o620)):
        before = path.stat().st_mode
        path.chmod(mode)
        count = len(compilations)
        run(sources, folder, lavapipe)
        assert len(compilations) == count + 1
        path.chmod(before)
        entry.chmod(0o600)
    run(sources, folder, lavapipe)
    # A link in the place of the folder or of a file is no folder and no file.
    elsewhere = tmp_path / "elsewhere"
    compiled.rename(elsewhere)
    compiled.symlink_to(elsewhere)
    count = len(compilations)
    run(sources, folder, lavapipe)
    assert len(compilations) == count + 1
    compiled.unlink()
    elsewhere.rename(compiled)
    entry.rename(tmp_path / "entry")
    entry.symlink_to(tmp_path / "entry")
    run(sources, folder, lavapipe)
    assert len(compilations) == count + 2


def test_somebody_elses_folder_is_ignored(sources, folder, lavapipe, compilations, monkeypatch):
    run(sources, folder, lavapipe)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    run(sources, folder, lavapipe)
    assert len(compilations) == 2


@pytest.mark.parametrize("thing", ["a file", "a fifo"])
def test_what_is_no_folder_or_no_file(sources, folder, lavapipe, compilations, thing):
    if thing == "a file":
        folder.write_text("")
    else:
        run(sources, folder, lavapipe)
        [entry] = entries(folder)
        entry.unlink()
        os.mkfifo(entry, 0o600)
        compilations.clear()
    run(sources, folder, lavapipe)
    assert len(compilations) == 1


def test_writing_is_whole_and_old_entries_go(folder, monkeypatch):
    store = disk.Store(folder / "compiled")
    key = {"a": 1}
    store.put(key, {"b": 2})
    assert list(store.find(key)) == [{"b": 2}]
    assert not [path for path in entries(folder) if path.name.startswith(".")]
    monkeypatch.setattr(os, "replace", fails)
    store.put(key, {"b": 3})
    monkeypatch.undo()
    assert len(entries(folder)) == 1
    monkeypatch.setattr(disk, "_MOST_TOGETHER", 1000)
    monkeypatch.setattr(disk, "_WRITES_BETWEEN_CLEANING", 1)
    monkeypatch.setattr(disk.Store, "put", put_and_clean := _cleaning(disk.Store.put))
    for number in range(30):
        put_and_clean(store, {"n": number}, {"text": "x" * 200})
    assert sum(path.stat().st_size for path in entries(folder)) <= 1000


def fails(*arguments: object) -> None:
    raise OSError("no space")


def _cleaning(put):
    def both(store, key, values):
        put(store, key, values)
        store._clean()

    return both


# --- the switch --------------------------------------------------------------------------------------------------


def test_the_switch(sources, folder, lavapipe, compilations, monkeypatch):
    monkeypatch.setenv("TILEC_CACHE", str(folder))
    run(sources, None, lavapipe)
    run(sources, None, lavapipe)
    run(sources, True, lavapipe)
    assert len(compilations) == 1
    run(sources, False, lavapipe)
    assert len(compilations) == 2
    monkeypatch.setenv("TILEC_CACHE", "")
    assert disk.choose_store(None) is None
    run(sources, None, lavapipe)
    run(sources, None, lavapipe)
    assert len(compilations) == 4
    run(sources, str(folder), lavapipe)
    assert len(compilations) == 4
    assert not disk.choose_store(None)
    monkeypatch.delenv("TILEC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "caches"))
    assert disk.choose_store(None).folder == folder.parent / "caches" / "tilec" / "compiled"


def test_debug_builds_are_not_kept(sources, folder, lavapipe):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tilec.compile(sources, cache=folder, debug=True).losses(given(), device=lavapipe)
    assert not (folder / "compiled").exists()


def test_looking_at_a_kernel_needs_its_code(sources, folder, lavapipe):
    run(sources, folder, lavapipe)
    module = tilec.compile(sources, cache=folder)
    module.losses(given(), device=lavapipe)
    assert "sweep" in module.losses.plan()
    assert module.losses._variants({"T": DType.F16}).kernel.tensor("X").dtype is DType.F16
