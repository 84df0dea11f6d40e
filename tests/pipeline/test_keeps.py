"""What the tables of passes say is so: which answers stay right, and whether anything changed.

Random kernels go through the pipeline, and behind each pass the answers that it kept are compared
with those of somebody who asks now.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from anymetal.analysis import control, flow
from anymetal.analysis.affine import forms
from anymetal.analysis.induction import trips
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.objects import origins
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.frontend.clang import compile_to_ir
from anymetal.pipeline.program import thread_program
from anymetal.simd import questions
from anymetal.source import KernelSource
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.pipeline import PASSES, GangCompilation
from anymetal.targets.cpu.variant import Variant
from anymetal.testing.lockstep.builds import builds_here, groups_of, source_of
from anymetal.testing.lockstep.generators import CLASSES, generate
from tests.pipeline.kept import PLAIN, Watching, watched

Kernel = tuple[str, int]  #: its class, and its seed

#: Kernels that each pass changes.
SAMPLE: dict[str, Kernel] = {
    "place-in-rows": ("flow", 204),
    "unroll-and-jam": ("patterns", 283),
    "version-by-bounds": ("patterns", 219),
    "coarsen": ("patterns", 248),
    "split-divisions": ("patterns", 217),
    "unlock-threadgroup-memory": ("patterns", 248),
    "interleave-private-arrays": ("frames", 100),
    "prefetch": ("patterns", 219),
    "keep-memory-order": ("vectors", 214),
}


@functools.cache
def compiled(kernel: Kernel) -> tuple[KernelSource, str, tuple[Variant, ...]]:
    """What Clang makes of a random kernel, and the classes of its launch."""
    kind, seed = kernel
    case = generate(seed, kind)
    source = source_of(case)
    here, groups = builds_here(), groups_of(case, source)
    variants = tuple(here[name].variant(case, groups) for name in ("native", "scalar"))
    return source, compile_to_ir(source), variants


def watch(kernel: Kernel, ask_before: bool = True) -> Iterator[Watching]:
    """The passes at work on a kernel, in each class."""
    source, raw, variants = compiled(kernel)
    for variant in variants:
        program = thread_program(source, raw=raw)
        c = GangCompilation(program, variant, machine_for(""))
        yield watched(PASSES, c, ask_before)


def expect_honesty(kernels: Iterable[Kernel]) -> None:
    for kernel in kernels:
        for ask_before in (True, False):
            assert not [wrong for w in watch(kernel, ask_before) for wrong in w.wrong], kernel


def test_what_passes_say_is_so() -> None:
    expect_honesty(dict.fromkeys(SAMPLE.values()))


def test_every_pass_that_keeps_answers_changes_a_kernel_of_the_sample() -> None:
    for name, kernel in SAMPLE.items():
        assert name in {changed for w in watch(kernel) for changed in w.changed}
    assert {one.name for one in PASSES if one.keeps} <= set(SAMPLE)


@pytest.mark.slow
def test_what_passes_say_is_so_in_many_kernels() -> None:
    expect_honesty((kind, seed) for kind in CLASSES for seed in range(300, 340))


def test_every_answer_that_is_kept_can_be_compared() -> None:
    assert {question for one in PASSES for question in one.keeps} <= set(PLAIN)


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("version-by-bounds", control.loops),
        ("version-by-bounds", control.dominators),
        ("version-by-bounds", control.postdominators),
        ("version-by-bounds", regions),
        ("unroll-and-jam", trips),
        ("coarsen", shapes),
        ("split-divisions", lane_numbers),
        ("split-divisions", forms),
        ("prefetch", origins),
        ("prefetch", shapes),
        ("interleave-private-arrays", interleaved),
        ("interleave-private-arrays", questions.groups),
        ("keep-memory-order", flow.used),
    ],
)
def test_a_pass_that_keeps_too_much_is_found(
    name: str, question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = next(one for one in PASSES if one.name == name)
    monkeypatch.setattr(one, "keeps", (*one.keeps, question))
    found = [wrong for watching in watch(SAMPLE[name]) for wrong in watching.wrong]
    assert f"{name} keeps {question.__name__}" in found


@pytest.mark.parametrize("name", ["coarsen", "split-divisions", "keep-memory-order"])
def test_a_pass_that_denies_its_changes_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = next(one for one in PASSES if one.name == name)
    right = one.run

    def denies(c: GangCompilation) -> bool:
        right(c)
        c.known.forget()
        return False

    monkeypatch.setattr(one, "run", denies)
    found = [wrong for watching in watch(SAMPLE[name]) for wrong in watching.wrong]
    assert f"{name} changes the program, and says that it does not" in found
