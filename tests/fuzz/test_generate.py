"""The generator: reproducible, well formed, and using all of the subset."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import is_dataclass

import pytest

from anymetal.testing.fuzz import oracle, printer, tree
from anymetal.testing.fuzz.generate import generate
from anymetal.testing.fuzz.rules import well_formed
from anymetal.testing.fuzz.tree import Case, CrossLane, If, Loop, walk
from tests.fuzz.builder import LANE, case, compare, integer, out


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [generate(seed) for seed in range(150)]


def test_a_seed_gives_one_case(cases: list[Case]) -> None:
    for seed in range(10):
        again = generate(seed)
        assert printer.body(again) == printer.body(cases[seed])
        assert printer.header(again) == printer.header(cases[seed])
        first, second = oracle.run(again), oracle.run(cases[seed])
        assert all((first[name] == second[name]).all() for name in first)


def test_cases_are_well_formed(cases: list[Case]) -> None:
    assert all(well_formed(case) for case in cases)


def test_every_kind_of_node_occurs(cases: list[Case]) -> None:
    seen = Counter(type(node).__name__ for case in cases for node in walk(case.body))
    skipped = {"Buffer", "Case", "Function", "LaunchSize", "Type"}
    kinds = {
        name
        for name, value in vars(sys.modules[tree.__name__]).items()
        if isinstance(value, type) and is_dataclass(value) and name not in skipped
    }
    assert kinds - set(seen) == set()


def test_features_are_common_enough(cases: list[Case]) -> None:
    """Each of the hard subjects is in a fair part of the cases."""
    texts = [printer.header(case) + printer.body(case) for case in cases]

    def share(word: str) -> float:
        return sum(word in text for text in texts) / len(texts)

    for word in ("simd_", "quad_", "threadgroup_barrier", "atomic_", "switch", "while", "return;"):
        assert share(word) > 0.05, word
    for word in ("break;", "continue;", "for (", "if ("):
        assert share(word) > 0.2, word
    assert len({case.launch.layout.count for case in cases}) > 5
    assert any(case.launch.grid[2] > 1 for case in cases)


def test_a_cross_lane_call_before_break_breaks_the_rules() -> None:
    """Whether lanes of several iterations meet behind the loop is nobody's promise."""
    i, total = tree.Variable(tree_int := integer(0).type, "i"), integer(1)
    call = out(CrossLane(tree_int, "simd_sum", (total,)))
    leave = If(compare("<", LANE, integer(3)), (call, tree.Break()))
    stay = If(compare("<", LANE, integer(3)), (call,))
    assert not well_formed(case(Loop("for", i, integer(0), integer(4), 1, None, (leave,))))
    assert well_formed(case(Loop("for", i, integer(0), integer(4), 1, None, (stay,))))
    assert well_formed(case(If(compare("<", LANE, integer(3)), (call, tree.Return()))))


def test_names_must_be_declared() -> None:
    assert not well_formed(case(out(tree.Variable(integer(0).type, "nowhere"))))
