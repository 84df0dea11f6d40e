"""Which passes and which ways of generating code a kernel has taken.

Functions of the compiler are wrapped while a case is compiled, from outside: nothing in the
compiler counts. A pass over the thread program has fired if the program differs behind it; an
analysis, if it has found something; a piece of generated code, if it was asked for. A name that no
longer exists counts as one that never fires; a test keeps the list true.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any
from unittest import mock

from anymetal.ir.model import Program
from anymetal.targets.cpu import compiler

#: Fired if the program, their first argument, has changed.
_CHANGE = """
passes.rows:run passes.unroll_jam:run passes.short_runs:run passes.run_ends:run
passes.long_turns:run passes.sums:run
simd.analysis:order_lazily simd.analysis:spread_out
""".split()

#: Fired if what they return counts as true.
_FIND = """
passes.ahead:slice_of
simd.lane_split:_split simd.analysis:wide_counters simd.analysis:take_lanes_early
simd.analysis:find_groups simd.analysis:find_products simd.analysis:carried simd.analysis:row_phis
simd.analysis:next_steps simd.analysis:in_memory_order simd.analysis:made_by_accesses
simd.analysis:laid_out simd.analysis:many_lanes simd.analysis:own_sums simd.analysis:only_added
simd.analysis:few_lane_loads simd.analysis:streaming_stores simd.analysis:interleaved_pointers
simd.analysis:indices_elsewhere simd.analysis:Analysis.asks_often
simd.everywhere:Everywhere._is_run simd.scaling:Scaling.emit
simd.tallies:Tallies.takes simd.gang:GangFunction._has_lanes
""".split()

#: Fired if they are called.
_CALL = """
passes.jam:run passes.jam:_Jam._one_by_one passes.interior:_Versions.make
passes.interior:_Front.whole passes.next_gang:_Asking.ask
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
targets.cpu.compiler:bytes_asked_for
""".split()

#: Fired by results of their own kind.
_OTHERS: dict[str, Callable[[Any], bool]] = {
    "passes.pieces:Pieces.__call__": lambda pieces: len(pieces) > 1,
    "targets.cpu.compiler:certain_stores": lambda text: text != "[]",
    "targets.cpu.teams:form": lambda count: count > 1,
}

#: What need not fire: matrices are not generated, as their layout in lanes is not the oracle's
#: business, nor is what depends on functions whose results are not exact.
EXEMPT = frozenset(
    """
simd.analysis:next_steps
simd.analysis:find_products simd.analysis:carried simd.analysis:row_phis simd.matrix:Matrices.emit
simd.matrix_operands:Lefts.places simd.matrix_operands:Right.row simd.row_forms:RowForms.of
simd.row_forms:RowForms._permuted simd.scaling:Scaling.emit simd.arith:Arithmetic._vector_math
simd.arith:Arithmetic._lane_by_lane
""".split()
)


def names() -> list[str]:
    """All that may fire."""
    passes = [_pass_name(run) for run, _ in compiler.PASSES]
    return [*passes, *_CHANGE, *_FIND, *_CALL, *_OTHERS]


def missing() -> list[str]:
    """Names that the compiler no longer has."""
    return [name for name in (*_CHANGE, *_FIND, *_CALL, *_OTHERS) if _found(name) is None]


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


class Fired:
    """While it is entered, collects the names of what fires."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._patches: list[Any] = []

    def __enter__(self) -> Fired:
        passes = tuple(
            (self._changing(_pass_name(run), run), stage) for run, stage in compiler.PASSES
        )
        self._patches = [mock.patch.object(compiler, "PASSES", passes)]
        for name in _CHANGE:
            self._wrap(name, self._changing)
        for name in _FIND:
            self._wrap(name, self._judging(bool))
        for name in _CALL:
            self._wrap(name, self._judging(lambda _: True))
        for name, judge in _OTHERS.items():
            self._wrap(name, self._judging(judge))
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in reversed(self._patches):
            patch.stop()

    def _wrap(self, name: str, wrapper: Callable[[str, Any], Any]) -> None:
        found = _found(name)
        if found is not None:
            owner, attribute = found
            wrapped = wrapper(name, getattr(owner, attribute))
            self._patches.append(mock.patch.object(owner, attribute, wrapped))

    def _changing(self, name: str, function: Any) -> Any:
        def run(program: Program, *rest: Any, **words: Any) -> Any:
            if name in self.names:
                return function(program, *rest, **words)
            before = _fingerprint(program)
            result = function(program, *rest, **words)
            if _fingerprint(program) != before:
                self.names.add(name)
            return result

        return run

    def _judging(self, judge: Callable[[Any], bool]) -> Callable[[str, Any], Any]:
        def wrapper(name: str, function: Any) -> Any:
            def run(*given: Any, **words: Any) -> Any:
                result = function(*given, **words)
                if name not in self.names and judge(result):
                    self.names.add(name)
                return result

            return run

        return wrapper


def _pass_name(run: Any) -> str:
    return f"{run.__module__.removeprefix('anymetal.')}:{run.__name__}"


def _fingerprint(program: Program) -> int:
    """Differs after a change of the program: which instructions there are, where, and of what."""
    return hash(
        tuple(
            (id(i), i.op, i.flags, str(i.arg) if i.op != "br" else "", tuple(map(id, i.operands)))
            for block in program.blocks
            for i in block.instrs
        )
    )
