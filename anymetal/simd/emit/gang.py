"""Generates the function that runs one gang: the frame, and which emitter writes what.

control_flow.py writes the blocks of the thread program over SIMD lanes, and has each instruction
written here.
"""

from __future__ import annotations

from anymetal.analysis import flow
from anymetal.analysis.cache import Analyses
from anymetal.analysis.objects import read_only as arrays_only_read
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.emission.marks import Marks, Role
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.calls import (
    ALL,
    APART,
    BARRIER,
    EVENTS,
    FORGET,
    IN_ORDER,
    INSIDE,
    LOG,
    PREFETCH,
    STRAY,
    is_cross_lane,
)
from anymetal.ir.model import Instr, threadgroup_layout
from anymetal.ir.problem import Problem
from anymetal.ir.rules import TO_LANES
from anymetal.simd import questions
from anymetal.simd.code.accesses import Accesses
from anymetal.simd.code.coroutine import coroutine, wait
from anymetal.simd.code.gang_context import GangContext
from anymetal.simd.code.line_table import LineTable
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values, buffer_name
from anymetal.simd.emit.arithmetic import Arithmetic
from anymetal.simd.emit.atomics import Atomics
from anymetal.simd.emit.control_flow import ControlFlow
from anymetal.simd.emit.events import END, Events, begin
from anymetal.simd.emit.group_access import GroupAccess
from anymetal.simd.emit.large_angles import LargeAngles
from anymetal.simd.emit.ldexp import Scaling
from anymetal.simd.emit.memory import Memory
from anymetal.simd.emit.positions import CONTEXT, Positions
from anymetal.simd.emit.private_memory import (
    allocate,
    in_waiting_loops,
    interleaved_arrays,
)
from anymetal.simd.emit.reloads import Reloads
from anymetal.simd.emit.runtime_calls import RuntimeCalls
from anymetal.simd.emit.scattered_groups import ScatteredGroups
from anymetal.simd.emit.tile_access import TileAccess
from anymetal.simd.emit.uniform_vote import UniformVote
from anymetal.simd.lanes.cross_lane import CrossLane
from anymetal.simd.lanes.matrices import Matrices


