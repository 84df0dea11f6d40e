"""`anymetal spot`: all pairs agree, and what it prints and draws."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import mlx.core as mx
import pytest
from rich.console import Console
from typer.testing import CliRunner

import anymetal
from anymetal.cli.app import app
from anymetal.cli.spot import disagreeing, page, spot
from anymetal.cli.spot.pairs import PAIRS, Pair, Way


def made_up(*results):
    """A pair whose ways return these numbers."""

    def pair():
        ways = [Way(f"way {n}", lambda r=r: mx.array(r)) for n, r in enumerate(results)]
        return Pair("made up", ways, "It teaches nothing.")

    return pair


def run(pairs, only=(), plot=None):
    console = Console(file=io.StringIO(), width=100, highlight=False)
    return spot(only, 0.0, plot, pairs, console), console.file.getvalue()


@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_the_ways_of_a_pair_agree(make):
    pair = make()
    assert not disagreeing(pair)
    assert len({way.name for way in pair.ways}) == len(pair.ways) >= 2
    assert mx.any(pair.ways[0].run() != 0).item()


def test_the_table():
    status, text = run([made_up([1.0, 2.0], [1.0, 2.0])])
    assert status == 0
    assert "way 0" in text
    assert "× as long" in text
    assert "It teaches nothing." in text


def test_ways_that_disagree_are_not_timed():
    status, text = run([made_up([1.0], [1.0], [1.5], [mx.nan])])
    assert status == 1
    assert "made up: way 2, way 3" in text
    assert "× as long" not in text


def test_one_pair():
    done = CliRunner().invoke(app, ["spot", "--only", "division", "--seconds", "0"])
    assert done.exit_code == 0, done.output
    assert "2-D grid" in done.output
    assert "barriers" not in done.output


def test_an_unknown_pair():
    done = CliRunner().invoke(app, ["spot", "--only", "colours"])
    assert done.exit_code == 2
    assert "colours" in done.output
    assert "division" in done.output


def test_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "spot.png"
    status, text = run([made_up([1.0], [1.0]), made_up([2.0], [2.0])], plot=file)
    assert status == 0
    assert str(file) in text
    assert file.read_bytes().startswith(b"\x89PNG")


def test_what_is_printed_goes_into_a_page(monkeypatch, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(f"Before.\n{page.BEGIN}\nOld.\n{page.END}\nAfter.\n")
    monkeypatch.setattr(sys, "argv", ["/somewhere/anymetal", "spot", "--write", "page.md"])
    for _ in range(2):
        assert spot([], 0.0, None, [made_up([1.0], [1.0])], write=file) == 0
        text = file.read_text()
        assert text.startswith(f"Before.\n{page.BEGIN}\n```\n$ anymetal spot --write page.md\n")
        assert "× as long" in text
        assert "Old." not in text
        assert text.endswith(f"\n{page.END}\nAfter.\n")


def test_our_page_can_be_written():
    assert not page.problem(Path(anymetal.__file__).parent.parent / "docs" / "spot.md")


@pytest.mark.parametrize("text", [None, "", page.BEGIN, page.END + page.BEGIN])
def test_a_page_without_marks(tmp_path, text):
    file = tmp_path / "page.md"
    if text is not None:
        file.write_text(text)
    done = CliRunner().invoke(app, ["spot", "--only", "division", "--write", str(file)])
    assert done.exit_code == 2
    assert "--write" in done.output


def test_a_plot_without_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    file = tmp_path / "spot.png"
    done = CliRunner().invoke(app, ["spot", "--only", "division", "--plot", str(file)])
    assert done.exit_code == 2
    assert "matplotlib" in done.output
    assert not file.exists()


@pytest.mark.parametrize("file", ["spot.doc", "spot", "nowhere/spot.png"])
def test_a_plot_that_cannot_be_drawn(tmp_path, file):
    pytest.importorskip("matplotlib")
    done = CliRunner().invoke(app, ["spot", "--only", "division", "--plot", str(tmp_path / file)])
    assert done.exit_code == 2
    assert "one of the endings" in " ".join(done.output.replace("│", " ").split())
