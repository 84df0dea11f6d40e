"""Which groups of neighbours stay in the order of memory, and what is converted for that."""

from __future__ import annotations

from collections import Counter

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.simd import questions
from tests.compiling import planned
from tests.ir.programs import program
from tests.ir.short import llvm

ALIGNED = LaunchFacts(linear=True, aligned=True, flat=True)
_ARGS = "ptr %a, ptr %b, ptr %shape, ptr %out, ptr %to"


def each(line: str) -> str:
    """A line for each of four components: K is its number."""
    return "\n".join(line.replace("K", str(number)) for number in range(4))


#: Each lane has four neighbours v0 to v3; %u is a number that all lanes have in common.
_ENTRY = f"""
i = group_x() * full_size_x() + thread_x()
at = i * 4
n = shape[0]
u = b[n]
{each("vK = a[at + K]")}
"""
_BOTH = "2 groups"


def store(value: str) -> str:
    return each(f"out[at + K] = {value}")


def ordered(body: str) -> str:
    """How many groups are in the order of memory, and how many conversions there are."""
    text = llvm(f"{_ENTRY}{body}\nret void", {"shape": "i32"})
    text = text.replace("call float @llvm.fma.", "call reassoc float @llvm.fma.")
    known = planned(program(text, _ARGS), ALIGNED)
    ops = Counter(i.op for i in known.program.instructions())
    groups = known(questions.groups).values()
    ordered = {group for group in groups if group.is_ordered}
    found = [f"{len(ordered)} groups"]
    found += [f"{ops[op]} {op}" for op in ("in_lane_order",) if ops[op]]
    return ", ".join(found)


_SELECT = each("hK = vK > 0") + "\n" + each("%cK = select i1 %hK, float %vK, float 1.0")
_FOUR = "".join(f"x{number} = b[i + {at}]\n" for number, at in enumerate((0, 1, 2, 7)))
_IF = "high = v0 > 0\nbr i1 %high, label %then, label %end\nthen:\n{}\nbr label %end\nend:"
_ADDED = """
high = v0 > 0
br i1 %high, label %then, label %join
then:
{then}
br label %join
join:
{phis}
{store}
""".format(
    then=each("wK = vK + a[at + 128 + K]"),
    phis=each("%pK = phi float [ %vK, %entry ], [ %wK, %then ]"),
    store=store("pK"),
)
_DOT = "s = fma(v3, v3, fma(v2, v2, fma(v1, v1, fma(v0, v0, 0))))\n"
_DOT3 = "s = fma(v2, v2, fma(v1, v1, fma(v0, v0, 0)))\n"
_LOOP = """
br label %before
before:
br label %loop
loop:
%k = phi i32 [ 0, %before ], [ %next, %loop ]
{phis}
{body}
next = k + 1
more = next < n
br i1 %more, label %loop, label %end
end:
{lasts}
"""


def loop(start: str, body: str) -> str:
    """Computes tK of sK in each iteration."""
    phis = each(f"%sK = phi float [ {start}, %before ], [ %tK, %loop ]")
    return _LOOP.format(phis=phis, body=each(body), lasts=each("%lK = phi float [ %tK, %loop ]"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (store("vK * 2 + 1"), _BOTH),
        (store("exp(vK - u)"), _BOTH),
        (f"{_SELECT}\n{store('cK')}", _BOTH),
        # operands that are not the same for all
        ("\n".join(f"out[at + {k}] = v{k} * {k + 1}" for k in range(4)), "0 groups"),
        ("x = b[i]\n" + store("vK * x"), "0 groups"),
        (_FOUR + store("vK * xK"), "0 groups"),
        # each lane needs its own
        ("out[i] = v0 + v1 * v2 - v3", "0 groups"),
        ("\n".join(f"out[at + {3 - k}] = v{k}" for k in range(4)), "0 groups"),
        (store("vK * v0"), "0 groups"),
        (_IF.format(store("vK")), "0 groups"),
        (_ADDED, "0 groups"),
        # some uses do, and it pays all the same
        (store("vK * 2") + "\nto[i] = v0 * v1 * v2 * v3", "2 groups, 4 in_lane_order"),
        (store("vK * 2 + v0"), "0 groups"),
        # totals
        ("m = reduce_max_f32(maxnum(maxnum(v0, v1), maxnum(v2, v3)))\n" + store("vK - m"), _BOTH),
        ("m = reduce_max_f32(maxnum(maxnum(v0, v1), v2))\n" + store("vK - m"),
         "2 groups, 4 in_lane_order"),
        ("m = reduce_max_f32(v0)\n" + store("vK - m"), "2 groups, 4 in_lane_order"),
        (_DOT + "m = reduce_add_f32(s)\n" + store("vK * m"), _BOTH),
        (_DOT3 + "m = reduce_add_f32(s)\n" + store("vK * m"), "2 groups, 4 in_lane_order"),
        # exact sums need the lanes, which is worth it where more is saved
        ("m = reduce_add_f32(v0 + v1 + v2 + v3)\n" + store("vK * m"),
         "2 groups, 4 in_lane_order"),
        ("m = reduce_add_f32(v0 + v1 + v2 + v3)\nout[i] = m", "0 groups"),
        # loops
        (loop("0.0", "tK = sK + a[(k << 7) + at + K]") + store("lK + vK"), "3 groups"),
        (loop("%vK", "tK = sK * 3 + 1") + store("lK"), _BOTH),
    ],
)  # fmt: skip
def test_ordered_groups(body: str, expected: str) -> None:
    assert ordered(body) == expected
