"""Cross-lane calls of the scalar build, in which every thread is a gang of one lane.

Threads are coroutines. At a cross-lane call a thread fills in its record, suspends, and finds the
result there when it goes on. Who meets whom is decided while the kernel runs, by a scheduler
(targets/cpu/rendezvous.cpp) that shares no code with masks and linearization: that makes this build
a reference for the vectorized one. The record is the promise of the coroutine:

    { ptr meeting, [4 x i32] operands, i32 words, [words x i32] key }

`meeting` is the scheduler's function of the callee's name, null unless the thread is in such a
call; the result takes the place of the first operand.

`key` says how far the thread has come. The position in the text does not: in a loop, a thread that
has still to finish iteration 1 is behind one that is early in iteration 2. So the key is the path
through the loop nest: [node in the region, iteration of that loop] for each loop around the call,
then [node, number of the call]. Nodes are in topological order, hence the lexicographically smaller
key is further behind, and threads with equal keys are at the same call in the same iterations.
"""

from __future__ import annotations

from anymetal.analysis.regions import Region, RegionTree
from anymetal.ir import types as t
from anymetal.ir.model import Block, Instr, Value
from anymetal.simd.code.coroutine import suspend
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.values import Values
from anymetal.simd.code.writer import Writer

#: Offsets in the record.
_MEETING, _OPERANDS, _WORDS, _KEY = 0, 8, 24, 28


class Rendezvous:
    """Emits cross-lane calls as meetings of threads; stands in for CrossLane."""

    def __init__(self, writer: Writer, values: Values, tree: RegionTree) -> None:
        self.w = writer
        self.v = values
        self.tree = tree
        self.calls = 0
        words = 2 * max(len(region.ancestors()) for region in tree.regions)
        self.promise = writer.alloca(f"[{_KEY + 4 * words} x i8]", "record", 16)
        self._put(_MEETING, "ptr", "null")
        self.iterations = {
            region: writer.alloca(t.I32, "iteration") for region in tree.regions if region.loop
        }
        for counter in self.iterations.values():
            writer.do(f"store i32 0, ptr {counter}")

    def emit(self, instr: Instr, mask: Mask) -> None:
        """Wait for the others; there are no masks, each thread comes here for itself."""
        assert mask is None and instr.block is not None
        self.w.declarations[instr.arg] = f"declare void @{instr.arg}(ptr)"
        self._put(_MEETING, "ptr", f"@{instr.arg}")
        for i, operand in enumerate(instr.operands):
            self._put(_OPERANDS + 4 * i, *self._word(operand))
        key = self._key(instr.block)
        for i, word in enumerate([str(len(key)), *key]):
            self._put(_WORDS + 4 * i, "i32", word)
        self.w.lines.extend(suspend(self.w.fresh("met"), self.w.fresh("state")))
        if instr.has_result:
            result = self.w.value(f"load {instr.type}, ptr {self._at(_OPERANDS)}")
            self.v.define(instr, result)

    def next_iteration(self, region: Region) -> None:
        """Count; the loops inside start anew, since only now they can be entered once more."""
        counter = self.iterations[region]
        done = self.w.value(f"load i32, ptr {counter}")
        self.w.do(f"store i32 {self.w.value(f'add i32 {done}, 1')}, ptr {counter}")
        for inner, inner_counter in self.iterations.items():
            if region in inner.ancestors()[1:]:
                self.w.do(f"store i32 0, ptr {inner_counter}")

    def _key(self, block: Block) -> list[str]:
        node = self.tree.node_of[block]
        self.calls += 1
        key = [str(node.index), str(self.calls)]
        while node.region.node is not None:
            iteration = self.w.value(f"load i32, ptr {self.iterations[node.region]}")
            node = node.region.node
            key = [str(node.index), iteration, *key]
        return key

    def _word(self, operand: Value) -> tuple[str, str]:
        name = self.v.scalar(operand)
        if operand.type == t.I1:
            return "i32", self.w.value(f"zext i1 {name} to i32")
        return str(operand.type), name

    def _at(self, offset: int) -> str:
        return self.w.value(f"getelementptr i8, ptr {self.promise}, i64 {offset}")

    def _put(self, offset: int, type_: str, value: str) -> None:
        self.w.do(f"store {type_} {value}, ptr {self._at(offset)}")
