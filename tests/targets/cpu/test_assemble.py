"""Machine code where LLVM has gone wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

import mlx.core as mx

from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import variant_for
from tests.frontend.kernels import kernel_source

#: Lanes but the first gather 16-bit numbers. The indices of two lanes come out of a vector at once.
_GATHER = """
uint i = thread_position_in_grid.x;
if (simd_is_first()) return;
out[i] <<= char(x[((const device int2*)place)[i].y & 7] > ushort(0));
"""


class _Listing(GangStages):
    assembly = ""

    def made(self, what: str, text: Callable[[], str]) -> None:
        if what == "assembly":
            self.assembly = text()


def test_an_index_of_one_lane_has_nothing_of_the_next() -> None:
    inputs = {"x": mx.zeros(8, mx.uint16), "place": mx.zeros((64, 2), mx.int32)}
    source = kernel_source(_GATHER, inputs=inputs, outputs={"out": mx.int8})
    listing, variant = _Listing(), variant_for((64, 1, 1), (32, 1, 1))
    compile_kernel(source, variant._replace(cpu="x86-64-v4"), listing)
    both, bad = set[str](), []
    for line in listing.assembly.splitlines():
        if pair := re.search(r"vp?(?:movq|extrq)\s.*(%r\w+)$", line):
            both.add(pair[1])
            continue
        # The register as it is, with both indices, scaled as one of them.
        bad += [line for register in both if f",{register},2)" in line.replace(" ", "")]
        both -= {changed for changed in both if line.rstrip().endswith(changed)}
    assert "vmovq" in listing.assembly and not bad
