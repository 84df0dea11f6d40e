"""In which order a team stores: section by section, or piece by piece."""

from __future__ import annotations

from collections import Counter

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.coarsening import teams
from anymetal.coarsening.schedule import Pieces, SectionSplitter
from anymetal.ir import types as t
from anymetal.ir.calls import FORGET
from anymetal.ir.model import Instr
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_WIDE = Machine("", "", "+avx512f,+avx2")
_ARGS = "ptr %a, ptr %shape, ptr %out"
#: %l is the index in the threadgroup, %n a size; SIMD-groups meet at a barrier.
_ENTRY = """
g = gang()
lane = lane()
l = g * 32 + lane
n = shape[0]
call void @__am_threadgroup_barrier(i32 0)
"""


def pieces_of(body: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Into how many pieces a team of eight cuts each section with stores, in order, and how many
    SIMD-groups go through them together."""
    found: list[tuple[int, int]] = []
    cut = SectionSplitter.__call__

    def spy(self: SectionSplitter, section: list[Instr]) -> Pieces:
        cut_up = cut(self, section)
        assert [i for piece in cut_up.pieces for i in piece] == section
        if any(i.op == "store" for i in section):
            found.append((len(cut_up.pieces), cut_up.together))
        return cut_up

    monkeypatch.setattr(SectionSplitter, "__call__", spy)
    text = llvm(f"{_ENTRY}{body}\nret void", {"shape": "i32"})
    kernel = program(text, _ARGS)
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == 8
    check(kernel, Stage.GANG)
    return found


def steps(line: str, count: int) -> str:
    """The line for each k below the count."""
    return "\n".join(line.replace("k", str(k)) for k in range(count))


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (steps("out[k * 256 + l] = a[k * 256 + l]", 4), 4),
        (steps("out[(k * 8 + g) * n + lane] = a[k * 256 + l]", 4), 4),
        (steps("out[(g * 8 + k) * n + lane] = a[k * 256 + l]", 4), 1),
        (steps("out[(g * 4 + k) * 32 + lane] = a[k + l]", 4), 1),
        ("v = a[l]\n" + steps("out[k * 256 + l] = v", 4), 1),  # handed from store to store
        ("v = a[l]\n" + steps("v = v + a[k * 256 + l]\nout[k * 256 + l] = v", 4), 1),
        ("out[l] = a[l]", 1),
    ],
)
def test_pieces(body: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pieces_of(body, monkeypatch) == [(count, 8)]


_ROWS = "sum = fmuladd(a[g * 16 + k], a[k * 32 + lane], sum)"
_TWO_SUMS = """row = a[k * 32 + lane]
sum = fmuladd(a[g * 16 + k], row, sum)
other = fmuladd(a[k * 32 + g], row, other)"""


@pytest.mark.parametrize(
    ("work", "count", "pieces", "together"),
    [
        (_ROWS, 16, 16, 8),
        (_ROWS, 4, 1, 8),  # few rows stay in registers
        ("sum = fmuladd(a[k * 32 + lane], a[k * 32 + l], sum)", 8, 1, 8),
        ("sum = fmuladd(a[g * 16 + k], a[k * 32 + g], sum)", 16, 1, 8),  # numbers, no vectors
        # Half of the registers hold the sums of four.
        (_TWO_SUMS, 16, 16, 4),
    ],
)
def test_pieces_by_what_is_loaded_for_all(
    work: str, count: int, pieces: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = f"sum = 0\nother = 1\n{steps(work, count)}\nout[l] = sum * other"
    assert pieces_of(body, monkeypatch) == [(pieces, together)]


_BARRIER = "call void @__am_threadgroup_barrier(i32 0)"
_SUMS = f"sum = 0\nother = 1\n{steps(_TWO_SUMS, 16)}"
_EARLY = "\n".join(
    [
        steps("rowk = a[k * 32 + lane]", 16),
        "out[l] = 1\nsum = 0\nother = 1",
        steps(_TWO_SUMS.partition("\n")[2].replace("row", "rowk"), 16),
    ]
)


@pytest.mark.parametrize(
    ("sums", "behind", "again"),
    [
        (_SUMS, _BARRIER, 16),
        (_SUMS, "", 0),  # what the first four store may change the rows
        (_EARLY, _BARRIER, 0),  # and so may what all store behind the rows
    ],
)
def test_those_who_come_next_load_rows_again(sums: str, behind: str, again: int) -> None:
    body = f"{_ENTRY}{sums}\n{behind}\nout[l] = sum * other\nret void"
    kernel = program(llvm(body, {"shape": "i32"}), _ARGS)
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == 8
    check(kernel, Stage.GANG)
    loads = Counter(i.operands[0] for i in kernel.instructions() if i.op == "load")
    assert kernel.calls(FORGET) == (again > 0)
    assert sum(count == 2 for count in loads.values()) == again
    assert set(loads.values()) <= {1, 2}
    uses = Counter(v for i in kernel.instructions() for v in i.operands if v.type is t.FLOAT)
    rows = [i for i in kernel.instructions() if i.op == "load" and loads[i.operands[0]] == 2]
    assert {uses[row] for row in rows} <= {4 * 2}  # two sums of four SIMD-groups
