"""Which class of launches a kernel is compiled for, where that shows in its program.

Two kernels may be launched alike, and only one of them gain from columns of SIMD-groups. Whether a
team comes of them is tried with copies of the program, whose passes nobody follows.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.order_dependence import depends_on_order
from anymetal.coarsening import gang_width
from anymetal.frontend.profile import Profile
from anymetal.ir.model import Program
from anymetal.ir.sizes import SIMD_GROUP, is_power_of_two
from anymetal.machine import Machine
from anymetal.passes import fold_grid
from anymetal.pipeline.driver import run
from anymetal.pipeline.program import program_of, thread_text
from anymetal.source import KernelSource
from anymetal.targets.cpu import pipeline as gang
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant, can_tell


class Choice(NamedTuple):
    """What is compiled."""

    text: str  #: the optimised module
    variant: Variant
    declined: bool = False  #: it is the class that the wanted one has `instead`


def chosen(
    raw: str, source: KernelSource, variant: Variant, machine: Machine, profile: Profile,
    stages: GangStages,
) -> Choice:  # fmt: skip
    """`raw`: Clang's output for a kernel that is wanted for launches of the class `variant`."""
    text = _optimised(raw, variant, profile, stages)
    if variant.instead:
        declined = not _makes_a_team(text, source, variant, machine)
        return Choice(text, variant.taken(declined), declined)
    if _may_fold(source, variant) and not _makes_a_team(text, source, variant, machine):
        return _folded(raw, source, variant, machine, profile) or Choice(text, variant)
    return Choice(text, variant)


def thread_program(
    text: str, source: KernelSource, variant: Variant, stages: GangStages
) -> Program:
    """The thread program of an optimised module."""
    known = variant.known_to_threads
    return program_of(text, source, stages, variant.without, variant.sanitized, known)


def with_gang_width(
    program: Program, choice: Choice, source: KernelSource, machine: Machine
) -> Variant:
    """The class of the choice, with other gangs than SIMD-groups if `program`, which is that of
    threads, gains from them and no SIMD-groups become a team."""
    variant = choice.variant
    width = _other_width(program, variant, machine)
    if not width or _makes_a_team(choice.text, source, variant, machine):
        return variant
    return _of_width(variant, width)


def _of_width(variant: Variant, width: int) -> Variant:
    """The class with gangs of other widths, which are parts of rows, or whole rows."""
    in_row = variant.linear or variant.rows == width  # half of a SIMD-group may be a row
    return variant._replace(
        width=width, linear=in_row, aligned=in_row, team=1, sole=False, single=False
    )


def _other_width(program: Program, variant: Variant, machine: Machine) -> int:
    """The lanes that gangs may have and gain from; 0 for those of SIMD-groups."""
    whole = variant.full and not variant.partial and variant.width == SIMD_GROUP
    if gang.COARSEN in variant.without or not whole:
        return 0
    known = gang.GangCompilation(program, variant, machine).known
    in_row = variant.linear and variant.aligned
    if variant.flat and in_row:
        # Gangs of several SIMD-groups divide threadgroups.
        most = variant.team * SIMD_GROUP if is_power_of_two(variant.team) else SIMD_GROUP
        if width := gang_width.width(known, most):
            return width
    divided = in_row or variant.rows == gang_width.HALF
    return gang_width.HALF if divided and gang_width.halves(known) else 0


def _optimised(raw: str, variant: Variant, profile: Profile, stages: GangStages) -> str:
    known = variant.known_to_threads
    return thread_text(raw, variant.large, stages, profile, variant.sanitized, known)


def _makes_a_team(text: str, source: KernelSource, variant: Variant, machine: Machine) -> bool:
    """Whether SIMD-groups become a team in such launches."""
    if gang.COARSEN in variant.without:
        return False
    copy = thread_program(text, source, variant, GangStages())
    trial = gang.GangCompilation(copy, variant, machine)
    run(gang.UP_TO_TEAMS, trial)
    return trial.team > 1


def _may_fold(source: KernelSource, variant: Variant) -> bool:
    """Whether the launch is known, its grid has one axis, and nobody can tell how it is cut."""
    known = variant.known
    if known is None or not variant.flat or not variant.aligned or variant.partial:
        return False
    one_axis = known.grid[1:] == (1, 1) and known.grid[0] < 2**31
    return one_axis and variant.team > 1 and not can_tell(source)


def _folded(
    raw: str, source: KernelSource, variant: Variant, machine: Machine, profile: Profile
) -> Choice | None:
    """The grid of one axis folded into rows, if teams come of that."""
    assert variant.known
    nobody, threads = GangStages(), variant.known.grid[0]
    folded = variant._replace(folded=threads)
    text = _optimised(raw, folded, profile, nobody)
    program = thread_program(text, source, folded, nobody)
    length = fold_grid.row_length(program, threads, variant.known.group[0] // SIMD_GROUP)
    if not length or depends_on_order(Analyses(program)):
        return None
    folded = variant._replace(folded=length)
    return Choice(text, folded) if _makes_a_team(text, source, folded, machine) else None
