"""Which passes and which ways of generating code a kernel has taken.

A pass has fired if it changed the program; a question about the program, if it has an answer. For
pieces of generated code, functions of the compiler are wrapped from outside while a case is
compiled: nothing in the compiler counts. Such a piece has fired if it was asked for. A name that no
longer exists counts as one that never fires; a test keeps the list true.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any
from unittest import mock

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Pass
from anymetal.pipeline.inspection import check_behind
from anymetal.simd import questions
from anymetal.targets.cpu import pipeline
from anymetal.targets.cpu.reporting import GangStages

#: Questions about a program that fire if the answer counts as true.
_QUESTIONS = """
groups matrix_products row_phis made_later laid_out broadcast_lanes privatised_sums
accumulations
streaming
""".split()

#: Passes that are for builds that are not made here.
_SILENT = ("check-bounds",)

#: Fired if what they return counts as true.
_FIND = """
coarsening.gang_width:width coarsening.gang_width:halves
simd.emit.ldexp:Scaling.emit
simd.access.reduction_variables:ReductionVariables.takes
simd.emit.control_flow:ControlFlow._has_lanes
""".split()

#: Fired if they are called.
_CALL = """
coarsening.coarsen:_Coarsening._one_by_one coarsening.coarsen:_load_again
simd.emit.control_flow:ControlFlow._leave_uniform
simd.emit.control_flow:ControlFlow._leave_divergent
simd.emit.control_flow:ControlFlow._leave_loop simd.emit.control_flow:ControlFlow._loop_end
simd.emit.gang:coroutine simd.emit.control_flow:computed_here
simd.emit.group_access:GroupAccess._load
simd.emit.group_access:GroupAccess._store simd.emit.group_access:GroupAccess.load_rows
simd.emit.group_access:GroupAccess._rows_apart simd.emit.group_access:GroupAccess._add
simd.emit.group_access:GroupAccess.convert
simd.emit.group_access:GroupAccess._load_some simd.emit.group_access:GroupAccess._store_some
simd.emit.scattered_groups:ScatteredGroups._load_each
simd.emit.scattered_groups:ScatteredGroups._store_each
simd.emit.transpose:Transposition.load simd.emit.transpose:Transposition.store
simd.emit.tile_access:TileAccess._load simd.emit.tile_access:TileAccess._store
simd.emit.tile_access:TileAccess._lanes
simd.emit.memory:Memory.guarded_load simd.emit.memory:Memory._guarded_scalar
simd.emit.memory:Memory.block_operation simd.emit.memory:Memory._last_lane
simd.emit.memory:Memory._private_addresses simd.emit.memory:Memory.private_offset
simd.code.accesses:Accesses.past_caches simd.emit.contiguity:Contiguity.load
simd.emit.contiguity:Contiguity.store simd.emit.contiguity:Contiguity._in_table
simd.emit.window:Windows.load simd.code.tables:look_up
simd.emit.atomics:Atomics._accumulated simd.emit.atomics:Atomics._locked
simd.emit.atomics:Atomics._plain simd.emit.atomics:Atomics._add_to_sums
simd.emit.atomics:Atomics._add_together
simd.emit.atomics:Atomics._in_sums simd.emit.atomics:Atomics._plain_in_sums
simd.emit.atomics:Atomics._counted simd.emit.atomics:Atomics._total_of_one
simd.emit.atomics:Atomics._side_by_side
simd.emit.atomics:Atomics._add_floats simd.emit.atomics:add_run simd.emit.each_lane:EachLane.emit
simd.emit.arithmetic:Arithmetic._division simd.emit.arithmetic:Arithmetic._division_by_double
simd.emit.arithmetic:Arithmetic._narrow simd.emit.arithmetic:Arithmetic._lane_by_lane
simd.emit.arithmetic:Arithmetic._vector_math simd.emit.arithmetic:saturated
simd.emit.arithmetic:extreme emission.narrow_floats:to_float emission.narrow_floats:from_float
simd.emit.arithmetic:Arithmetic._extended_base simd.lanes.cross_lane:CrossLane._permute
simd.lanes.cross_lane:CrossLane._through_memory
simd.lanes.cross_lane:CrossLane._ballot
simd.lanes.cross_lane:reduce_lanes simd.lanes.cross_lane:scan_lanes
simd.lanes.broadcast:Broadcast._store simd.lanes.matrices:Matrices.emit
simd.lanes.matrices:Matrices._add_rows simd.emit.reloads:Reloads._again
simd.lanes.matrix_operands:Lefts.place simd.lanes.matrix_operands:Right.row
simd.lanes.row_forms:RowForms.of simd.lanes.row_forms:RowForms._permuted
targets.cpu.rendezvous:Rendezvous.emit targets.cpu.rendezvous:Rendezvous.next_iteration
""".split()

#: Fired by results of their own kind.
_OTHERS: dict[str, Callable[[Any], bool]] = {
    "coarsening.schedule:SectionSplitter.__call__": lambda cut: len(cut.pieces) > 1,
}

#: What need not fire: matrices are not generated, as their layout in lanes is not the oracle's
#: business, nor is what depends on functions whose results are not exact.
EXEMPT = frozenset(
    """
