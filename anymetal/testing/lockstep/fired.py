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
from anymetal.pipeline.shown import check_behind
from anymetal.simd import questions
from anymetal.targets.cpu import pipeline
from anymetal.targets.cpu.stages import GangStages

#: Questions about a program that fire if the answer counts as true.
_QUESTIONS = """
groups matrix_products carried row_phis next_steps made_later laid_out spread own_sums only_added
few streaming
""".split()

#: Passes that are for builds that are not made here, or that leave the program as it is.
_SILENT = ("check-bounds", "run-ahead")

#: Fired if what they return counts as true.
_FIND = """
passes.ahead:slice_of
simd.questions:asks_often simd.everywhere:Everywhere._is_run simd.scaling:Scaling.emit
simd.tallies:Tallies.takes simd.gang:GangFunction._has_lanes
""".split()

#: Fired if they are called.
_CALL = """
passes.jam:_Jam._one_by_one passes.interior:_Front.whole
simd.gang:GangFunction._leave_uniform simd.gang:GangFunction._leave_divergent
simd.gang:GangFunction._leave_loop simd.gang:GangFunction._loop_end simd.gang:coroutine
simd.group_access:GroupAccess._load simd.group_access:GroupAccess._store
simd.group_access:GroupAccess._load_rows simd.group_access:GroupAccess._rows_apart
simd.group_access:GroupAccess._add simd.group_access:GroupAccess.convert
simd.group_access:GroupAccess._repeated simd.group_access:GroupAccess._load_some
simd.group_access:GroupAccess._store_some
simd.squares:Squares.load simd.squares:Squares.store
simd.tiles:TileAccess._load simd.tiles:TileAccess._store simd.tiles:TileAccess._lanes
simd.memory:Memory._load_few simd.memory:Memory.guarded_load simd.memory:Memory._guarded_scalar
simd.memory:Memory.block_operation simd.memory:Memory._last_lane
simd.memory:Memory._private_addresses simd.memory:Memory.private_offset
simd.accesses:Accesses.past_caches
simd.contiguity:Contiguity.load simd.contiguity:Contiguity.store simd.contiguity:Contiguity.update
simd.atomics:Atomics._exclusive simd.atomics:Atomics._locked simd.atomics:Atomics._plain
simd.atomics:Atomics._add_to_sums simd.atomics:Atomics._locked_in_sums
simd.atomics:Atomics._combined simd.atomics:Atomics._counted simd.atomics:Atomics._side_by_side
simd.atomics:Atomics._add_floats simd.atomics:add_run simd.each_lane:EachLane.emit
simd.arith:Arithmetic._division simd.arith:Arithmetic._division_by_double
simd.arith:Arithmetic._narrow simd.arith:Arithmetic._lane_by_lane simd.arith:Arithmetic._vector_math
simd.arith:saturated simd.arith:extreme simd.narrow:to_float simd.narrow:from_float
simd.arith:Arithmetic._extended_base
simd.lanes:CrossLane._permute simd.lanes:CrossLane._lookup simd.lanes:lookup
simd.lanes:CrossLane._through_memory simd.lanes:CrossLane._ballot simd.lanes:reduce_lanes
simd.lanes:scan_lanes simd.spread_lanes:SpreadLanes._store
simd.matrix:Matrices.emit simd.matrix_operands:Lefts.places simd.matrix_operands:Right.row
simd.row_forms:RowForms.of simd.row_forms:RowForms._permuted
simd.rendezvous:Rendezvous.emit simd.rendezvous:Rendezvous.next_iteration
targets.cpu.module:bytes_asked_for
""".split()

#: Fired by results of their own kind.
_OTHERS: dict[str, Callable[[Any], bool]] = {
    "passes.pieces:Pieces.__call__": lambda pieces: len(pieces) > 1,
    "targets.cpu.compiler:certain_stores": lambda text: text != "[]",
}

#: What need not fire: matrices are not generated, as their layout in lanes is not the oracle's
#: business, nor is what depends on functions whose results are not exact.
EXEMPT = frozenset(
    """
simd.questions:next_steps simd.questions:matrix_products simd.questions:carried
simd.questions:row_phis simd.matrix:Matrices.emit
simd.matrix_operands:Lefts.places simd.matrix_operands:Right.row simd.row_forms:RowForms.of
simd.row_forms:RowForms._permuted simd.scaling:Scaling.emit simd.arith:Arithmetic._vector_math
simd.arith:Arithmetic._lane_by_lane
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
