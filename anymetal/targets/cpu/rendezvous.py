"""Cross-lane calls of the scalar build: meetings of threads, each of which is a coroutine.

At a cross-lane call a thread writes a record and suspends; when it is resumed, the record has the
result. A scheduler (rendezvous.cpp) decides at run time who meets whom. It shares no code with
masks and linearization, so this build is a reference for the vectorized one. The record is the
promise of the coroutine:

    { ptr meeting, [4 x i32] operands, i32 words, [words x i32] key }

`meeting` is the scheduler's function for the callee, null while the thread is in no such call; the
result replaces the first operand.

`key` says how far the thread has come. The position in the text does not: in a loop, a thread that
is late in iteration 1 is behind one that is early in iteration 2. So the key is the path through
the loop nest: [node in the region, iteration of that loop] for each loop around the call, then
[node, number of the call]. Nodes are in topological order. Hence the lexicographically smaller key
is further behind, and threads with equal keys are at the same call in the same iterations.
"""

from __future__ import annotations

from anymetal.analysis.regions import RegionTree
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Block, Instr
from anymetal.simd.code.coroutine import wait

#: The scheduler, which the entry calls.
DECLARATION = "declare hidden void @am_rendezvous(ptr, i32)\n"
#: Offsets in the record.
_MEETING, _OPERANDS, _WORDS, _KEY = 0, 8, 24, 28


class Rendezvous:
    """Emits the cross-lane calls of one function."""

    def __init__(self, writer: Writer, tree: RegionTree) -> None:
        self.w = writer
        self.tree = tree
        self.calls = 0
        words = 2 * max(len(region.ancestors()) for region in tree.regions)
        self.record = writer.alloca(f"[{_KEY + 4 * words} x i8]", "record", 16)
        self._put(_MEETING, "ptr", "null")
        self.iterations = {
            region.loop.header: writer.alloca(t.I32, "iteration")
            for region in tree.regions
            if region.loop
        }
        for counter in self.iterations.values():
            writer.do(f"store i32 0, ptr {counter}")

    def emit(self, instr: Instr, names: list[str]) -> str:
        """Waits for the other threads; returns the name of the result."""
        assert instr.block is not None
        self.w.declarations[instr.arg] = f"declare void @{instr.arg}(ptr)"
        self._put(_MEETING, "ptr", f"@{instr.arg}")
        for i, (operand, name) in enumerate(zip(instr.operands, names, strict=True)):
            self._put(_OPERANDS + 4 * i, *self._word(operand.type, name))
        key = self._key(instr.block)
        for i, word in enumerate([str(len(key)), *key]):
            self._put(_WORDS + 4 * i, "i32", word)
        wait(self.w)
        if not instr.has_result:
            return ""
        return self.w.value(f"load {instr.type}, ptr {self._at(_OPERANDS)}")

    def next_iteration(self, header: Block) -> None:
        """Counts an iteration. Loops inside begin at 0 again: only now can they be entered once
        more."""
        counter = self.iterations[header]
        done = self.w.value(f"load i32, ptr {counter}")
        self.w.do(f"store i32 {self.w.value(f'add i32 {done}, 1')}, ptr {counter}")
        loop = self.tree.node_of[header].region
        for region in self.tree.regions:
            if region.loop and loop in region.ancestors()[1:]:
                self.w.do(f"store i32 0, ptr {self.iterations[region.loop.header]}")

    def _key(self, block: Block) -> list[str]:
        node = self.tree.node_of[block]
        self.calls += 1
        key = [str(node.index), str(self.calls)]
        while node.region.node is not None:
            iteration = self.w.value(f"load i32, ptr {self.iterations[node.region.entry.block]}")
            node = node.region.node
            key = [str(node.index), iteration, *key]
        return key

    def _word(self, type_: t.Type, name: str) -> tuple[str, str]:
        if type_ == t.I1:
            return "i32", self.w.value(f"zext i1 {name} to i32")
        return str(type_), name

    def _at(self, offset: int) -> str:
        return self.w.value(f"getelementptr i8, ptr {self.record}, i64 {offset}")

    def _put(self, offset: int, type_: str, value: str) -> None:
        self.w.do(f"store {type_} {value}, ptr {self._at(offset)}")
