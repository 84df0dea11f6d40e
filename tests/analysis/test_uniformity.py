"""Shape analysis: uniform, strided, varying; and what divergence does to it."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.uniformity import Shape
from tests.analysis.plans import analyse as analyse_blocks
from tests.analysis.plans import final_shapes
from tests.analysis.shapes import ALIGNED, ANY, FLAT, ROWS, accesses, analyse

_ID = "uint i = thread_position_in_grid.x, l = thread_index_in_simdgroup;\n"

#: Body, launch, and the shapes of the addresses in the buffers. "?": only good as an address.
TABLE: list[tuple[str, LaunchFacts, str]] = [
    # Threads in a row, in a multiple of the gang (then an index cannot wrap inside), or anywhere.
    ("out[i] = a[i];", FLAT, "a: strided(4?) out: strided(4?)"),
    ("out[i] = a[i];", ALIGNED, "a: strided(4) out: strided(4)"),
    ("out[i] = a[i];", ANY, "a: varying out: varying"),
    ("uint y = thread_position_in_grid.y; out[i] = a[y];", ROWS, "a: uniform out: strided(4)"),
    ("uint y = thread_position_in_grid.y; out[i] = a[y];", ANY, "a: varying out: varying"),
    # Other positions.
    ("out[i] = a[l];", ANY, "a: strided(4) out: varying"),
    ("out[i] = a[simdgroup_index_in_threadgroup];", ANY, "a: uniform out: varying"),
    ("out[i] = a[threadgroup_position_in_grid.x];", FLAT, "a: uniform out: strided(4?)"),
    ("out[i] = a[threads_per_grid.x - 1];", FLAT, "a: uniform out: strided(4?)"),
    # Linear arithmetic keeps strides.
    ("out[2 * i] = a[3 * i + 1];", FLAT, "a: strided(12?) out: strided(8?)"),
    ("out[i << 2] = a[i + n];", FLAT, "n: uniform a: strided(4?) out: strided(16?)"),
    ("out[i] = a[1023 - i];", FLAT, "a: strided(-4?) out: strided(4?)"),
    ("out[i] = a[(i + n) - i];", FLAT, "n: uniform a: uniform out: strided(4?)"),
    ("to[l] = b[l * 3];", ALIGNED, "b: strided(12) to: strided(4)"),
    ("out[i] = a[i * n];", FLAT, "n: uniform a: varying out: strided(4?)"),
    ("out[i] = a[i * i];", FLAT, "a: varying out: strided(4?)"),
    # Extensions and truncations.
    ("out[size_t(i)] = a[long(int(i))];", FLAT, "a: strided(4?) out: strided(4?)"),
    ("size_t k = i; out[2 * k] = a[k + 1];", FLAT, "a: strided(4?) out: strided(8?)"),
    ("out[i] = a[ushort(i)];", FLAT, "a: varying out: strided(4?)"),
    ("int t = int(i) - 3; if (t >= 0) out[i] = a[t];", FLAT, "a: strided(4) out: strided(4?)"),
    # Bits of an aligned run of lanes: the low five count lanes, the others are the same in all.
    ("out[i] = a[i & 31];", ALIGNED, "a: strided(4) out: strided(4)"),
    ("out[i] = a[i % 64];", ALIGNED, "a: strided(4) out: strided(4)"),
    ("out[i] = a[i & ~31u];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[i >> 5];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[i / 128 + 1];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[(i + 64) / 32];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[(i + 1) / 32];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[i >> 4];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[i & 15];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[2 * i & 63];", ALIGNED, "a: strided(8) out: strided(4)"),
    ("out[i] = a[i & 31];", FLAT, "a: varying out: strided(4?)"),
    ("out[i] = a[i >> 5];", FLAT, "a: varying out: strided(4?)"),
    ("out[i] = a[l & 31] + a[l >> 5];", FLAT, "a: strided(4) uniform out: strided(4?)"),
    # … of an aligned run of lanes that counts by 4: bits 2 to 6.
    ("out[i] = a[4 * i];", ALIGNED, "a: strided(16) out: strided(4)"),
    ("out[i] = a[4 * i & ~127u];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[4 * i & 127];", ALIGNED, "a: strided(16) out: strided(4)"),
    ("out[i] = a[4 * i & 124u << 1];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[(4 * i + 128) >> 7];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[(4 * i + 64) >> 7];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[(4 * i + 128) >> 6];", ALIGNED, "a: varying out: strided(4)"),
    # Quotients and remainders by multiples of the gang.
    ("out[i] = a[i / 96];", ALIGNED, "a: uniform out: strided(4)"),
    ("out[i] = a[i % 96];", ALIGNED, "a: strided(4) out: strided(4)"),
    ("out[i] = a[i % 96 / 32 + i % 96 % 32];", ALIGNED, "a: strided(4) out: strided(4)"),
    ("out[i] = a[i / 48];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[i % 48];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[(i + 16) / 96];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[3 * i / 96];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[2 * i / 192] + a[2 * i % 192];", ALIGNED,
     "a: uniform strided(8) out: strided(4)"),
    ("out[i] = a[2 * i % 96];", ALIGNED, "a: varying out: strided(4)"),
    ("out[i] = a[i / 96] + a[i % 96];", FLAT, "a: varying varying out: strided(4?)"),
    ("out[i] = a[i / (n * 32u + 32)] + a[i % (n * 32u + 32)];", ALIGNED,
     "n: uniform a: uniform strided(4) out: strided(4)"),
    ("out[i] = a[i / n];", ALIGNED, "n: uniform a: varying out: strided(4)"),
    # Counters that go by multiples of the gang.
    ("float s = 0; for (int k = 0; k < n; k += 64) s += a[(i + k) / 32]; out[i] = s;", ALIGNED,
     "n: uniform a: uniform out: strided(4)"),
    ("float s = 0; for (int k = 32; k < n; k += 64) s += a[(i + k) % 32]; out[i] = s;", ALIGNED,
     "n: uniform a: strided(4) out: strided(4)"),
    ("float s = 0; for (int k = 0; k < n; k += 16) s += a[(i + k) / 32]; out[i] = s;", ALIGNED,
     "n: uniform a: varying out: strided(4)"),
    ("float s = 0; for (int k = 8; k < n; k += 64) s += a[(i + k) / 32]; out[i] = s;", ALIGNED,
     "n: uniform a: varying out: strided(4)"),
    # Choices.
    ("out[i] = a[n > 5 ? i : i + 1];", FLAT, "n: uniform a: strided(4?) out: strided(4?)"),
    ("out[i] = a[n > 5 ? i : 2 * i];", FLAT, "n: uniform a: varying out: strided(4?)"),
    ("out[i] = a[i > 5 ? i : i + 1];", FLAT, "a: varying out: strided(4?)"),
    ("out[i] = a[max(int(i), n)];", FLAT, "n: uniform a: varying out: strided(4?)"),
    # Data.
    ("out[i] = a[b[i]];", FLAT, "b: strided(4?) a: varying out: strided(4?)"),
    ("out[i] = a[b[n]];", FLAT, "n: uniform b: uniform a: uniform out: strided(4?)"),
    ("out[i] = a[simd_max(b[i])];", FLAT, "b: strided(4?) a: uniform out: strided(4?)"),
    ("out[i] = a[simd_broadcast(b[i], ushort(3))];", FLAT,
     "b: strided(4?) a: uniform out: strided(4?)"),
    ("out[i] = a[simd_shuffle_xor(b[i], ushort(1))];", FLAT,
     "b: strided(4?) a: varying out: strided(4?)"),
    ("float2 v = ((const device float2*)a)[i]; out[i] = v.x + v.y;", FLAT,
     "a: strided(8?) strided(8?) out: strided(4?)"),
    # Loops: a counter is uniform while all lanes count alike, whatever lanes do otherwise.
    ("float r = 0; for (int k = 0; k < n; k++) r += a[k * 64 + i]; out[i] = r;", FLAT,
     "n: uniform a: strided(4?) out: strided(4?)"),
    ("float r = 0; for (int k = 0; k < b[i]; k++) r += a[k]; out[i] = r;", FLAT,
     "b: strided(4?) a: uniform out: strided(4?)"),
    ("int k = 0; while (a[k] > n) k++; to[k] = 1;", FLAT, "n: uniform a: uniform to: uniform"),
    ("int k = 0; while (a[k] > i) k++; to[k] = 1;", FLAT, "a: uniform to: varying"),
    ("int k = 0; for (int j = 0; j < n; j++) if (b[j] > i) k++; to[k] = 1;", FLAT,
     "n: uniform b: uniform to: varying"),
    ("int k = 0; for (int j = 0; j < n; j++) if (b[j] > 5) k++; to[k] = 1;", FLAT,
     "n: uniform b: uniform to: uniform"),
    # Branches.
    ("int k = n; if (b[i] > 3) { k += 7; to[99] = 1; } to[k] = 1;", FLAT,
     "n: uniform b: strided(4?) to: uniform varying"),
    ("int k = n; if (b[9] > 3) { k += 7; to[99] = 1; } to[k] = 1;", FLAT,
     "n: uniform b: uniform to: uniform uniform"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "launch", "expected"), TABLE)
def test_addresses(body: str, launch: LaunchFacts, expected: str) -> None:
    found = accesses(analyse(_ID + body, launch))
    assert " ".join(f"{name}: {shapes}" for name, shapes in found.items()) == expected


def test_private_arrays_of_one_element_size_are_interleaved() -> None:
    """Their pointers are offsets in the lane's own space, and stay uniform with the index."""
    known = analyse(_ID + "float t[40]; t[n] = a[i]; t[b[i]] = 1; out[i] = t[b[n]];")
    offsets = [final_shapes(known)[i] for i in known(interleaved) if i.op == "gep"]  # type: ignore[attr-defined]
    assert [shape.kind for shape in offsets] == ["uniform", "varying", "uniform"]