simd.questions:matrix_products
simd.questions:row_phis simd.lanes.matrices:Matrices.emit simd.lanes.matrix_operands:Lefts.place
simd.lanes.matrices:Matrices._add_rows
simd.lanes.matrix_operands:Right.row simd.lanes.row_forms:RowForms.of
simd.lanes.row_forms:RowForms._permuted simd.emit.ldexp:Scaling.emit
simd.emit.arithmetic:Arithmetic._vector_math simd.emit.arithmetic:Arithmetic._lane_by_lane
""".split()
)


def names() -> list[str]:
    """All that may fire."""
    passes: list[Pass[Any]] = [*thread.PASSES, *pipeline.PASSES]
    return [*(f"pass:{one.name}" for one in passes if one.name not in _SILENT), *_named()]


def missing() -> list[str]:
    """Names that the compiler no longer has."""
    return [name for name in _named() if _found(name) is None]


def _named() -> list[str]:
    """All but passes."""
    return [*map(_question, _QUESTIONS), *_FIND, *_CALL, *_OTHERS]


def _found(name: str) -> tuple[Any, str] | None:
    """Where a name lies, and its last part."""
    module, _, path = name.partition(":")
    *owners, attribute = path.split(".")
    try:
        owner: Any = importlib.import_module(f"anymetal.{module}")
    except ModuleNotFoundError:
        return None
    for part in owners:
        owner = getattr(owner, part, None)
    return (owner, attribute) if hasattr(owner, attribute) else None


class Fired(GangStages):
    """While it is entered, collects the names of what fires in compilations that it follows."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._patches: list[Any] = []

    def __enter__(self) -> Fired:
        self._patches = [mock.patch.object(Analyses, "__call__", self._asking())]
        for name in _FIND:
            self._wrap(name, bool)
        for name in _CALL:
            self._wrap(name, lambda _: True)
        for name, judge in _OTHERS.items():
            self._wrap(name, judge)
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in reversed(self._patches):
            patch.stop()

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        """Also checks the program."""
        check_behind(name, program, stage)
        if changed:
            self.names.add(f"pass:{name}")

    def _asking(self) -> Any:
        ask, watched = Analyses.__call__, {getattr(questions, name) for name in _QUESTIONS}

        def wrapper(known: Analyses, question: Any) -> Any:
            answer = ask(known, question)
            if answer and question in watched:
                self.names.add(_question(question.__name__))
            return answer

        return wrapper

    def _wrap(self, name: str, judge: Callable[[Any], bool]) -> None:
        found = _found(name)
        if found is None:
            return
        owner, attribute = found
        function = getattr(owner, attribute)

        def run(*given: Any, **words: Any) -> Any:
            result = function(*given, **words)
            if name not in self.names and judge(result):
                self.names.add(name)
            return result

        self._patches.append(mock.patch.object(owner, attribute, run))


def _question(name: str) -> str:
    return f"simd.questions:{name}"