class GangFunction:
    """One generated function; `text` is its LLVM IR."""

    def __init__(
        self, known: Analyses, name: str, *, masked: bool, suspends: bool,
        team: int = 1, marks: Marks | LineTable | None = None,
    ) -> None:  # fmt: skip
        self.known, self.team = known, team
        self.marks = marks
        self.program = known.program
        self.tree, self.shapes, self.plans = known(regions), known(shapes), known(flow.plans)
        self.private, self.made_later = known(interleaved), known(questions.made_later)
        self.group_of, self.tile_of = known(questions.groups), known(questions.tiles)
        self.product_of = known(questions.matrix_products)
        self.name = name
        self.suspends = suspends
        self.w = Writer(known.width)
        self.masks = Masks(self.w, known.machine)
        layout = threadgroup_layout(self.program)[0]
        self.globals = {g.name: g.name for g in self.program.globals.values() if not g.threadgroup}
        for variable, offset in layout.items():
            address = f"%{self.w.fresh('shared')}"
            self.w.entry_lines.append(
                f"  {address} = getelementptr i8, ptr %threadgroup, i64 {offset}"
            )
            self.globals[variable] = address
        self.v = Values(
            self.program, self.shapes, known(questions.demanded), self.w, self.globals,
            known(questions.kept), known(questions.laid_out),
        )  # fmt: skip
        accesses = Accesses(self.w, self.masks, known.machine)
        c = GangContext(known, self.w, self.v, self.masks, accesses, masked)
        self.arithmetic = Arithmetic(c)
        self.atomics = Atomics(c)
        at_once = (1 if masked else team) if suspends else 0
        lasting = in_waiting_loops(known, BARRIER.__eq__) if suspends else set()
        self.arrays = allocate(self.w, known, at_once, lasting)
        arrays = interleaved_arrays(self.arrays, self.program, self.private)
        self.reloads = Reloads(c)
        self.memory = Memory(c, arrays, self.atomics, self.reloads)
        self.groups = GroupAccess(c, self.atomics, self.reloads)
        self.scattered = ScatteredGroups(c, self.groups)
        self.matrices = Matrices(c)
        self.tiles = TileAccess(c, self.arithmetic, self.matrices.loaded)
        self.lanes = CrossLane(c)
        self.positions = Positions(c)
        self.uniform_vote = UniformVote(c)
        self.scaling = Scaling(c)
        self.large_angles = LargeAngles(c)
        self.runtime_calls = RuntimeCalls(c)
        self.events = Events(c)
        entry_mask = self._entry_mask() if masked else None
        control_flow = ControlFlow(
            c, entry_mask, self.matrices, self._instruction, self._mark_as, suspends
        )
        self.is_masked = control_flow.is_masked
        control_flow.run()
        self.text = self._assemble()

    # -- frame of the function ------------------------------------------------------------

    def _entry_mask(self) -> str:
        vector = self.w.vector(t.I32)
        count = self.w.splat(t.I32, "%active")
        return self.w.value(f"icmp ult {vector} {self.w.lanes(t.I32)}, {count}")

    def _assemble(self) -> str:
        read_only = " noalias readonly"  # nothing that the kernel writes changes what it reads
        only_read = self.known(arrays_only_read)
        params = ", ".join(
            [
                f"ptr{read_only if a in only_read else ''} {buffer_name(a)}"
                for a in self.program.args
            ]
            + CONTEXT
        )
        body = "\n".join(self.w.lines)
        watched = begin(self.program, self.w)
        entry = "\n".join([*self.w.entry_lines, *watched])
        end = END if watched else ""
        if self.suspends:
            return coroutine(self.name, params, entry, body, end=end)
        return (
            f"define internal void @{self.name}({params}) alwaysinline #0 {{\nstart:\n{entry}\n"
            f"  br label %begin\nbegin:\n{body}\n"
            f"function.end:\n{end}  ret void\n}}\n"
        )

    # -- instructions ------------------------------------------------------------------

    def _instruction(self, instr: Instr, mask: Mask) -> None:
        if instr in self.made_later:
            return
        self._mark_as(instr)
        op = instr.op
        group = self.group_of.get(instr)
        if group is not None:
            if instr is group.anchor:
                (self.scattered if group.anywhere else self.groups).emit(group, mask)
        elif instr in self.tile_of:
            tile = self.tile_of[instr]
            if instr is tile.anchor:
                guarded = instr.op == "guarded_load"
                self.tiles.emit(tile, self.memory.guard(instr, mask) if guarded else mask)
        elif instr in self.product_of:
            product = self.product_of[instr]
            if instr is product.anchor:
                self.matrices.emit(product, mask)
        elif op == "load":
            self.memory.load(instr, mask)
        elif op == "guarded_load":
            self.memory.guarded_load(instr, mask)
        elif op == "store":
            self.memory.store(instr, mask)
        elif op in ("atomicrmw", "cmpxchg"):
            self.atomics.update(instr, mask)
        elif op == "alloca":
            self._alloca(instr)
        elif op == "gep" and instr in self.private:
            self.memory.private_offset(instr)
        elif op == "call" and instr.arg.startswith("__am_"):
            self._intrinsic(instr, mask)
        elif op == TO_LANES:
            self.groups.convert(instr)
        elif op == "fence":
            self.w.do("fence seq_cst")
        elif op == "call" and instr.arg.startswith(("llvm.memcpy", "llvm.memset", "llvm.memmove")):
            self.memory.block_operation(instr, mask)
        else:
            self.arithmetic.emit(instr)

    def _prefetch(self, instr: Instr) -> None:
        pointer, cache = map(self.v.scalar, instr.operands)
        line = [("ptr", pointer), ("i32", "0"), ("i32", cache), ("i32", "1")]
        self.w.call("void", "llvm.prefetch.p0", line)

    def _intrinsic(self, instr: Instr, mask: Mask) -> None:
        if instr.arg == BARRIER:
            self._barrier()
        elif is_cross_lane(instr.arg):
            self.lanes.emit(instr, mask)
        elif instr.arg == ALL:
            self.uniform_vote.emit(instr, mask)
        elif instr.arg == PREFETCH:
            self._prefetch(instr)
        elif instr.arg == APART:
            self.w.end_block()
            self.reloads.end_section()
        elif instr.arg == IN_ORDER:
            self.w.boundary()
        elif instr.arg == FORGET:
            self.w.forget_loads()
        elif instr.arg == LOG:
            self.runtime_calls.log(instr, mask)
        elif instr.arg == STRAY:
            self.runtime_calls.stray(instr, mask)
        elif instr.arg == INSIDE:
            self.events.inside(instr, mask)
        elif instr.arg in EVENTS:
            self.events.emit(instr, mask)
        elif not any(
            kind.emit(instr) for kind in (self.scaling, self.large_angles, self.positions)
        ):
            raise Problem(f"unknown intrinsic {instr.arg}")

    def _barrier(self) -> None:
        """Suspends the gang if there are others; a gang alone runs in lockstep anyway."""
        if self.suspends:
            wait(self.w)
        else:  # or LLVM would replace loads by stored vectors, taken apart lane by lane
            self.w.forget_loads()

    def _alloca(self, instr: Instr) -> None:
        self.v.define(instr, "0" if instr in self.private else self.arrays[instr])

    def _mark_as(self, instr: Instr, role: Role = "") -> None:
        """Marks what is written from here on as code of this instruction."""
        if self.marks is not None:
            self.w.mark = self.marks.text(self.name, instr, role)
