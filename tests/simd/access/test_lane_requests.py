"""Vectors of which many lanes are asked for come out of memory."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.spec import Stage, check
from anymetal.simd import questions
from tests.analysis import plans

_ENTRY = """
    entry:
      %lane = call i32 @__am_lane()
      %p = getelementptr float, ptr %a, i32 %lane
      %q = getelementptr float, ptr %out, i32 %lane
      %x = load float, ptr %p
"""


def analysed(body: str) -> Analyses:
    known = plans.analysed(_ENTRY + body, True)
    check(known.program, Stage.ORDERED)
    return known


def shuffle(name: str, value: str, lane: int) -> str:
    """A lane of a float."""
    return f"""
      %{name}.w = bitcast float %{value} to i32
      %{name}.l = call i32 @__am_shuffle(i32 %{name}.w, i32 {lane})
      %{name} = bitcast i32 %{name}.l to float
    """


def test_many_lanes_of_one_vector_come_out_of_memory() -> None:
    def body(lanes: int) -> str:
        picks = "".join(shuffle(f"s{k}", "x", k) for k in range(lanes))
        sums = "".join(f"%t{k + 1} = fadd float %t{k}, %s{k}\n" for k in range(lanes))
        return f"{picks}%t0 = fadd float %x, 0.0\n{sums}store float %t{lanes}, ptr %q\nret void"

    (lanes,) = analysed(body(5))(questions.broadcast_lanes).values()
    assert lanes == set(range(5))
    assert not analysed(body(3))(questions.broadcast_lanes)