def test_other_private_arrays_are_ordinary_copies() -> None:
    known = analyse(
        _ID + "float t[40]; t[b[i]] = a[i];\nout[i] = *(thread float*)((thread char*)t + n);"
    )
    (alloca,) = (i for i in known.program.instructions() if i.op == "alloca")
    type_, align = alloca.arg
    assert not known(interleaved)
    assert final_shapes(known)[alloca] == Shape("strided", -(-type_.size // align) * align)


# ---------------------------------------------------------------------------------- divergence

_JOIN = """
    left:
      br label %join
    right:
      br label %join
    join:
      %r = phi i32 [ {}, %left ], [ {}, %right ]
      store i32 %r, ptr %q
      ret void
"""


@pytest.mark.parametrize(
    ("entry", "values", "shape"),
    [
        ("br i1 %u, label %left, label %right", ("1", "2"), "uniform"),
        ("br i1 %u, label %left, label %right", ("%lane", "%lane"), "strided(1)"),
        ("br i1 %u, label %left, label %right", ("%lane", "1"), "varying"),
        ("br i1 %u, label %left, label %right", ("%n", "%x"), "varying"),
        ("br i1 %v, label %left, label %right", ("1", "2"), "varying"),
        ("br i1 %v, label %left, label %right", ("%lane", "%lane"), "varying"),
    ],
)
def test_where_ways_meet(entry: str, values: tuple[str, str], shape: str) -> None:
    known = analyse_blocks(entry, _JOIN.format(*values))
    phi = next(i for i in known.program.instructions() if i.op == "phi")
    assert str(final_shapes(known)[phi]) == shape


_LOOP = """
    loop:
      %k = phi i32 [ 0, %entry ], [ %next, %latch ]
      {head}
    middle:
      {middle}
    latch:
      %next = add i32 %k, 1
      {latch}
    hit:
      %found = phi i32 {hit}
      br label %end
    end:
      {end}
      ret void
"""
_LAST = "%last = phi i32 [ %next, %latch ]\nstore i32 %last, ptr %q"
_NO_HIT = "br label %end"


@pytest.mark.parametrize(
    ("parts", "divergent"),
    [
        # uniform count, uniform exit in the middle
        (
            {
                "head": "%c = icmp eq i32 %k, 7\nbr i1 %c, label %hit, label %middle",
                "middle": "br label %latch",
                "latch": "%m = icmp slt i32 %next, %n\nbr i1 %m, label %loop, label %end",
            },
            "",
        ),
        # lanes leave in different iterations, at the latch or in the middle
        (
            {
                "head": "%c = icmp eq i32 %k, 7\nbr i1 %c, label %hit, label %middle",
                "middle": "br label %latch",
                "latch": "%m = icmp slt i32 %next, %x\nbr i1 %m, label %loop, label %end",
            },
            "branch latch, loop loop, join hit end",
        ),
        (
            {
                "head": "%c = icmp eq i32 %k, %x\nbr i1 %c, label %hit, label %middle",
                "middle": "br label %latch",
                "latch": "%m = icmp slt i32 %next, %n\nbr i1 %m, label %loop, label %end",
            },
            "branch loop, loop loop, join hit end",
        ),
        # a uniform exit under a condition that varies: some lanes may not get there
        (
            {
                "head": "br i1 %v, label %middle, label %latch",
                "middle": "br i1 %u, label %hit, label %latch",
                "latch": "%m = icmp slt i32 %next, %n\nbr i1 %m, label %loop, label %end",
                "hit": "[ %k, %middle ]",
            },
            "branch loop middle, loop loop, join latch hit end",
        ),
        # lanes that part and meet again inside an iteration
        (
            {
                "head": "br i1 %v, label %middle, label %latch",
                "middle": "store i32 %k, ptr %q\nbr label %latch",
                "latch": "%m = icmp slt i32 %next, %n\nbr i1 %m, label %loop, label %hit",
                "hit": "[ %k, %latch ]",
                "end": "",
            },
            "branch loop, join latch",
        ),
    ],
)
def test_loops(parts: dict[str, str], divergent: str) -> None:
    given = {"hit": "[ %k, %loop ]", "end": ""} | parts
    shapes = final_shapes(analyse_blocks("br label %loop", _LOOP.format(**given)))
    blocks = [block.name.strip("%") for block in shapes.order]
    found = {
        "branch": {b.name for b in shapes.divergent},
        "loop": {loop.header.name for loop in shapes.divergent_loops},
        "join": {b.name for b in shapes.joins},
    }
    in_order = {kind: [b for b in blocks if f"%{b}" in names] for kind, names in found.items()}
    text = [f"{kind} {' '.join(sorted(b, key='loop middle latch hit end'.split().index))}"
            for kind, b in in_order.items() if b]  # fmt: skip
    assert ", ".join(text) == divergent
