"""Explains a kernel as a program for an NVIDIA GPU: compiles it with marks, and has NVIDIA's
assembler count what it takes. No GPU is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.emission.marks import Marks
from anymetal.explain import lane_split
from anymetal.explain.kernels import Explanation
from anymetal.explain.listing import Instruction, read_ptx
from anymetal.explain.ranking import Weights, rounds
from anymetal.explain.warps import Warp, is_access
from anymetal.ir.model import Instr, Program
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.passes import place_in_rows
from anymetal.pipeline.stages import Times
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.base import Extent
from anymetal.targets.cpu.variant import variant_for
from anymetal.targets.cuda import compiler
from anymetal.targets.cuda.arguments import block_of, form_of, geometry
from anymetal.targets.cuda.names import Form
from anymetal.targets.cuda.occupancy import occupancy
from anymetal.targets.cuda.ptxas import Assembled, assembled
from anymetal.targets.cuda.reporting import WarpStages

#: By the beginnings of PTX operations, in turns of the warp's scheduler, roughly.
_WEIGHTS = {"div.rn": 10, "sqrt.rn": 10, "rcp.rn": 10, "div": 20, "rem": 20, "bar": 10, "shfl": 2}


class Launches(NamedTuple):
    """Launches that one version of a kernel serves, as far as facts about it go."""

    block: Extent
    form: Form
    known: LaunchFacts
    rows: int  #: threads in x, if a warp is whole rows of a threadgroup; else 0
    large: int  #: how many times 2^31 bytes the largest array has

    @property
    def text(self) -> str:
        """The class in words."""
        block = " x ".join(map(str, self.block[: 3 if self.block[2] > 1 else 2]))
        block = block.removesuffix(" x 1")
        return f"threadgroups of {block}, {'all' if self.form.whole else 'not all'} full"


def launches_of(
    source: KernelSource, grid: Extent, threadgroup: Extent, large: int = 0
) -> Launches:
    """Those like one. Arrays count as aligned, as those of MLX are that are no parts of others.

    Raises KernelLaunchError for what no GPU runs.
    """
    blocks = geometry(source.name, grid, threadgroup)
    group = block_of(grid, threadgroup)
    variant = variant_for(grid, group, width=SIMD_GROUP)
    known = LaunchFacts(variant.linear, variant.aligned, variant.flat, not variant.partial)
    form = form_of(blocks, isinstance(source, LibrarySource), aligned=True)
    return Launches(group, form, known, variant.rows, large)


class _Look(WarpStages):
    """Keeps what a compilation wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.given = Marks()
        self.program: Program | None = None
        self.apart: list[tuple[Instr, Instr]] = []

    def marks(self) -> Marks:
        return self.given

    def written(self, program: Program, apart: list[tuple[Instr, Instr]]) -> None:
        self.program, self.apart = program, apart


def explain(source: KernelSource, launches: Launches, architecture: str) -> Explanation:
    """Facts about the program of a warp, with costs that are guesses, and what it takes.

    `architecture`: sm_90, say. Raises as compiling does.
    """
    look = _Look()
    ptx = compiler.compiled(source, architecture, launches.form, launches.large, look)
    assert look.program
    known = Analyses(look.program, launches.known, SIMD_GROUP)
    if launches.rows:
        place_in_rows.run(known, launches.rows)
        known.forget()
    lane_split.run(known)
    known.forget()
    code: dict[Instr, list[Instruction]] = {}
    listing = read_ptx(ptx)
    for one in listing:
        if one.mark:
            code.setdefault(look.given.known[one.mark - 1].instr, []).append(one)
    # Marks make LLVM announce debug information, for which ptxas would optimise less.
    taken = assembled(ptx.replace(", debug\n", "\n", 1), architecture)
    lost = any(is_access(one) and not one.mark for one in listing)
    frame = None if isinstance(taken, str) else taken.frame
    warp = Warp(known, code, look.apart, lost, frame)
    lines, numbers = _resources(taken, architecture, prod(launches.block))
    return Explanation(
        source,
        f"{architecture}, {launches.text}",
        warp.facts(),
        [],
        Times(look.times, look.passes),
        _weights(warp, code),
        lines,
        numbers,
    )


def _resources(
    taken: Assembled | str, architecture: str, threads: int
) -> tuple[tuple[str, ...], dict[str, object]]:
    """In words, and in values of JSON."""
    if isinstance(taken, str):
        return (f"registers, spills and occupancy: {taken}",), {"unknown": taken}
    found = occupancy(architecture, threads, taken.registers, taken.memory)
    spills = "no spills"
    if taken.spilled or taken.reloaded:
        spills = f"spills: {taken.spilled} bytes stored, {taken.reloaded} loaded"
    memory = f", {taken.memory} bytes of threadgroup memory" if taken.memory else ""
    frame = f", {taken.frame} bytes of local memory a thread" if taken.frame else ""
    allow = "allows" if found.limit == "threadgroup memory" else "allow"
    lines = (
        f"{taken.registers} registers a thread, {spills}{frame}{memory}",
        f"occupancy {found.share:.0%}: {found.warps} of {found.most} warps a multiprocessor, in "
        f"{found.blocks} threadgroup{'s' * (found.blocks != 1)} of {threads} threads; "
        f"{found.limit} {allow} no more",
    )
    numbers = {**taken._asdict(), "occupancy": {**found._asdict(), "share": found.share}}
    return lines, numbers


def _weights(warp: Warp, code: Mapping[Instr, Sequence[Instruction]]) -> Weights:
    """What lines cost: a turn for each instruction, but for slow ones and those of memory."""
    found = Weights()
    for instr, instructions in code.items():
        access = warp.access(instr)
        turns = access.turns if access else 1
        cost = float(sum(turns if is_access(i) else _weight(i) for i in instructions))
        cost *= rounds(instr, warp.tree, warp.known)
        found.add(instr, cost, instructions)
    # Keeping in step is the branches' work: each goes by way of a number and a vote.
    votes = sum(cost for (_, kind), cost in found.findings.items() if kind == "branch")
    for cause, _ in warp.apart:
        found.findings[cause.loc, "in step"] = votes / len(warp.apart)
    return found


def _weight(instruction: Instruction) -> int:
    fitting = [w for name, w in _WEIGHTS.items() if instruction.operation.startswith(name)]
    return fitting[0] if fitting else 1
