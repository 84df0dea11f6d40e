"""In which order a team stores: section by section, or piece by piece."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.coarsening import teams
from anymetal.coarsening.schedule import Pieces
from anymetal.ir.model import Instr
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from anymetal.pipeline.program import thread_program
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_WIDE = Machine("", "", "+avx512f,+avx2")
_BARRIER = "threadgroup_barrier(mem_flags::mem_none);\n"
_ID = "uint l = thread_index_in_threadgroup, g = l / 32, lane = l % 32; int n = int(s);\n"


def pieces_of(body: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Into how many pieces each section with stores is cut."""
    found: list[int] = []
    cut = Pieces.__call__

    def spy(self: Pieces, section: list[Instr]) -> list[list[Instr]]:
        pieces = cut(self, section)
        assert [i for piece in pieces for i in piece] == section
        if any(i.op == "store" for i in section):
            found.append(len(pieces))
        return pieces

    monkeypatch.setattr(Pieces, "__call__", spy)
    kernel = thread_program(kernel_source(_ID + _BARRIER + body))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == 8
    check(kernel, Stage.GANG)
    return found


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (uint k = 0; k < 4; ++k) out[k * 256 + l] = a[k * 256 + l];", 4),
        ("for (int k = 0; k < 4; ++k) out[(k * 8 + g) * n + lane] = a[k * 256 + l];", 4),
        ("for (int k = 0; k < 4; ++k) out[(g * 8 + k) * n + lane] = a[k * 256 + l];", 1),
        ("for (uint k = 0; k < 4; ++k) out[(l / 32 * 4 + k) * 32 + l % 32] = a[k + l];", 1),
        ("float v = a[l]; for (uint k = 0; k < 4; ++k) out[k * 256 + l] = v;", 1),
        ("float v = 0; for (uint k = 0; k < 4; ++k) out[k * 256 + l] = v += a[k * 256 + l];", 1),
        ("out[l] = a[l];", 1),
    ],
)
def test_pieces(body: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pieces_of(body, monkeypatch) == [count]


_TILE = """
threadgroup float tile[16][32];
float sum = 0, other = 1;
tile[l / 16][lane] = a[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
for (uint k = 0; k < {1}; ++k) {{ {0} }}
out[l] = sum * other;
"""


@pytest.mark.parametrize(
    ("work", "steps", "count"),
    [
        ("sum += tile[g][k] * tile[k][lane];", 16, 16),
        ("sum += tile[g][k] * tile[k][lane];", 4, 1),  # few rows stay in registers
        ("sum += tile[k][lane] * tile[k][lane ^ 1];", 8, 1),  # the same for all
        ("sum += tile[g][k] * tile[k][g];", 16, 1),  # numbers, no vectors
        # More sums than half of the registers hold.
        ("sum += tile[g][k] * tile[k][lane]; other += tile[k][g] * tile[k][lane];", 16, 1),
    ],
)
def test_pieces_by_what_is_loaded_for_all(
    work: str, steps: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    cut = Pieces.__call__

    def spy(self: Pieces, section: list[Instr]) -> list[list[Instr]]:
        pieces = cut(self, section)
        assert [i for piece in pieces for i in piece] == section
        found.append(len(pieces))
        return pieces

    monkeypatch.setattr(Pieces, "__call__", spy)
    kernel = thread_program(kernel_source(_ID + _TILE.format(work, steps)))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == 8
    check(kernel, Stage.GANG)
    assert max(found) == count
