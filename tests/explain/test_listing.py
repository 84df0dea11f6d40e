"""Assembly listings: loops, comments, and the class of each instruction."""

from __future__ import annotations

import pytest

from anymetal.explain.classes import class_of, count
from anymetal.explain.listing import Instruction, read_listing

X86 = """\
am_entry:                               # @am_entry
# %bb.0:                                # %start
	pushq	%rbp
	.loc	1 3 0                           # marks:3
	movq	(%rdi), %rax
.LBB0_1:                                # %b.for.body.i
                                        # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_2 Depth 2
	vaddps	(%rax), %zmm0, %zmm1
.LBB0_2:                                # %lane.7.i
                                        #   Parent Loop BB0_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	.loc	1 5 0
	lock		xaddl	%ecx, (%rdx)
	jne	.LBB0_2
# %bb.3:                                #   in Loop: Header=BB0_1 Depth=1
	vmovups	%zmm2, 320(%rsp)                # 64-byte Spill
	jne	.LBB0_1
.LBB0_4:
	retq
"""


def test_loops_and_marks() -> None:
    listing = read_listing(X86)
    outer, inner = listing.loops
    assert (outer.name, outer.inner, inner.name, inner.inner) == (
        *("b.for.body.i", False),
        *("lane.7.i", True),
    )
    assert outer.children == [inner] and inner.parent == "BB0_1"
    assert [i.operation for i in outer.instructions] == ["vaddps", "vmovups", "jne"]
    assert [i.operation for i in inner.instructions] == ["lock", "jne"]
    assert len(outer.everything) == 5
    assert [i.mark for i in listing.instructions] == [0, 3, 3, 5, 5, 5, 5, 5]
    assert {i.function for i in listing.instructions} == {"am_entry"}


def test_aarch64() -> None:
    (one,) = read_listing(
        "\tldr\tq0, [x1, #16]                // 16-byte Folded Reload\n"
    ).instructions
    assert (one.operands, one.comment) == ("q0, [x1, #16]", "16-byte Folded Reload")


def test_names_with_template_arguments() -> None:
    text = '"sums<float, 4>.kernel":                  // @"sums<float, 4>.kernel"\n\tret\n'
    (one,) = read_listing(text).instructions
    assert (one.function, one.operation) == ("sums<float, 4>.kernel", "ret")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vfmadd231ps %zmm1, %zmm2, %zmm3", "vector arithmetic"),
        ("vaddps (%rax), %zmm0, %zmm1", "vector arithmetic"),
        ("vmulss %xmm1, %xmm2, %xmm3", "scalar"),
        ("vmovups (%rax,%rcx,4), %zmm0", "loads"),
        ("vmovups (%rax), %zmm0 {%k1} {z}", "loads"),
        ("vmovups %zmm0, (%rax,%rcx,4)", "stores"),
        ("vmovups %zmm0, (%rax) {%k1}", "stores"),
        ("vmovntps %zmm0, (%rax)", "stores"),
        ("vmaskmovps (%rax), %ymm0, %ymm1", "loads"),
        ("movl 4(%rdi), %eax", "loads"),
        ("vpmovzxbd (%rax), %zmm0", "loads"),
        ("vbroadcastss (%rax), %zmm0", "loads"),
        ("vgatherdps (%r12,%zmm0,4), %zmm2 {%k1}", "gathers"),
        ("vscatterdps %zmm2, (%r12,%zmm0,4) {%k1}", "scatters"),
        ("vshufps $1, %zmm1, %zmm2, %zmm3", "shuffles and moves"),
        ("vpermd %zmm1, %zmm2, %zmm3", "shuffles and moves"),
        ("vmovaps %zmm1, %zmm2", "shuffles and moves"),
        ("kandw %k1, %k2, %k3", "masks"),
        ("kortestw %k1, %k2", "masks"),
        ("callq _ZGVeN16v_expf@PLT", "calls"),
        ("jne .LBB0_2", "branches"),
        ("retq", "branches"),
        ("addl $1, %eax", "scalar"),
        ("lock", "atomics"),
        ("fmla v0.4s, v1.4s, v2.4s", "vector arithmetic"),
        ("ldp q0, q1, [x1, #32]", "loads"),
        ("stp q0, q1, [x1, #32]", "stores"),
        ("zip1 v0.4s, v1.4s, v2.4s", "shuffles and moves"),
        ("b.ne .LBB0_2", "branches"),
        ("bl _ZGVnN4v_expf", "calls"),
        ("add x0, x1, #4", "scalar"),
    ],
)
def test_classes(line: str, expected: str) -> None:
    operation, _, operands = line.partition(" ")
    assert class_of(Instruction(operation, operands, "", 0, "f")) == expected


def test_spills_are_known_by_their_comments() -> None:
    counts = count(read_listing(X86).instructions)
    assert counts["spills"] == 1 and counts["atomics"] == 1
