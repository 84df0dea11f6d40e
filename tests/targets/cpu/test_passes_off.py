"""`ANYMETAL_PASSES`: results are right without any optimisation, and without all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from anymetal import targets
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage
from anymetal.pipeline import driver
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu import code_lookup, variant
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.pipeline import PASSES, GangCompilation
from anymetal.targets.cpu.reporting import GangStages
from anymetal.testing.lockstep.builds import builds_here
from anymetal.testing.lockstep.check import check, expected_of
from anymetal.testing.lockstep.generators import generate
from anymetal.testing.lockstep.oracle import Oracle
from anymetal.testing.metal_case import MetalCase, parse, run
from anymetal.testing.passes_off import Off, drawn, optional

_KERNELS = Path(__file__).parents[2] / "kernels"

#: Cases, and passes that change them.
CASES = {
    "ahead/tiles_down_a_matrix": ("prefetch",),
    "ahead/rows_of_a_table": ("prefetch-indirect",),
    "algorithms/matmul_tiled": ("version-by-bounds", "coarsen"),
    "algorithms/radix_sort_block": ("unlock-threadgroup-memory",),
    "order/exact_sums": ("drop-unused", "keep-memory-order"),
    "strided/pixels_moved_by_a_table": ("mask-first", "version-by-bounds", "coarsen"),
    "strided/running_products_of_rows": ("unroll-rows",),
    "strided/rows_up_to_the_last": ("split-counters",),
    "strided/tiles_copied_in_turns": ("normalise-counters",),
    "threadgroup/narrow_tiles_read_as_float": ("widen-threadgroup-arrays",),
    "simd/rows_behind_simdgroup_barriers": ("drop-simdgroup-barriers",),
    "private/sorted_parts": ("join-private-arrays",),
    "vec/blend_bytes": ("reuse-loads",),
    "atomics/own_sums_by_position": ("split-divisions",),
}
#: The same of random kernels, by class and seed.
RANDOM = {
    ("patterns", 219): "prefetch",
    ("patterns", 283): "unroll-and-jam",
    ("factors", 102): "join-inner-loops",
}


class Changes(GangStages):
    """Notes which passes change a program."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        """Behind a pass."""
        if changed:
            self.names.add(name)


def case_of(name: str) -> MetalCase:
    return parse(_KERNELS / f"{name}.metal")


def run_without(off: Off, name: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Runs a case, and returns the passes that change its programs."""
    monkeypatch.setenv("ANYMETAL_PASSES", ",".join(f"-{one}" for one in off))
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    assert set(variant.switched_off()) == set(off)
    targets.select(None)  # the one in use knows the case as it was compiled before
    case, changes = case_of(name), Changes()
    asked = code_lookup.follow()
    run(case, case.dtypes[0])
    assert asked
    for source, launch in asked:
        assert set(launch.without) == set(off)
        known = launch.known_to_threads
        program = thread_program(source, launch.large, changes, None, launch.without, known=known)
        driver.run(PASSES, GangCompilation(program, launch, machine_for(""), changes))
    return changes.names


def test_the_sample_has_every_optional_pass() -> None:
    names = {name for names in CASES.values() for name in names} | set(RANDOM.values())
    assert names == set(optional())


@pytest.mark.parametrize("name", CASES)
def test_right_without_one_pass_and_without_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(CASES[name]) <= run_without((), name, monkeypatch)
    for one in CASES[name]:
        assert one not in run_without((one,), name, monkeypatch)
    assert run_without(optional(), name, monkeypatch).isdisjoint(optional())


@pytest.mark.parametrize("kernel", RANDOM)
def test_random_kernels_without_one_pass_and_without_all(
    kernel: tuple[str, int], tmp_path: Path
) -> None:
    kind, seed = kernel
    case = generate(seed, kind)
    expected = expected_of(case, Oracle([case], tmp_path))
    for off in ((), (RANDOM[kernel],), optional()):
        verdict = check(replace(case, off=off), expected, [builds_here()["native"]], tmp_path)
        assert verdict.status == "ok", verdict.detail
        assert (f"pass:{RANDOM[kernel]}" in verdict.fired) == (off == ())


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(_KERNELS.rglob("*.metal")), ids=lambda path: path.stem)
def test_every_case_without_some_passes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without all, and without a few that its name draws."""
    case = parse(path)
    for off in (optional(), drawn(sum(path.stem.encode()))):
        monkeypatch.setenv("ANYMETAL_PASSES", ",".join(f"-{one}" for one in off))
        monkeypatch.setenv("ANYMETAL_CHECK", "1")
        targets.select(None)
        run(case, case.dtypes[0])
