"""Whether a pass keeps what a program does: it runs before and after, on the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from tests.ir.programs import Bytes, ir_text, run_program, run_text

SIZE = 256  # bytes of each buffer


def memory(floats: bool) -> list[Bytes]:
    """The buffers %a, with numbers in it, and %out."""
    random = np.random.default_rng(5)
    if floats:
        numbers = random.normal(size=SIZE // 4).astype(np.float32).view(np.uint8)
    else:
        numbers = random.integers(0, 256, SIZE, np.uint8)
    return [numbers, np.full(SIZE, 0xEE, np.uint8)]


def assert_same(
    body: str,
    passes: Sequence[tuple[Callable[[Analyses], bool], Stage]],
    floats: bool = False,
    top: str = "",
) -> Program:
    """What LLVM makes of the text, and what is computed after the passes, must be the same."""
    text = ir_text(body, top=top)
    expected, actual = memory(floats), memory(floats)
    run_text(text, expected)
    program = read_program(text)
    for run, stage in passes:
        run(Analyses(program))
        check(program, stage)
    run_program(program, actual)
    for theirs, ours in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(theirs, ours)
    assert not np.array_equal(expected[1], memory(floats)[1]), "the test stores nothing"
    return program
