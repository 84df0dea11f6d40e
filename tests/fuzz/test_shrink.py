"""The shrinker and the report, with a made-up failure."""

from __future__ import annotations

from pathlib import Path

from anymetal.testing import metal_case
from anymetal.testing.fuzz import oracle, printer
from anymetal.testing.fuzz.check import Verdict
from anymetal.testing.fuzz.generate import generate
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.fuzz.report import metal_file, report
from anymetal.testing.fuzz.shrink import shrink
from anymetal.testing.fuzz.tree import Case, Loop, walk


def _has_loop(case: Case) -> bool:
    try:
        oracle.run(case)
    except Undefined:
        return False
    return any(isinstance(node, Loop) for node in walk(case.body))


def test_what_matters_stays() -> None:
    """If any loop fails, little more than one loop is left."""
    seed = next(seed for seed in range(50) if _has_loop(generate(seed)))
    case = generate(seed)
    small = shrink(case, _has_loop, tries=1000)
    assert _has_loop(small)
    assert len(printer.body(small).splitlines()) <= 6
    assert small.launch.threads == 1


def test_a_report_is_a_test_case(tmp_path: Path) -> None:
    """The `.metal` file that a report prints runs, and holds."""
    for seed in (3, 4):
        case = generate(seed)
        path = tmp_path / f"seed_{seed}.metal"
        path.write_text(metal_file(case))
        metal_case.run(metal_case.parse(path))
    text = report(case, Verdict("mismatch", "out_int[0] is 1, expected 0"))
    assert "seed 4: mismatch" in text
    assert "--seed 4 --count 1" in text
