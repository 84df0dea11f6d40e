"""The passes that make the thread program one for gangs of SIMD lanes."""

from __future__ import annotations

from anymetal.analysis import control, flow
from anymetal.analysis.affine import forms
from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.induction import inductions, trips
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.objects import origins
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.coarsening import teams
from anymetal.ir.model import Program
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.spec import Stage
from anymetal.machine import Machine
from anymetal.passes import (
    check_bounds,
    drop_simdgroup_barriers,
    fold_grid,
    interleave,
    join_inner_loops,
    join_private_arrays,
    leave_outside,
    mask_first,
    observe,
    place_in_rows,
    split_counters,
    track_undefined,
    unlock,
    unroll_and_jam,
    unroll_rows,
    version_by_bounds,
    widen_threadgroup_arrays,
)
from anymetal.passes.split_divisions import split_lanes
from anymetal.pipeline.driver import Compilation, Pass
from anymetal.prefetch import indirect, requests
from anymetal.simd import questions
from anymetal.simd.access.memory_order import in_memory_order
from anymetal.simd.code.line_table import LineTable
from anymetal.simd.code.values import buffer_name
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant


class GangCompilation(Compilation):
    """A thread program on its way to one for gangs of one class of launches."""

    stages: GangStages

    def __init__(
        self,
        program: Program,
        variant: Variant,
        machine: Machine,
        stages: GangStages | None = None,
    ) -> None:
        launch = LaunchFacts(variant.linear, variant.aligned, variant.flat, not variant.partial)
        known = Analyses(program, launch, variant.width, machine)
        super().__init__(known, stages or GangStages(), variant.without, Stage.GUARDED)
        self.variant = variant
        self.lines: LineTable | None = None  #: what tells debuggers of the user's lines
        self.team = 1  #: SIMD-groups that run as one
        self.notes = ""  #: what the launch has to know
        self.observed: observe.Observed | None = None  #: what findings of the launch refer to
        self.undefined: track_undefined.Undefined | None = None  #: the twins of its memory

    @property
    def in_row(self) -> bool:
        """Whether the SIMD-groups of a team are neighbours in x."""
        return not (self.variant.rows or self.variant.folded)

    @property
    def alone(self) -> bool:
        """Whether a team is a whole threadgroup."""
        whole = self.variant.sole and self.team == self.variant.team
        return self.variant.single or whole

    @property
    def twin(self) -> tuple[str, int] | None:
        """What tells of undefined threadgroup memory: its name in generated code, and its bytes."""
        if self.undefined is None or not self.undefined.threadgroup:
            return None
        return buffer_name(self.program.args[-1]), self.undefined.threadgroup

    @property
    def steps(self) -> list[dict[str, int]]:
        """By how much positions grow to the next gang, in several directions."""
        if self.alone:
            return [{"__am_group_x": 1}, {"__am_group_y": 1}]
        steps = teams.steps(self.in_row, self.team)
        return [steps, {"__am_thread_y": 1}] if self.team == 1 else [steps]


# -------------------------------------------------------------------------- what passes need


def has_lanes(c: GangCompilation) -> bool:
    """It is no scalar build."""
    return c.variant.width > 1


def has_short_rows(c: GangCompilation) -> bool:
    """Threadgroups are a few threads wide."""
    return c.variant.rows > 0


def is_folded(c: GangCompilation) -> bool:
    """A grid of one axis has rows, and the launch is known."""
    return c.variant.folded > 0


def is_padded(c: GangCompilation) -> bool:
    """Threadgroups at the edge lead beyond the grid."""
    return bool(c.variant.padded)


def is_tuned(c: GangCompilation) -> bool:
    """Gangs are whole SIMD-groups, and accesses are not checked."""
    return c.variant.width == SIMD_GROUP and not c.variant.checked


def is_for_one_launch(c: GangCompilation) -> bool:
    """The grid is known, and its threadgroups are those of the launch."""
    return c.variant.known is not None and not c.variant.folded


def is_checked(c: GangCompilation) -> bool:
    """No access may leave its array, and only accesses are looked at."""
    return c.variant.checked and not c.variant.sanitized


def is_sanitized(c: GangCompilation) -> bool:
    """All that the program does is looked at."""
    return c.variant.sanitized


def is_unchecked(c: GangCompilation) -> bool:
    """Accesses are not checked."""
    return not c.variant.checked


def in_simd_group(c: GangCompilation) -> bool:
    """Gangs are a SIMD-group, or a part of one."""
    return 1 < c.variant.width <= SIMD_GROUP


