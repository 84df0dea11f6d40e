"""The parts of the suite: tests by pytest, and programs that say with their status what came."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """Some tests, or one program."""

    what: str
    tests: tuple[str, ...] = ()  #: of pytest
    program: tuple[str, ...] = ()  #: what Python runs


_FUZZ = "--jobs 1 --seed 1".split()

PARTS = {
    "cases": Part("`.metal` cases", ("tests/test_kernel_cases.py",)),
    "numerics": Part("numerics: accuracy tables, conversions, edges", ("tests/numerics",)),
    "lanes": Part("cross-lane functions, full vectors, builds of one lane", ("tests/simd",)),
    "targets": Part("launches, faults, other orders", ("tests/targets",)),
    "runtime": Part("pool, cache, helpers, bridge", ("tests/runtime",)),
    "graph": Part("nodes of MLX's graph, Ctrl-C", ("tests/graph", "tests/gradients")),
    "linalg": Part("`anymetal.linalg`", ("tests/linalg",)),
    "nn": Part("`anymetal.nn`", ("tests/nn",)),
    "fuzz": Part(
        "1,000 random kernels against an interpreter",
        program=("-m", "anymetal.testing.fuzz", "--count", "1000", *_FUZZ),
    ),
    "lockstep": Part(
        "300 kernels of many patterns against a simulator",
        program=("-m", "anymetal.testing.lockstep", "--count", "300", *_FUZZ),
    ),
}
#: What CI runs a sample of: what has been seen to pass as a whole.
SAMPLED = ("cases", "lanes", "targets", "graph", "nn")
