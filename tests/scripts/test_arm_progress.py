"""What the suite for Arm notes of tests, and that it goes on where it has stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.arm import report
from scripts.arm.progress import append, outcomes

_ROOT = Path(__file__).parents[2]
_TESTS = """
import os
import pytest

def test_passes(): pass
def test_fails(): assert False
def test_is_skipped(): pytest.skip("not here")
def test_ends_the_process(): os._exit(3)
def test_comes_last(): pass
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., int]:
    """Runs pytest over these tests, with the plugin; returns its status."""
    (tmp_path / "test_some.py").write_text(_TESTS)

    def with_options(*options: str) -> int:
        plugin = ["-p", "scripts.arm.progress", "--progress", "done", *options]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin]
        variables = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True).returncode

    return with_options


def _names(file: Path) -> dict[str, str]:
    return {test.rpartition("::")[2]: outcome for test, outcome in outcomes(file).items()}


def test_goes_on_behind_a_test_that_ends_the_process(
    tmp_path: Path, run: Callable[..., int]
) -> None:
    before_the_end = {"test_passes": "passed", "test_fails": "failed", "test_is_skipped": "skipped"}
    assert run() == 3
    assert _names(tmp_path / "done") == {**before_the_end, "test_ends_the_process": "lost"}
    assert run() == 0
    everything = {**before_the_end, "test_ends_the_process": "lost", "test_comes_last": "passed"}
    assert _names(tmp_path / "done") == everything


def test_shards_are_disjoint_and_complete(tmp_path: Path, run: Callable[..., int]) -> None:
    found = []
    for shard in ("1/2", "2/2"):
        run("--shard", shard, "--deselect", "test_some.py::test_ends_the_process")
        found.append(set(_names(tmp_path / "done")))
    first, both = found
    assert 0 < len(first) < len(both) == 4


def test_the_table_counts_and_names_what_failed(tmp_path: Path) -> None:
    file = report.file_of(tmp_path, "neoverse-n1", "cases")
    file.parent.mkdir()
    for test, outcome in (("a", "passed"), ("b", "started"), ("c", "failed"), ("d", "passed")):
        append(file, test, outcome)
    assert json.loads(file.read_text().splitlines()[0]) == ["a", "passed"]
    text = report.table(tmp_path)
    assert "| neoverse-n1 | `.metal` cases | 2 | 1 | 1 | 0 |" in text
    assert "neoverse-n1: lost: b\nneoverse-n1: failed: c" in text
    assert not report.is_good(outcomes(file))
    assert report.counted(outcomes(file)) == "2 passed, 1 failed, 1 lost"
