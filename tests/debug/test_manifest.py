"""A debug build that was compiled ahead of time: a host that knows the manifest only launches it and reads its log."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilec
from tilec.cli.main import main
from tilec.runtime.formulas import parse_formula
from tilec.runtime.memory import Launch

SOURCE = """fn checked(x) {
  assert x >= 0.0, "negative"
  return sqrt(x)
}

kernel roots(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[M], n: i32 = 2) {
  let r = ctx.block.x * 2
  for i in range(0, n) {
    print("round", f32(i))
  }
  B[r :+ 2, :] = checked(A[r :+ 2, :])
  print("row", rowsum(A[r :+ 2, :]))
  C[r :+ 2, new] = 1.0 / rowsum(A[r :+ 2, :])
}
"""


@pytest.fixture
def built(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    (tmp_path / "roots.ph").write_text(SOURCE)
    assert main(["compile", str(tmp_path / "roots.ph"), "--debug", "-o", str(tmp_path)]) == 0
    return json.loads((tmp_path / "roots.json").read_text()), tmp_path


def launch(
    manifest: Mapping[str, Any], folder: Path, arrays: Mapping[str, np.ndarray], values: Mapping[str, int], device
) -> dict[str, np.ndarray]:
    """What `docs/manifest.md` says, step by step: every buffer as words, afterwards."""
    variant = manifest["variants"][-1]
    dims, scalars = manifest["dims"], [one["name"] for one in manifest["parameters"] if one["kind"] == "scalar"]

    def number(formula: str) -> int:
        return parse_formula(formula, dims, scalars).evaluate(values)

    buffers = {}
    for binding in variant["bindings"]:
        size = max(16, -(-number(binding["bytes"]) // 16) * 16)
        buffers[binding["binding"]] = buffer = device.create_buffer(size, uniform=binding["kind"] == "uniform")
        if binding["holds"] == "tensor":
            words = arrays[binding["name"]].view(np.uint32).ravel()
        elif binding["holds"] == "uniforms":
            fields = {one["offset"]: one for one in variant["uniforms"]["fields"]}
            every = [fields.get(offset) for offset in range(0, size, 4)]
            plain = [0 if one is None else number(one.get("formula", one.get("scalar"))) for one in every]
            words = np.frombuffer(struct.pack(f"<{len(plain)}i", *plain), np.uint32)
        elif binding["holds"] == "log":
            words = np.zeros(size // 4, np.uint32)
            for word, value in variant["log"]["initial"].items():
                words[int(word)] = value
        else:
            continue
        device.write(buffer, words)
    text = (folder / variant["file"]).read_text()
    for dispatch in variant["dispatches"]:
        kinds: list[Any] = [None] * (1 + max(one["binding"] for one in dispatch["bindings"]))
        bound: list[Any] = [None] * len(kinds)
        for one in dispatch["bindings"]:
            kinds[one["binding"]], bound[one["binding"]] = one["kind"], buffers[one["binding"]]
        pipeline = device.compute_pipeline(text, dispatch["entry"], kinds)
        device.run([Launch(pipeline, bound, (number(dispatch["workgroups"]), 1, 1))])
    return {one["name"]: np.frombuffer(device.read(buffers[one["binding"]]), np.uint32) for one in variant["bindings"]}


DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.uint32}


def told(log: Mapping[str, Any], words: np.ndarray) -> list[tuple[str, int, int, list[int], dict[str, float]]]:
    """Records in order: text, line, block, index, values. Reads the manifest only."""
    record, kinds = log["record"], log["kinds"]
    room = (len(words) - log["head"]) // (len(kinds) * record["words"])
    found = []
    for place, kind in enumerate(kinds):
        first = log["head"] + place * room * record["words"]
        for number in range(min(int(words[kind["counter"]]), room)):
            one = words[first + number * record["words"] :][: record["words"]]
            site = log["sites"][int(one[record["site"]])]
            (rounds_at, _), (index_at, _), (values_at, _) = record["rounds"], record["index"], record["values"]
            rounds = iter(one[rounds_at:].view(np.int32))
            time = [int(next(rounds)) if step is None else step for step in site["path"]]
            index = one[index_at : index_at + site["rank"]].tolist()
            values = {
                name: one[values_at + offset : values_at + offset + 1].view(DTYPES[dtype])[0].item()
                for offset, (name, dtype) in enumerate(zip(site["names"], site["dtypes"], strict=True))
            }
            block = int(one[record["block"]])
            found.append(((block, time, index), (site["text"], site["line"], block, index, values)))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def test_a_host_reads_the_log_by_the_manifest_alone(built, lavapipe: tilec.Device) -> None:
    manifest, folder = built
    log = manifest["variants"][-1]["log"]
    a = np.array([[1, 4, 9], [1, -4, 0], [0, 0, 0]], np.float32)
    arrays = {"A": a, "B": np.zeros_like(a), "C": np.zeros(3, np.float32)}
    buffers = launch(manifest, folder, arrays, {"M": 3, "N": 3, "n": 2}, lavapipe)
    assert buffers["B"].view(np.float32)[:3].tolist() == [1, 2, 3]
    entries = told(log, buffers[log["name"]])
    rounds = [(block, values) for text, _, block, _, values in entries if text == "round"]
    assert [(block, next(iter(values.values()))) for block, values in rounds] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    rows = [(line, block, index, next(iter(values.values()))) for text, line, block, index, values in entries
            if text == "row"]  # fmt: skip
    assert rows == [(12, 0, [0, 0], 14), (12, 0, [1, 0], -3), (12, 1, [0, 0], 0)]
    [failed] = [entry for entry in entries if entry[0] == "negative"]
    assert failed[1:4] == (2, 0, [1, 1])
    assert failed[4]["x"] == -4
    site = next(one for one in log["sites"] if one["kind"] == "assert")
    assert [(one["line"], one["column"]) for one in site["calls"]] == [(11, 18)]
    assert int(buffers[log["name"]][site["counter"]]) == 1
    kept = [entry for entry in entries if entry[0] == "C"]
    assert [(block, index) for _, _, block, index, _ in kept] == [(1, [0])]


def test_tilec_says_the_same(lavapipe: tilec.Device, capsys: pytest.CaptureFixture[str]) -> None:
    k = tilec.compile(source=SOURCE, debug=True).roots
    with pytest.raises(tilec.DebugError, match="negative"), pytest.warns(tilec.DebugWarning):
        k(np.array([[1, 4, 9], [1, -4, 0], [0, 0, 0]], np.float32), device=lavapipe)
    out = capsys.readouterr().out
    assert "row[1, 0] in block 0 = -3" in out
    assert out.count("round") == 4


def test_other_builds_have_no_log(tmp_path: Path) -> None:
    (tmp_path / "roots.ph").write_text(SOURCE)
    assert main(["compile", str(tmp_path / "roots.ph"), "-o", str(tmp_path)]) == 0
    [variant] = json.loads((tmp_path / "roots.json").read_text())["variants"]
    assert "log" not in variant
    assert "atomic" not in (tmp_path / "roots.wgsl").read_text()
