"""`python -m benchmarks.arm [--row NAME]… [--core NAME]… [--write]`: nothing runs on Arm here.

Our kernels and the C++ are compiled for Arm's cores. Their inner loops are cut out of the machine
code, and llvm-mca says how many cycles an iteration takes if all memory is in the first-level cache
and no branch is mispredicted. `--write` makes ARM.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from anymetal.targets.base import Launch
from benchmarks.arm import code
from benchmarks.arm.loops import Core, Piece, blocks, loops
from benchmarks.arm.page import Cost, Measured, written
from benchmarks.launches import kernel_rows, launch_of

PAGE = Path(__file__).parent.parent / "ARM.md"

CORES = (
    Core("Neoverse V1", "neoverse-v1", "neoverse-v1", 32),
    Core("Neoverse V2", "neoverse-v2", "neoverse-v2"),
    Core("Cortex-A76", "cortex-a76", "neoverse-n1"),  # the same core, of which LLVM has a model
    Core("Apple M1", "apple-m1", "apple-m1"),
)


class Subject(NamedTuple):
    """Loops of a row that do the same work. See `Piece.work` for the kinds."""

    file: str  #: of the C++
    functions: str  #: which have its loops
    ours: str  #: what counts our work; our loop is the one that has most of it
    theirs: tuple[str, ...] = ()  #: likewise, for loops that follow each other; empty: like ours
    block: bool = False  #: only the block that does most of it: others are for edges
    left_out: tuple[str, ...] = ()  #: how blocks of ours are called that these data never reach


_MULTIPLY = "multiplyI{}E"
_FMA = "fml[as]"
SUBJECTS = {
    "saxpy": Subject("elementwise", "bench_saxpyE", "st"),
    "exp": Subject("elementwise", "bench_expE", "st"),
    "gelu": Subject("elementwise", "bench_geluE", "st"),
    "luminance": Subject("elementwise", "bench_luminanceE", "st"),
    "hash64": Subject("elementwise", "bench_hashE", "st/2"),
    "softmax": Subject("reductions", "bench_softmaxE", "=1024", ("ld", "st", "st")),
    "rms_norm": Subject("reductions", "bench_rms_normE", "=1024", ("ld", "st")),
    "layer_norm_vjp": Subject("reductions", "layer_norm_vjpE", "fsub/2", ("st/2", "st")),
    "philox": Subject("compute", "bench_philoxE", "st"),
    "black_scholes": Subject("compute", "bench_black_scholesE", "=16", ("st/2",)),
    "mandelbrot": Subject("compute", "bench_mandelbrotE", "fcmg[te]"),
    "stencil": Subject("compute", "bench_stencilE", "fm(?:ul|la)/9", block=True),
    "matmul_naive": Subject("matmul", _MULTIPLY.format("f"), _FMA),
    "matmul_tiled": Subject("matmul", _MULTIPLY.format("f"), _FMA),
    "matmul_simdgroup_1024": Subject("matmul", _MULTIPLY.format("f"), _FMA),
    "matmul_simdgroup_half_1024": Subject("matmul", _MULTIPLY.format("DF16_"), _FMA),
    "transpose": Subject("matrices", "bench_transposeE", "=1024", ("st",)),
    "quantised": Subject("transformer", "bench_quantisedE", "[us]cvtf"),
    "attention": Subject("transformer", "bench_attentionE", _FMA, (_FMA,)),
    # Addresses at random are neither neighbours nor all the same (simd/emit/contiguity.py).
    "gather": Subject("irregular", "bench_gatherE", "st", left_out=("run.", "same.")),
    "rnn": Subject("scans", "bench_rnnE", f"{_FMA}/38", (f"{_FMA}/32", "st")),
    "grid_sample": Subject("sampling", "bench_grid_sampleE", _FMA),
}


def main() -> None:
    options = _options()
    mx.set_default_device(mx.cpu)
    found: list[Measured] = []
    listings: dict[tuple[str, str], str] = {}
    for row in kernel_rows():
        if row.name not in (options.row or SUBJECTS):
            continue
        launch = launch_of(row.prepare(np.random.default_rng(7)))
        for core in CORES:
            if core.name in (options.core or [c.name for c in CORES]):
                found.append(_measured(row.name, launch, core, listings))
                one = found[-1]
                print(f"{row.name:28}{core.title:13}{one.ours.cycles:9.3f}"
                      f"{one.theirs.cycles:9.3f}{one.ratio:7.2f}  {one.ours.spills:5} spills"
                      f"{one.ours.lanes:5} lanes", flush=True)  # fmt: skip
    mean = math.exp(sum(math.log(one.ratio) for one in found) / len(found))
    print(f"geometric mean of {len(found)}: {mean:.2f}")
    if options.write:
        PAGE.write_text(written(found))


def _measured(
    name: str, launch: Launch, core: Core, listings: dict[tuple[str, str], str]
) -> Measured:
    subject = SUBJECTS[name]
    key = subject.file, core.name
    if key not in listings:
        listings[key] = code.of_rival(*key)
    ours = loops(code.of_kernel(launch, core.name), core)
    ours = [piece.without(subject.left_out) for piece in ours]
    theirs = loops(listings[key], core, subject.functions)
    if subject.block:
        ours, theirs = blocks(ours), blocks(theirs)
    if subject.theirs:
        cost = _cost(list(_following(theirs, subject.theirs)))
    else:
        cost = _cost([_busiest(theirs, subject.ours)])
    return Measured(name, core.title, _cost([_busiest(ours, subject.ours)]), cost)


def _busiest(pieces: list[Piece], kind: str) -> tuple[Piece, float]:
    """The piece with most of the work. Of copies that do nearly as much, others are for edges:
    the cheapest. Where the work is known, the longest."""
    if kind.startswith("="):
        return max(pieces, key=lambda piece: len(piece.instructions)), int(kind[1:])
    most = max(piece.work(kind) for piece in pieces)
    likely = [piece for piece in pieces if piece.work(kind) >= 0.9 * most]
    best = min(likely, key=lambda piece: piece.cycles / piece.work(kind))
    return best, best.work(kind)


def _following(pieces: list[Piece], kinds: Iterable[str]) -> Iterator[tuple[Piece, float]]:
    """The next innermost loop that does each kind of work."""
    rest = iter(piece for piece in pieces if piece.inner)
    for kind in kinds:
        piece = next(piece for piece in rest if piece.work(kind))
        yield piece, piece.work(kind)


def _cost(pieces: list[tuple[Piece, float]]) -> Cost:
    return Cost(
        sum(piece.cycles / work for piece, work in pieces),
        sum(piece.spills for piece, _ in pieces),
        sum(piece.lanes for piece, _ in pieces),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arm", description=__doc__)
    parser.add_argument("--row", action="append", choices=SUBJECTS, help="this row only")
    names = [core.name for core in CORES]
    parser.add_argument("--core", action="append", choices=names, help="this core only")
    parser.add_argument("--write", action="store_true", help="write ARM.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
