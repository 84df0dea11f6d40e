"""The pictures of when each path wins: numbers are kept as they are, and draw the same file."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from benchmarks.paths import kept, picture
from benchmarks.paths.kept import Picture, Times

CONDITIONS = {"AnyMetal": "1.0, sources 0123", "packages": "mlx 1, torch 2"}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    for module in (kept, picture):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    return tmp_path


def made_up(name="made_up"):
    lines = {
        "kernel": {8: 1.23e-5, 64: 2e-4},
        "thread": {8: 1e-5},
        "mlx": {8: 2e-5, 64: 1e-4},
        "PyTorch": {8: 3e-5, 64: 3e-2},
    }
    panels = [Times("one n × n matrix", "n", lines), Times("many", "n", {"kernel": {4: 2.0}})]
    return Picture(name, panels, "a processor, 2 threads", CONDITIONS, "2026-01-01")


def test_numbers_are_kept():
    kept.save(made_up())
    assert kept.load("made_up") == made_up()
    assert kept.load("other") is None


def test_equal_numbers_make_equal_pictures(folder):
    texts = [picture.draw(made_up()).read_text() for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(texts[0]) < 60_000
    for said in ("one n × n matrix", "thread", "a processor, 2 threads", "0123", picture.COMMAND):
        assert said in texts[0]
    overview = picture.draw_overview("autoswitch", [made_up(), made_up("again")])
    assert overview == folder / "autoswitch.svg"
    assert "again: one n × n matrix" in overview.read_text()


def test_gains_are_those_of_the_fastest_path_of_ours():
    panel = made_up().panels[0]
    assert picture._gains(panel) == [pytest.approx(2), pytest.approx(0.5)]
    assert picture._gains(made_up().panels[1]) == []
