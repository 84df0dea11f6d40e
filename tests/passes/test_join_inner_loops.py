"""Inner loops of several outer iterations that run as one, ahead of time."""

from __future__ import annotations

from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.ir.model import Program
from anymetal.ir.printer import print_program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.passes import join_inner_loops
from anymetal.passes.joined_loop import Joined
from anymetal.targets.cpu.llvm_target import machine_for
from tests.ir.programs import ir_text, run_program, run_text
from tests.ir.short import llvm

_SIZE = 24  #: of a square matrix; 32 more rows are for lanes
_ARGS = "ptr %x, ptr %a, ptr %shape"
_PROGRAM = """
n = shape[0]
lane = thread_x()
row = lane * n
mine = row + 576
br label %outer
outer:
%j = phi i32 [ FIRST, %entry ], [ %j_next, %back ]
FRONT
GUARD
before:
BEFORE
br label %inner
inner:
%p = phi i32 [ START, %before ], [ %p_next, %inner ]
%s = phi float [ INIT, %before ], [ %t, %inner ]
BODY
p_next = p + STEP
%p_done = icmp eq i32 %p_next, LIMIT
br i1 %p_done, label %behind, label %inner
behind:
%last = phi float [ %t, %inner ]
br label %back
back:
%sum = phi float [ %last, %behind ]SKIPPED
BACK
j_next = j + 1
%j_done = icmp eq i32 %j_next, %n
br i1 %j_done, label %end, label %outer
end:
ret void
"""


class Nest(NamedTuple):
    """Parts of the two loops: the inner one adds up `t`, the outer one stores `sum`."""

    body: str
    back: str
    front: str = ""
    before: str = ""
    first: str = "1"
    start: str = "0"
    step: str = "1"
    limit: str = "%j"
    init: str = "0.0"
    guard: str = ""

    def text(self) -> str:
        text = _PROGRAM.replace("SKIPPED", ", [ 1.5, %outer ]" if self.guard else "")
        guard = f"br i1 {self.guard}, label %back, label %before" if self.guard else ""
        parts = {"FIRST": self.first, "FRONT": self.front, "GUARD": guard or "br label %before",
                 "BEFORE": self.before, "START": self.start, "INIT": self.init, "BODY": self.body,
                 "STEP": self.step, "LIMIT": self.limit, "BACK": self.back}  # fmt: skip
        for name, part in parts.items():
            text = text.replace(name, part)
        return ir_text(llvm(text, {"shape": "i32"}), _ARGS)


_DOT = "t = fmuladd(x[row + p], x[j * n + p], s)"
_MINE = "t = fmuladd(x[mine + p], x[j * n + p], s)"
_OWN = "t = fmuladd(x[j * n + p], a[p], s)"
_ZERO = "%none = icmp eq i32 %j, 0"
#: All lanes do the same; what one thread does is compared with what LLVM's code does.
_ALIKE = {
    "a column of a factor": Nest("t = fmuladd(x[j * n + p], x[p], s)",
                                 "x[j * n + 20] = sum * 0.125", limit="20"),
    "a triangle": Nest(_OWN, "x[j * n + 22] = a[j] - sum"),
    "forward substitution": Nest("t = fmuladd(a[j * n + p], x[p], s)", "x[j] = a[j] - sum * 0.25"),
    "from a loaded value": Nest(_OWN, "x[j] = sum", before="begin = a[j + 40]", init="%begin"),
    "some are passed by": Nest(_OWN, "x[j] = sum", _ZERO, first="0", guard="%none"),
    "down": Nest("t = fmuladd(a[j * n + p], a[p], s)", "x[j] = sum", start="%j", step="-1",
                 limit="-1"),
    "products": Nest("t = a[j * n + p] * s", "x[j] = sum", init="1.0", limit="%n"),
    "two stores": Nest(_OWN, "x[j + 24] = sum\nx[j + 48] = sum * 2", limit="22", first="3"),
    "each reads what the last one stored": Nest("t = fmuladd(x[p], a[j * n + p], s)",
                                                "x[j] = sum * 0.125", limit="%n"),
    "a store in the middle of a later row": Nest(
        _OWN, "next = j * n + 34\nx[next] = sum * 0.125", limit="%n", first="0"),
}  # fmt: skip
#: Each lane has a row of its own.
_LANES = {
    "rows below a block": Nest(_MINE, "x[mine + j] = a[mine + j] - sum * 0.125"),
    "rows below, divided": Nest(
        _MINE, "pivot = x[j * n + j] + 8\nx[mine + j] = (a[mine + j] - sum) / pivot"),
    "some are passed by": Nest(_MINE, "x[mine + j] = sum * 0.125", _ZERO, first="0", guard="%none"),
    "lanes that overlap": Nest("t = fmuladd(x[mine + p], a[j * n + p], s)",
                               "at = mine + j\nx[at] = sum * 0.125", limit="%n"),
}  # fmt: skip
_LEFT_ALONE = {
    "the limit is loaded": Nest(_OWN, "x[j] = sum", "limit = shape[1]", limit="%limit"),
    "the inner loop stores": Nest(f"{_OWN}\nx[p + 600] = t", "x[j] = sum"),
    "steps of two": Nest(_OWN, "x[j] = sum", step="2", limit="22"),
    "a place that is not known ahead": Nest(_OWN, "%k = fptosi float %sum to i32\nx[k] = sum"),
    "another thread may go on": Nest(_OWN, "call void @__am_threadgroup_barrier(i32 1)"),
    "what it begins with is stored": Nest(_OWN, "x[j] = sum", before="begin = x[j + 1]",
                                          init="%begin"),
    "products of the counter": Nest("t = fmuladd(x[p * j], a[p], s)", "x[j] = sum"),
    "the next one needs the sum": Nest(_OWN, "x[j] = sum", before="at = j * n\nbegin = x[at]",
                                       init="%begin"),
}  # fmt: skip


