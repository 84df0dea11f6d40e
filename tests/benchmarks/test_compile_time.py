"""The table of compile times: every stage, and every pass that ran, with shares of the whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anymetal.pipeline import thread
from anymetal.source import KernelSource, Parameter
from anymetal.targets.cpu import pipeline as gang
from anymetal.targets.cpu.variant import variant_for
from benchmarks import compile_time

STAGES = "front end|optimiser|passes|vectorizer|code generation"
#: They need what this launch has not: checks, an observer, an edge, rows.
ELSEWHERE = {
    *("check-bounds", "observe", "track-undefined"),
    *("leave-outside", "fold-grid", "place-in-rows", "prefetch-indirect"),
}


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = KernelSource(
        name="k",
        entry="custom_kernel_k",
        header="",
        body="y[thread_position_in_grid.x] = 1;",
        parameters=(Parameter("y", "output", 0, "device float* y"),),
        attributes=("thread_position_in_grid",),
        template_parameters="",
        template_arguments="",
    )
    variant = variant_for((256, 1, 1), (256, 1, 1))
    timing = compile_time._timed(source, variant)
    file = tmp_path / "k.metal"
    file.write_text("one\ntwo\n")
    compile_time._show(file, [(variant.text, timing)])

    title, *rows = capsys.readouterr().out.splitlines()
    assert title.startswith(f"k.metal (2 lines), {variant.text}: ")
    stages = [re.fullmatch(rf"  ({STAGES}) +(\d+\.\d+) s +\d+ %", row) for row in rows[:5]]
    assert [found[1] for found in stages if found] == STAGES.split("|")
    passes = [re.fullmatch(r"    ([a-z-]+) +(\d+\.\d) ms +\d+\.\d %", row) for row in rows[5:]]
    names = [one.name for one in (*thread.PASSES, *gang.PASSES) if one.name not in ELSEWHERE]
    assert [found[1] for found in passes if found] == names
    assert sum(timing.passes.values()) <= timing.stages["passes"] + timing.stages["vectorizer"]
