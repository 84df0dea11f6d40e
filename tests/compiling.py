"""The compiler's parts, as tests call them."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.ir.model import Program
from anymetal.machine import ANY_MACHINE, Machine
from anymetal.pipeline.driver import run
from anymetal.targets.cpu import module, scalar
from anymetal.targets.cpu.pipeline import PASSES, GangCompilation
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant

#: What is for gangs of any kind: neither versions nor teams, nor asking for memory.
_FIRST = "unlock-threadgroup-memory"


def vector_ir(
    program: Program, variant: Variant, machine: Machine, stages: GangStages | None = None
) -> str:
    """LLVM IR of the module for a thread program."""
    c = GangCompilation(program, variant, machine, stages)
    return scalar.scalar_ir(c) if variant.width == 1 else module.vector_ir(c)


def variant_of(launch: LaunchFacts, width: int = 32) -> Variant:
    """Gangs that have all lanes if all threadgroups are whole."""
    return Variant(
        flat=launch.flat,
        linear=launch.linear,
        aligned=launch.aligned,
        full=True,
        partial=not launch.whole,
        single=True,
        width=width,
    )


def planned(program: Program, launch: LaunchFacts, width: int = 32) -> Analyses:
    """A thread program that has come through the passes for gangs of any kind: it is changed, and
    what is known of it."""
    c = GangCompilation(program, variant_of(launch, width), ANY_MACHINE)
    names = [one.name for one in PASSES]
    split = [one for one in PASSES if one.name == "split-divisions"]
    run([*split, *PASSES[names.index(_FIRST) :]], c)
    return c.known


def known_of(
    program: Program, launch: LaunchFacts, width: int = 32, machine: Machine = ANY_MACHINE
) -> Analyses:
    """What is known of a thread program as it is."""
    return Analyses(program, launch, width, machine)
