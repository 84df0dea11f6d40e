"""What kernels certainly store to their outputs, as numbers times positions and loop counters."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.must_store import Stored, Term, stored
from tests.ir.programs import program

_POSITIONS = """
  %thread = call i32 @__am_thread_x()
  %above = call i32 @__am_group_y()
  %size = call i32 @__am_full_size_x()
  %n = load i32, ptr %a
  %f = load float, ptr %a
"""


def _stored(body: str) -> list[Stored]:
    read = program(f"entry:\n{_POSITIONS}\n{body}")
    read.args[1].output = read.args[1].apart = True
    return stored(Analyses(read))


def _terms(body: str) -> list[tuple[int, list[Term]]]:
    return [(one.bytes, sorted(one.terms)) for one in _stored(body)]


_AT_THREAD = """
  %wide = zext i32 %thread to i64
  %at = getelementptr float, ptr %out, i64 %wide
"""


@pytest.mark.parametrize(
    ("body", "bytes_", "terms"),
    [
        (f"{_AT_THREAD} store float %f, ptr %at\nret void", 4, [Term(4, 1, ("thread_x",))]),
        # four neighbours, in any order
        (
            "%wide = sext i32 %thread to i64\n%at = getelementptr [16 x i8], ptr %out, i64 %wide\n"
            + "\n".join(
                f"%p{i} = getelementptr i8, ptr %at, i64 {4 * i}\nstore float %f, ptr %p{i}"
                for i in (2, 0, 3, 1)
            )
            + "\nret void",
            16,
            [Term(16, 1, ("thread_x",))],
        ),
        # rows, unrolled
        (
            f"{_AT_THREAD} store float %f, ptr %at\n"
            "%p = getelementptr i8, ptr %at, i64 512\nstore float %f, ptr %p\nret void",
            4,
            [Term(4, 1, ("thread_x",)), Term(512, 2)],
        ),
        # the position in the grid
        (
            "%start = mul i32 %above, %size\n%i = add i32 %start, %thread\n"
            "%wide = zext i32 %i to i64\n%at = getelementptr i16, ptr %out, i64 %wide\n"
            "store i16 1, ptr %at\nret void",
            2,
            [Term(2, 1, ("full_size_x", "group_y")), Term(2, 1, ("thread_x",))],
        ),
        # shifts, and bits that are put together
        (
            "%row = shl i32 %above, 8\n%i = or disjoint i32 %row, %thread\n"
            "%wide = zext i32 %i to i64\n%at = getelementptr i8, ptr %out, i64 %wide\n"
            "store i8 1, ptr %at\nret void",
            1,
            [Term(1, 1, ("thread_x",)), Term(256, 1, ("group_y",))],
        ),
    ],
)
def test_addresses(body: str, bytes_: int, terms: list[Term]) -> None:
    found = [(size, [t for t in have if t.times > 1 or t.positions]) for size, have in _terms(body)]
    assert found == [(bytes_, sorted(terms))]


_LOOP = """
  br label %loop
loop:
  %k = phi i32 [ {start}, %entry ], [ %next, %{last} ]
  {middle}
  %next = add i32 %k, {step}
  %done = icmp {test}
  br i1 %done, label %end, label %loop
end:
  {behind}
  ret void
"""
_STORE = """
  %row = shl i32 %k, 6
  %i = add i32 %row, %thread
  %wide = zext i32 %i to i64
  %at = getelementptr float, ptr %out, i64 %wide
  store float %f, ptr %at
"""
_DIAGONAL = _STORE.replace("%thread", "%more").replace(
    "%row =", "%up = mul i32 %k, %size\n%more = add i32 %up, %thread\n%row ="
)
_BEHIND = "%last = phi i32 [ %k, %loop ]" + _STORE.replace("%k", "%last")
_ON_A_SIDE = f"""
  %odd = icmp eq i32 %n, 3
  br i1 %odd, label %side, label %join
side:
  {_STORE}
  br label %join
join:
"""


@pytest.mark.parametrize(
    ("changes", "terms"),
    [
        ({}, [Term(4, 1, ("thread_x",)), Term(256, 12)]),
        ({"step": "3"}, [Term(4, 1, ("thread_x",)), Term(768, 4)]),
        ({"test": "eq i32 %next, %n"}, None),  # as often as an array says
        ({"start": "%n"}, None),
        ({"step": "-1", "start": "12", "test": "eq i32 %next, 0"}, None),  # down to 1
        ({"middle": _ON_A_SIDE, "last": "join"}, None),
        ({"middle": _DIAGONAL}, None),
        ({"middle": "", "behind": _BEHIND}, None),  # only with the last counter
    ],
)
def test_loops(changes: dict[str, str], terms: list[Term] | None) -> None:
    usual = {"start": "0", "step": "1", "test": "eq i32 %next, 12", "middle": _STORE}
    body = _LOOP.format(**{**usual, "last": "loop", "behind": "", **changes})
    found = [[t for t in have if t.times > 1 or t.positions] for _, have in _terms(body)]
    assert found == ([] if terms is None else [sorted(terms)])


@pytest.mark.parametrize(
    "body",
    [
        "%odd = icmp eq i32 %n, 3\nbr i1 %odd, label %side, label %end\nside:\n"
        f"{_AT_THREAD} store float %f, ptr %at\nbr label %end\nend:\nret void",
        f"{_AT_THREAD} %old = load float, ptr %at\nstore float %old, ptr %at\nret void",
        f"{_AT_THREAD} store float %f, ptr %at\n"
        "%old = atomicrmw fadd ptr %out, float %f monotonic\nret void",
        f"{_AT_THREAD} store volatile float %f, ptr %at\nret void",
        f"{_AT_THREAD} store float %f, ptr %at\nstore ptr %at, ptr %a\nret void",
        f"{_AT_THREAD} store float %f, ptr %at\n"
        "%any = load ptr, ptr %a\n%g = load float, ptr %any\nstore float %g, ptr %a\nret void",
        # not from the beginning on, backwards, from data, and modulo 2^16
        f"{_AT_THREAD} %p = getelementptr i8, ptr %at, i64 4\nstore float %f, ptr %p\nret void",
        "%i = sub i32 255, %thread\n%wide = zext i32 %i to i64\n"
        "%at = getelementptr float, ptr %out, i64 %wide\nstore float %f, ptr %at\nret void",
        "%i = add i32 %n, %thread\n%wide = zext i32 %i to i64\n"
        "%at = getelementptr float, ptr %out, i64 %wide\nstore float %f, ptr %at\nret void",
        "%i = trunc i32 %thread to i16\n%wide = zext i16 %i to i64\n"
        "%at = getelementptr float, ptr %out, i64 %wide\nstore float %f, ptr %at\nret void",
        # to one of two arrays
        f"{_AT_THREAD} %odd = icmp eq i32 %n, 3\n%one = select i1 %odd, ptr %at, ptr %a\n"
        "store float %f, ptr %one\nret void",
    ],
)
def test_nothing_is_certain(body: str) -> None:
    assert _stored(body) == []


def test_outputs_that_may_share_memory_do_not_count() -> None:
    read = program(f"entry:\n{_POSITIONS}{_AT_THREAD}\nstore float %f, ptr %at\nret void")
    read.args[1].output = True
    assert stored(Analyses(read)) == []
