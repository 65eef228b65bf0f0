"""`tilec bench`: what it reports, on a software device; times themselves are no test."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as xml

import pytest

from tests.cli.test_cli import files, run  # noqa: F401
from tilec.cli.progress import Progress
from tilec.cli.roofline import Point, draw_roofline

SMALL = ["good.ph", "--kernel", "token_loss", "--dim", "M=16", "--dim", "V=64", "--seconds", "0.01"]


@pytest.fixture
def on_lavapipe(lavapipe):
    return [*SMALL, "--device", "lavapipe"]


def test_every_plan_is_timed_and_agrees(capsys, files, on_lavapipe):  # noqa: F811
    code, out, _ = run(capsys, "bench", *on_lavapipe, "--plans", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["ok"]
    assert document["clock"] == "timestamps"
    assert document["ideal_bytes"] == 16 * 64 * 4 + 2 * 16 * 4
    assert document["copy_ms"] > 0
    names = [plan["plan"] for plan in document["plans"]]
    assert names[0] == "default"
    assert "naive" in names
    for plan in document["plans"]:
        assert 0 < plan["low_ms"] <= plan["ms"] <= plan["high_ms"]
        assert plan["agrees"]
        assert plan["samples"] >= 5
        assert plan["wall_ms"] > 0
        assert plan["moved_bytes"] >= document["ideal_bytes"]
    assert document["refused"] == {}


def test_the_table_and_the_picture(capsys, files, on_lavapipe):  # noqa: F811
    code, out, _ = run(capsys, "bench", *on_lavapipe, "--plot", "roof.svg", "--dtype", "Logits=f16")
    assert code == 0
    assert "token_loss(M=16, V=64), Logits f16 on" in out
    assert "copy of " in out
    [line] = [line for line in out.splitlines() if line.startswith("default")]
    assert line.endswith("ok")
    picture = xml.parse(files / "roof.svg").getroot()
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text and text.startswith("default: ") for text in texts)


def test_wrong_usage(capsys, files):  # noqa: F811
    for arguments, words in (
        (["bench", *SMALL[:5]], "the size V is not known"),
        (["bench", *SMALL, "--input", "Logits=1"], "only scalars can be given"),
        (["bench", *SMALL, "--input", "alpha=many"], "`many` is no number"),
        (["bench", *SMALL[:-1], "0"], "--seconds takes a number"),
        (["bench", "good.ph", "--dim", "M=2"], "several kernels"),
        (["bench", "good.ph", "--kernel", "shift", "--dim", "M=2"], "the scalar by has no default"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, words in err) == (2, True), (arguments, err)


def test_the_roof_is_where_bandwidth_meets_arithmetic():
    points = [Point("fast", 1e9, 1e8, 1e-3), Point("a < b", 1e9, 1e9, 1e-1)]
    picture = xml.fromstring(draw_roofline("k(M=8)", "a device", points, 1e11, 1e12))
    [roof] = picture.iter("{http://www.w3.org/2000/svg}polyline")
    corners = [tuple(map(float, corner.split(","))) for corner in roof.attrib["points"].split()]
    assert len(corners) == 3
    assert corners[0][1] > corners[1][1] == corners[2][1]
    circles = [one.attrib for one in picture.iter("{http://www.w3.org/2000/svg}circle")]
    assert all(float(one["cy"]) >= corners[1][1] for one in circles if one["cx"] != "90")


def test_progress_is_for_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shows in ((io.StringIO(), False), (Terminal(), True)):
        with Progress(stream) as progress:
            progress.show("halfway", 0.5)
        assert ("halfway" in stream.getvalue()) is shows
        assert stream.getvalue().endswith("\r") is shows


# --- tune ----------------------------------------------------------------------------------------------------


@pytest.fixture
def remembers(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEC_CACHE", str(tmp_path / "cache"))


def test_tune_times_plans_and_forgets(capsys, files, on_lavapipe, remembers):  # noqa: F811
    code, out, _ = run(capsys, "tune", *on_lavapipe, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["plans"][0]["plan"] == "default"
    assert all(plan["agrees"] and plan["ms"] > 0 for plan in document["plans"])
    assert document["remembered"] in (None, *(plan["plan"] for plan in document["plans"][1:]))
    code, out, _ = run(capsys, "tune", *on_lavapipe)
    assert code == 0
    assert out.startswith("token_loss(M=16, V=64) on")
    code, out, _ = run(capsys, "tune", *on_lavapipe, "--forget")
    assert code == 0


def test_tune_remembers_what_is_faster(capsys, files, on_lavapipe, remembers, monkeypatch):  # noqa: F811
    from dataclasses import replace

    from tilec.cli import tune
    from tilec.plan import alternatives

    plans = lambda options: {"default": options, "4 threads": replace(options, threads=4)}  # noqa: E731
    monkeypatch.setattr(alternatives, "alternatives", plans)
    rows = [
        {"plan": "default", "ms": 2.0, "predicted_ms": None, "agrees": True},
        {"plan": "4 threads", "ms": 1.0, "predicted_ms": 1.0, "agrees": True},
    ]
    monkeypatch.setattr(tune, "_measure", lambda *arguments: rows)
    code, out, _ = run(capsys, "tune", *on_lavapipe)
    assert code == 0
    assert "remembered: 4 threads, 2.00 times as fast as the default, in " in out
    code, out, _ = run(capsys, "bench", *on_lavapipe)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["default", "tuned"]
    sizes = on_lavapipe[:7]
    code, out, _ = run(capsys, "explain", *sizes, "--device", "lavapipe")
    assert out.startswith("as `tilec tune` found it fastest on this device:\nplan of token_loss")
    assert "4 threads each" in out
    rows[1]["agrees"] = False
    code, out, _ = run(capsys, "tune", *on_lavapipe)
    assert code == 1
    assert "DIFFERS" in out
    assert "nothing is remembered" in out
    code, out, _ = run(capsys, "tune", *on_lavapipe, "--forget")
    assert "forgotten for token_loss(M=16, V=64)" in out


def test_tune_needs_a_place_to_remember(capsys, files, on_lavapipe):  # noqa: F811
    code, _, err = run(capsys, "tune", *on_lavapipe)
    assert (code, "TILEC_CACHE is empty" in err) == (1, True)