def _fold(c: GangCompilation) -> bool:
    known, program = c.variant.known, c.program
    assert known
    program.limits = known.limits()
    return fold_grid.run(program, c.variant.folded, known.group[0] // SIMD_GROUP)


def _coarsen(c: GangCompilation) -> bool:
    """Forms a team."""
    blocks = len(c.program.blocks)
    c.team = teams.form(c.known, c.variant.team, c.in_row)
    return c.team > 1 or len(c.program.blocks) != blocks


_TREE = (*control.ALL, regions)
_VALUES = (*_TREE, origins, interleaved, shapes, flow.plans, flow.mask_roots,
           flow.full, lane_numbers, forms)  # fmt: skip
_ORDER = (*_VALUES, flow.used, inductions, trips)
_ACCESSES = (*_VALUES, questions.groups, questions.tile_finder, questions.tiles, questions.needed)


def _check(c: GangCompilation) -> bool:
    c.notes = check_bounds.run(c.program)
    return True


def _observe(c: GangCompilation) -> bool:
    c.observed = observe.run(c.known, c.variant.nan)
    return True


def _track(c: GangCompilation) -> bool:
    assert c.observed
    c.undefined = track_undefined.run(c.program, c.observed, c.variant.filled)
    return True


def _prefetch_indirect(c: GangCompilation) -> bool:
    assert c.variant.known
    return indirect.run(c.known, c.variant.known)


def _keep_order(c: GangCompilation) -> bool:
    c.known(flow.plans)  # first: they may make shapes less uniform
    return in_memory_order(c.known, c.known(questions.groups), c.known(questions.needed))


COARSEN = "coarsen"
PASSES: tuple[Pass[GangCompilation], ...] = (
    Pass(
        "check-bounds",
        _check,
        "first: what follows may rely on accesses being inside of their arrays",
        Stage.CHECKED,
        needs=(is_checked,),
        optional=False,
    ),
    Pass(
        "observe",
        _observe,
        "in the place of check-bounds, which is a part of it",
        Stage.CHECKED,
        needs=(is_sanitized,),
        optional=False,
    ),
    Pass(
        "track-undefined",
        _track,
        "behind observe, which knows where pointers lead",
        Stage.CHECKED,
        needs=(is_sanitized,),
        optional=False,
    ),
    Pass(
        "widen-threadgroup-arrays",
        lambda c: widen_threadgroup_arrays.run(c.known),
        "first: all versions of a kernel that share threadgroup memory must decide alike",
        Stage.GUARDED,
        needs=(is_unchecked,),
    ),
    Pass(
        "drop-simdgroup-barriers",
        lambda c: drop_simdgroup_barriers.run(c.known),
        "in front of all that looks at what lies between two accesses",
        Stage.GUARDED,
        needs=(is_tuned,),
    ),
    Pass(
        "leave-outside",
        lambda c: leave_outside.run(c.program, c.variant.padded),
        "before positions become lane numbers, and before bounds checks are looked for",
        Stage.GUARDED,
        needs=(is_padded,),
        optional=False,
    ),
    Pass(
        "fold-grid",
        _fold,
        "in front of all that looks at positions",
        Stage.GUARDED,
        needs=(is_folded,),
        optional=False,
    ),
    Pass(
        "place-in-rows",
        lambda c: place_in_rows.run(c.known, c.variant.rows),
        "first, so that all passes see positions as lane numbers",
        Stage.GUARDED,
        needs=(has_short_rows,),
        optional=False,
    ),
    Pass(
        "mask-first",
        lambda c: mask_first.run(c.known),
        "before teams ask what their SIMD-groups have in common, and lane numbers are split off",
        Stage.GUARDED,
        needs=(has_lanes,),
    ),
    Pass(
        "unroll-and-jam",
        lambda c: unroll_and_jam.run(c.known),
        "while loops are as LLVM left them, and before code is copied",
        Stage.GUARDED,
        needs=(has_lanes, is_unchecked),
    ),
    Pass(
        "unroll-rows",
        lambda c: unroll_rows.run(c.known),
        "behind unroll-and-jam, which wants the inner loop as it is; before code is copied",
        Stage.GUARDED,
        needs=(has_lanes, is_unchecked),
    ),
    Pass(
        "version-by-bounds",
        lambda c: version_by_bounds.run(c.known),
        "before coarsening, which pays in the interior, where SIMD-groups do not diverge",
        Stage.GANG,
        needs=(is_tuned,),
    ),
    Pass(
        COARSEN,
        _coarsen,
        "behind versioning, which it looks for; from here on positions are those of a team",
        Stage.GANG,
        needs=(is_tuned,),
    ),
    Pass(
        "join-inner-loops",
        lambda c: join_inner_loops.run(c.known),
        "behind coarsening, which decides how many lanes a loop has; it asks all of them at once",
        Stage.GANG,
        needs=(has_lanes, is_unchecked),
    ),
    Pass(
        "split-divisions",
        lambda c: split_lanes(c.known),
        "prefetching and tiles need lane numbers that are not inside of divisions",
        Stage.GANG,
        needs=(in_simd_group,),
        keeps=_TREE,
    ),
    Pass(
        "split-counters",
        lambda c: split_counters.run(c.known),
        "behind split-divisions: what lanes begin with is known by then; tiles need it",
        Stage.GANG,
        needs=(in_simd_group,),
    ),
    Pass(
        "unlock-threadgroup-memory",
        lambda c: unlock.run(c.known),
        "behind coarsening, which has to see atomic loads that a loop may wait for",
        Stage.GANG,
        needs=(has_lanes,),
        keeps=_ORDER,
    ),
    Pass(
        "join-private-arrays",
        lambda c: join_private_arrays.run(c.known),
        "in front of interleave-private-arrays, which wants pointers into one array",
        Stage.GANG,
        needs=(has_lanes,),
    ),
    Pass(
        "interleave-private-arrays",
        lambda c: interleave.run(c.known),
        "behind all that looks at pointers: these become offsets",
        Stage.INTERLEAVED,
        needs=(has_lanes,),
        keeps=_TREE,
        optional=False,
    ),
    Pass(
        "prefetch",
        lambda c: requests.run(c.known, c.steps, c.team),
        "in the final order of instructions, between which requests stand",
        Stage.INTERLEAVED,
        needs=(is_tuned,),
        keeps=_TREE,
    ),
    Pass(
        "prefetch-indirect",
        _prefetch_indirect,
        "behind prefetch: what it loads for later threadgroups must not be asked for, too",
        Stage.INTERLEAVED,
        needs=(is_tuned, is_for_one_launch),
    ),
    Pass(
        "keep-memory-order",
        _keep_order,
        "last: no pass may change the groups of accesses that it marks",
        Stage.ORDERED,
        needs=(has_lanes,),
        keeps=_ACCESSES,
    ),
)

#: After these it is known how many SIMD-groups run as one.
UP_TO_TEAMS = PASSES[: [one.name for one in PASSES].index(COARSEN) + 1]
