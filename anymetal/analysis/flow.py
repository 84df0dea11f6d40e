"""How a gang goes through a program, and which of its lanes are active where."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis import control
from anymetal.analysis.cache import Analyses
from anymetal.analysis.linearization import Linearizer, RegionPlan
from anymetal.analysis.mask_sources import MaskRoots
from anymetal.analysis.regions import Region, regions
from anymetal.analysis.uniformity import shapes
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.walk import users_in


def users(known: Analyses) -> dict[Value, list[Instr]]:
    """The instructions that use each value, in their order."""
    return users_in(known.program.instructions())


def used(known: Analyses) -> set[Value]:
    """Values that some instruction uses."""
    return {v for i in known.program.instructions() for v in i.operands}


def plans(known: Analyses) -> dict[Region, RegionPlan]:
    """How a gang goes through each region. Planning may find that lanes cannot stay together; it
    then makes the shapes less uniform, never more, and what followed from them is forgotten."""
    linearizer = Linearizer(known(regions), known(shapes))
    if linearizer.has_forced:
        known.forget((*control.ALL, regions, shapes))
    return linearizer.plans


def mask_roots(known: Analyses) -> MaskRoots:
    """Where the mask of each block comes from."""
    return MaskRoots(known(regions), known(plans))


def full(known: Analyses) -> Callable[[Block], bool]:
    """Whether all lanes of a full gang are active in a block."""
    return known(mask_roots).always_full
