"""Loops that are cut out of listings, and the work that is counted in them."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.arm.loops import Core, Piece, blocks, loops

_V1 = Core("Neoverse V1", "neoverse-v1", "neoverse-v1", 32)
_LISTING = """\
"sums<float>":                          // @"sums<float>"
// %bb.0:                               // %start
	mov	x8, xzr
.LBB0_1:                                // %loop
                                        // =>This Loop Header: Depth=1
                                        //     Child Loop BB0_2 Depth 2
	add	x1, x1, #1
.LBB0_2:                                // %inner
                                        //   Parent Loop BB0_1 Depth=1
                                        // =>  This Inner Loop Header: Depth=2
	ldp	q0, q1, [x0]
	ld1w	{ z2.s }, p0/z, [x2]
	ld1	{ v3.s }[1], [x3]
	fmla	v0.4s, v1.4s, v2.s[1]
	fmla	z4.s, p0/m, z5.s, z6.s
	umov	w8, v1.b[3]
	str	q7, [sp, #16]                   // 16-byte Spill
	st1	{ v0.4s, v1.4s }, [x4]
	b.ne	.LBB0_2
// %bb.3:                               //   in Loop: Header=BB0_1 Depth=1
	str	q0, [x5]
	b.ne	.LBB0_1
gang.resume:                            // @gang.resume
// %bb.0:
	fadd	v0.8h, v1.8h, v2.8h
"""


def _inner() -> Piece:
    (piece,) = (piece for piece in loops(_LISTING, _V1, "sums<") if piece.inner)
    return piece


@pytest.mark.parametrize(
    ("kind", "work"),
    [
        ("st", 8),  # spills are no work
        ("st/2", 4),
        ("ld", 8 + 8 + 1),
        ("fml[as]", 4 + 8),
        ("=1024", 1024),
        ("fdiv", 0),
    ],
)
def test_work(kind: str, work: float) -> None:
    assert _inner().work(kind) == work


def test_what_is_dear() -> None:
    """A product by a lane moves no lane."""
    assert (_inner().spills, _inner().lanes) == (1, 2)


def test_pieces() -> None:
    outer, inner, resumed = loops(_LISTING, _V1)
    assert [piece.inner for piece in (outer, inner, resumed)] == [False, True, False]
    assert [len(piece.instructions) for piece in blocks([outer])] == [1, 2]
    assert (resumed.function, resumed.work("fadd")) == ("gang.resume", 8)


_TWO_WAYS = """
streams:                                // @streams
.LBB0_1:                                // %loop
                                        // =>This Inner Loop Header: Depth=1
	ldr	q0, [x0]
	b.ne	.LBB0_3
// %bb.2:                               // %store.past.1.i
                                        //   in Loop: Header=BB0_1 Depth=1
	stnp	q0, q0, [x1]
	b	.LBB0_4
.LBB0_3:                                // %store.usual.1.i
                                        //   in Loop: Header=BB0_1 Depth=1
	stp	q0, q0, [x1]
.LBB0_4:                                // %store.end.1.i
                                        //   in Loop: Header=BB0_1 Depth=1
	b.ne	.LBB0_1
"""


@pytest.mark.parametrize(
    ("listing", "stores"),
    [(_TWO_WAYS, ["stnp"]), (_TWO_WAYS.replace("past", "some"), ["stnp", "stp"])],
)
def test_one_of_two_ways_to_store(listing: str, stores: list[str]) -> None:
    """Only what goes past the caches counts, if anything does."""
    (piece,) = loops(listing, _V1)
    assert [i.operation for i in piece.instructions if i.operation.startswith("st")] == stores


@pytest.mark.skipif(shutil.which("llvm-mca-19") is None, reason="llvm-mca 19 is not installed")
def test_cycles() -> None:
    """More work takes longer, and instructions that the model does not know do not stop it."""
    (resumed,) = loops(_LISTING, _V1, "gang")
    assert 0 < resumed.cycles < _inner().cycles < 20


def test_ways_that_are_not_taken_may_be_left_out() -> None:
    (loop,) = loops(_TWO_WAYS.replace("store.past", "rest").replace("store.usual", "same"), _V1)
    assert len(loop.without(("same.",)).instructions) < len(loop.instructions)
    assert {i.label for i in loop.without(("same.", "rest.", "store.")).instructions} == {"loop"}
    assert loop.without(()) is loop
