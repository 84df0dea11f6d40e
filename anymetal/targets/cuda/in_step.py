"""Threads of a SIMD-group in step: for kernels in which some of them compute together while others
have gone another way.

Metal counts as active the threads that came the same way. A GPU's threads run by themselves, and
its hardware promises nothing about when those that have parted meet again: the mask of those that
happen to be together is not Metal's. So here a warp keeps together. All its threads walk through
all blocks, in one order; each has the number of the block that it wants to run next, `%next`, and
runs only that. What threads do together, they all execute, and those that wait give nothing
(collective.py). A loop goes on while any thread wants its header.

    block.3:                            ; threads of which 3 is next …
      %n = load i32, ptr %next
      %active = icmp eq i32 %n, 3
      br i1 %active, label %run, label %ran
    run:
      …                                 ; … run it, up to what they do together
      br label %ran
    ran:
      %sum = …                          ; all threads, with %active

Values that go from one such part to another pass through slots on the stack, of which LLVM makes
registers again. All begin with zero: what a waiting thread gives to others does not count, but if
it were no value at all, NVIDIA's assembler would take it for that of the threads that run.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.regions import Region, regions
from anymetal.emission.emitter import ThreadEmitter
from anymetal.ir.calls import BARRIER
from anymetal.ir.model import Block, Instr, Value
from anymetal.targets.cuda.convergence import is_collective
from anymetal.targets.cuda.lowering import CudaThread


class InStep(ThreadEmitter):
    """Writes the blocks of a kernel whose threads keep together."""

    def __init__(self, known: Analyses, lowering: CudaThread) -> None:
        super().__init__(known.program, lowering)
        self.cuda = lowering
        self.root = known(regions).root
        self.place = {block: number for number, block in enumerate(_in_order(self.root))}
        self.end = len(self.place)
        self.next = self.w.alloca("i32", "next")
        self.slots: dict[Instr, str] = {}
        self.part = 0  #: the number of the part that is being written
        self.parts: dict[Instr, int] = {}  #: in which each value was computed
        self.crossing = self._crossing()

    def run(self, name: str) -> str:
        self.w.do(f"store i32 0, ptr {self.next}")
        self._region(self.root)
        self.w.do("br label %function.end")
        return self.to.function(name, "\n".join(self.w.entry_lines), "\n".join(self.w.lines))

    def _crossing(self) -> set[Value]:
        """Values that are used in another part than the one that computes them. A phi takes its
        values in the blocks that lead to it."""
        part, home, last = 0, {}, {}
        for block in self.place:
            part += 1
            for instr in block.instrs:
                part += is_collective(instr)
                home[instr] = part
                part += is_collective(instr)
            last[block] = part
        uses = [
            (operand, last[user.arg[number]] if user.op == "phi" else here)
            for user, here in home.items()
            for number, operand in enumerate(user.operands)
        ]
        return {
            operand
            for operand, here in uses
            if isinstance(operand, Instr) and home[operand] != here
        } | {phi for block in self.place for phi in block.phis}

    # -- control flow ---------------------------------------------------------------------

    def _region(self, region: Region) -> None:
        """The blocks of the function or of a loop, which threads repeat together."""
        again = ""
        if region.loop:
            again = self.w.fresh("loop")
            self.w.do(f"br label %{again}")
            self.w.label(again)
        for node in region.nodes:
            if node.inner:
                self._region(node.inner)
            else:
                self._block(node.block)
        if region.loop:
            wanted = self.cuda.collective.any(self._is_next(region.loop.header))
            left = self.w.fresh("left")
            self.w.do(f"br i1 {wanted}, label %{again}, label %{left}")
            self.w.label(left)

    def _is_next(self, block: Block) -> str:
        number = self.w.value(f"load i32, ptr {self.next}")
        return self.w.value(f"icmp eq i32 {number}, {self.place[block]}")

    def _block(self, block: Block) -> None:
        active = self._is_next(block)
        ran = self._guard(active)
        for instr in block.instrs:
            if instr.op == "phi":
                self._slot(instr)
            elif is_collective(instr):
                self._end_guard(ran)
                self._together(instr, active)
                ran = self._guard(active)
            else:
                self._instruction(instr)
                self._keep(instr)
        self._end_guard(ran)

    def _guard(self, active: str) -> str:
        """Begins what only active threads run; returns the label behind it."""
        self.part += 1
        run, ran = self.w.fresh("run"), self.w.fresh("ran")
        self.w.do(f"br i1 {active}, label %{run}, label %{ran}")
        self.w.label(run)
        return ran

    def _end_guard(self, ran: str) -> None:
        self.w.do(f"br label %{ran}")
        self.w.label(ran)

    def _together(self, instr: Instr, active: str) -> None:
        """What all threads execute. Those that wait keep the values that they have."""
        self.part += 1
        self.w.mark = self.to.mark(instr)
        if instr.arg == BARRIER:
            self._barrier(instr, active)
            return
        self.cuda.active = active
        names = [self._as(value, value.type) for value in instr.operands]
        result = self.to.cross_lane(instr, names)
        if instr.has_result:
            slot = self._slot(instr)
            old = self.w.value(f"load {instr.type}, ptr {slot}")
            kept = f"select i1 {active}, {instr.type} {result}, {instr.type} {old}"
            self.w.do(f"store {instr.type} {self.w.value(kept)}, ptr {slot}")

    def _barrier(self, instr: Instr, active: str) -> None:
        """The whole warp waits if any of its threads does: those that have returned are waiting for
        the others of their warp and would be missed."""
        some = self.cuda.collective.any(active)
        wait, go = self.w.fresh("wait"), self.w.fresh("go")
        self.w.do(f"br i1 {some}, label %{wait}, label %{go}")
        self.w.label(wait)
        self.to.barrier(instr)
        self.w.do(f"br label %{go}")
        self.w.label(go)

    def _emitted(self, instr: Instr, names: list[str]) -> str:
        if instr.op in ("ret", "unreachable"):
            self.w.do(f"store i32 {self.end}, ptr {self.next}")
            return ""
        return super()._emitted(instr, names)

    def _branch(self, instr: Instr, names: list[str]) -> None:
        """Notes which block is next, and what its phis are."""
        assert instr.block
        numbers = [str(self.place[target]) for target in instr.arg]
        chosen = numbers[0]
        if len(numbers) == 2:
            pair = f"i32 {numbers[0]}, i32 {numbers[1]}"
            chosen = self.w.value(f"select i1 {names[0]}, {pair}")
        moves = [
            (phi, self._as(phi.operands[phi.arg.index(instr.block)], phi.type))
            for target in dict.fromkeys(instr.arg)
            for phi in target.phis
        ]  # all are read before the first is written: one may be another's value
        for phi, name in moves:
            self._store_for(phi, name, instr, names)
        self.w.do(f"store i32 {chosen}, ptr {self.next}")

    def _store_for(self, phi: Instr, name: str, branch: Instr, names: list[str]) -> None:
        """Gives a phi its value in threads that go to its block."""
        type_, slot = self.to.spelled(phi.type), self._slot(phi)
        targets = list(dict.fromkeys(branch.arg))
        if len(targets) == 2:
            old = self.w.value(f"load {type_}, ptr {slot}")
            first, second = (name, old) if phi.block is targets[0] else (old, name)
            chosen = f"select i1 {names[0]}, {type_} {first}, {type_} {second}"
            name = self.w.value(chosen)
        self.w.do(f"store {type_} {name}, ptr {slot}")

    # -- values ---------------------------------------------------------------------------

    def _slot(self, instr: Instr) -> str:
        if instr not in self.slots:
            type_ = self.to.spelled(instr.type)
            self.slots[instr] = slot = self.w.alloca(type_, "slot")
            self.w.entry_lines.append(f"  store {type_} zeroinitializer, ptr {slot}")
        return self.slots[instr]

    def _keep(self, instr: Instr) -> None:
        """Writes a value that other parts use to its slot."""
        self.parts[instr] = self.part
        if instr in self.crossing and instr.op != "alloca":
            name = self.names[instr]
            self.w.do(f"store {self.to.spelled(instr.type)} {name}, ptr {self._slot(instr)}")

    def _name(self, value: Value) -> str:
        if not isinstance(value, Instr) or value.op == "alloca":
            return super()._name(value)
        if value.op != "phi" and self.parts.get(value) == self.part:
            return self.names[value]
        return self.w.value(f"load {self.to.spelled(value.type)}, ptr {self._slot(value)}")


def _in_order(region: Region) -> list[Block]:
    """The blocks, those of a loop behind each other, each behind those that lead to it."""
    blocks = []
    for node in region.nodes:
        blocks += _in_order(node.inner) if node.inner else [node.block]
    return blocks