def _memory() -> list[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    rng = np.random.default_rng(7)
    count = _SIZE * (_SIZE + 40)
    arrays = [rng.standard_normal(count).astype(np.float32) for _ in range(2)]
    return [a.view(np.uint8) for a in (*arrays, np.full(8, _SIZE, np.int32))]


def _known(program: Program, width: int) -> Analyses:
    launch = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
    return Analyses(program, launch, width, machine_for(""))


def _joined(nest: Nest, width: int) -> Program:
    program = read_program(nest.text())
    assert join_inner_loops.run(_known(program, width))
    check(program, Stage.GANG)
    return program


@pytest.mark.parametrize("name", _ALIKE)
def test_one_thread(name: str) -> None:
    """Results are the same bit by bit: no sum is added in another order."""
    nest = _ALIKE[name]
    expected, actual = _memory(), _memory()
    run_text(nest.text().replace("call i32 @__am_thread_x()", "add i32 0, 0"), expected)
    run_program(_joined(nest, 1), actual)
    assert expected[0].tobytes() != _memory()[0].tobytes()
    assert expected[0].tobytes() == actual[0].tobytes()


@pytest.mark.parametrize("name", [*_LANES, *_ALIKE])
@pytest.mark.parametrize("threads", [32, 27])
def test_lanes(name: str, threads: int) -> None:
    nest = (_LANES | _ALIKE)[name]
    expected, actual = _memory(), _memory()
    run_program(read_program(nest.text()), expected, 32, threads)
    run_program(_joined(nest, 32), actual, 32, threads)
    assert expected[0].tobytes() != _memory()[0].tobytes()
    assert expected[0].tobytes() == actual[0].tobytes()


_STORED = ("each reads what the last one stored", "a store in the middle of a later row")


@pytest.mark.parametrize("name", [*_STORED, "lanes that overlap"])
def test_ranges_are_compared(name: str) -> None:
    """Without the comparison of ranges, loads would come too early."""
    nest, width = (_LANES | _ALIKE)[name], 32 if name in _LANES else 1
    expected, actual = _memory(), _memory()
    run_program(read_program(nest.text()), expected, width, width)
    with mock.patch.object(Joined, "_keeps_apart", _without_stores):
        run_program(_joined(nest, width), actual, width, width)
    assert expected[0].tobytes() != actual[0].tobytes()


_compared = Joined._keeps_apart


def _without_stores(joined: Joined, *arguments: object) -> object:
    joined.nest = joined.nest._replace(stores=[])
    return _compared(joined, *arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_left_alone(name: str) -> None:
    program = read_program(_LEFT_ALONE[name].text())
    before = print_program(program)
    assert not join_inner_loops.run(_known(program, 32))
    assert print_program(program) == before


def test_nothing_is_shared() -> None:
    """Lanes that load different elements for each of the joined iterations keep busy as it is."""
    nest = Nest("t = fmuladd(x[row + p], a[j * n + p + lane], s)", "x[mine + j] = sum")
    own = nest._replace(body="t = fmuladd(x[(row + j) + p], a[j + p + lane], s)")
    assert join_inner_loops.run(_known(read_program(nest.text()), 32))
    assert not join_inner_loops.run(_known(read_program(own.text()), 32))
