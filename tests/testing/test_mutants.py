"""Mistakes that are made on purpose, and whether the oracle knows which of them do harm."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from anymetal.targets.base import Launch
from anymetal.testing import metal_case
from anymetal.testing.mutants.__main__ import main
from anymetal.testing.mutants.operators import FILLING, mutants
from anymetal.testing.mutants.oracles import UnstableError, harmful, reference
from anymetal.testing.mutants.recording import launch_of, launches_of, with_text
from anymetal.testing.mutants.run import Catch, sample, try_mutants

_HEAD = """\
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// init: 0
// expect: y = x
uint i = thread_position_in_grid.x;
"""
_SHARED = """\
threadgroup float t[64];
t[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = t[63 - i];
"""


def _launch(body: str) -> Launch:
    return launch_of(metal_case.read(Path("k.metal"), _HEAD + body))


#: A line of a kernel, and what becomes of it: operator, then the line.
_CHANGES = [
    ("threadgroup_barrier(mem_flags::mem_device);", "drop-barrier", ";"),
    (
        "threadgroup_barrier(mem_flags::mem_device);",
        "weaken-barrier",
        "threadgroup_barrier(mem_flags::mem_none);",
    ),
    (
        "threadgroup_barrier(mem_flags::mem_device);",
        "narrow-barrier",
        "simdgroup_barrier(mem_flags::mem_device);",
    ),
    ("y[i] = 1;", "index-too-high", "y[(i) + 1] = 1;"),
    ("y[uint2(i)[0]] = 1;", "index-too-low", "y[(uint2(i)[0]) - 1] = 1;"),
    ("if (i > 3) return;", "drop-guard", ";"),
    ("if (i > 3) { return; }", "drop-guard", ";"),
    ("if (i < 3) y[0] = 1;", "one-too-many", "if (i <= 3) y[0] = 1;"),
    ("for (int n = 0; n < 3; n++) ;", "one-too-many", "for (int n = 0; n <= 3; n++) ;"),
    (
        "float v = i > 3 ? x[i] : 0.0f;",
        "load-first",
        "select(0.0f, x[i], bool(float v = i > 3));",
    ),
    ("float v = 0; y[i] = v;", "drop-initialiser", "float v; y[i] = v;"),
    ("uint n = 12u; y[i] = n;", "drop-initialiser", "uint n; y[i] = n;"),
    ("half h = -1.5h; y[i] = h;", "drop-initialiser", "half h; y[i] = h;"),
]


@pytest.mark.parametrize(
    ("line", "operator", "changed"), [row for row in _CHANGES if row[1] != "load-first"]
)
def test_a_mistake_changes_one_place(line: str, operator: str, changed: str) -> None:
    launch = with_text(_launch(""), body="// y[0] < 1\n" + line + "\n")
    found = [m for m in mutants(launch) if m.operator == operator]
    assert [m.launch.source.body for m in found] == ["// y[0] < 1\n" + changed + "\n"]
    assert [m.line for m in found] == [2]


def test_a_selection_loads_first() -> None:
    launch = with_text(_launch(""), body="y[i] = 1;\ny[i] = (i > 3) ? x[i] : 0.0f;\n")
    (found,) = (m for m in mutants(launch) if m.operator == "load-first")
    assert "select(0.0f, x[i], bool(" in found.launch.source.body


def test_lines_stay_where_they_are() -> None:
    body = "threadgroup_barrier(\n  mem_flags::mem_none);\ny[i] = 1;\n"
    for mutant in mutants(with_text(_launch(""), body=body)):
        assert mutant.launch.source.body.count("\n") == body.count("\n")


def test_comments_and_literals_have_no_mistakes() -> None:
    body = '// y[i] = 1; threadgroup_barrier(mem_flags::mem_none);\n/* if (i < 2) */ "x[1]";\n'
    launch = dataclasses.replace(with_text(_launch(""), body=body), init_value=None)
    assert not list(mutants(launch))


@pytest.mark.parametrize(
    ("body", "operator", "expected"),
    [
        (_SHARED, "drop-barrier", [True]),
        (_SHARED, "narrow-barrier", [True]),
        (_SHARED, "weaken-barrier", [True]),
        ("threadgroup_barrier(mem_flags::mem_none);\ny[i] = x[i];", "drop-barrier", [False]),
        ("y[i] = x[i];", "index-too-high", [True, True]),
        ("y[i] = x[i];", "index-too-low", [True, True]),
        ("if (i > 0 && i < 63) y[i] = x[i];", "index-too-high", [False, False]),
        ("y[i] = x[i];", "drop-init-value", [False]),
        ("if (i > 5) y[i] = x[i];", "drop-init-value", [True]),
        ("if (i > 70) return;\ny[i] = x[i];", "drop-guard", [False]),
        ("uint n = i * 2;\nif (n > 63) return;\ny[n] = x[n];", "drop-guard", [True]),
        ("float v = 0;\nv += x[i];\ny[i] = v;", "drop-initialiser", [True]),
        ("float v = 0;\nv = x[i];\ny[i] = v;", "drop-initialiser", [False]),
    ],
)
def test_the_oracle_knows_harm(body: str, operator: str, expected: list[bool]) -> None:
    launch = _launch(body)
    right = reference(launch)
    found = [m for m in mutants(launch) if m.operator == operator]
    assert [harmful(m, right) for m in found] == expected


def test_a_kernel_that_varies_is_no_reference() -> None:
    with pytest.raises(UnstableError):
        reference(_launch(_SHARED.replace("threadgroup_barrier", "simdgroup_barrier")))


def test_a_missing_value_is_filled_in() -> None:
    (found,) = (m for m in mutants(_launch("float v = 2;\ny[i] = v;")) if m.instead
                and m.operator == "drop-initialiser")  # fmt: skip
    assert found.instead and f"float v = {FILLING}_float;" in found.instead.source.body


def test_samples_have_all_kinds_and_come_again() -> None:
    launch = _launch(_SHARED)
    (first,), (again,) = (list(sample([launch], seed=3, per_kernel=6)) for _ in range(2))
    kinds = {m.operator for m in mutants(launch)}
    assert {m.operator for m in first[1]} == kinds and len(kinds) == 6
    assert [str(m) for m in first[1]] == [str(m) for m in again[1]]


def test_each_kernel_of_a_program_is_recorded_once() -> None:
    case = metal_case.read(Path("k.metal"), _HEAD + "y[i] = 1;")
    run = metal_case.launcher(case, "", {})
    assert [launch.source.name for launch in launches_of(lambda: [run(), run()])] == ["k"]


def test_the_sanitizer_finds_what_does_harm() -> None:
    launch = _launch(_SHARED.replace("y[i]", "if (i < 64) y[i]"))
    catch = Catch()
    ((_, chosen),) = sample([launch], seed=1, per_kernel=20)
    try_mutants(launch, chosen, catch)
    assert catch.outcomes.total() == len(chosen) == 9
    assert not catch.missed
    assert catch.count("caught") >= 6
    assert catch.count("harmless", "one-too-many") == 1  # no thread is number 64


def test_a_miss_is_told() -> None:
    catch = Catch()
    (mutant, *_) = mutants(_launch(_SHARED))
    catch.add(mutant, "missed")
    catch.add(mutant, "caught")
    assert catch.rate == 0.5 and catch.missed == [str(mutant)]
    assert catch.table().splitlines()[-1].split() == ["all", "0", "0", "1", "1"]


@pytest.mark.slow
def test_nearly_all_harm_in_our_kernels_is_found() -> None:
    assert main(["--count", "600", "--seed", "4", "tests/kernels"]) == 0
