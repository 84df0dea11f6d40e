"""Which loops LLVM shall unroll whole: those that go through a private array.

Where an index is a constant everywhere, the array becomes registers. On a GPU it lies in memory
else, far away. LLVM's limit for loops is lower than what that is worth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.frontend.optimise import UNROLL, next_metadata
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.reader import read_program

_LABEL = re.compile(r'^("[^"]+"|[\w.$-]+):')
_BRANCH = re.compile(r"^  br i1 .*$|^  br label .*$")
_HINT = re.compile(r", !llvm\.loop !\d+")


def with_hints(text: str) -> str | None:
    """The optimised module with a hint at such loops; None if there is none of them."""
    if " alloca " not in text:
        return None
    latches = {_name(block) for block in _latches(read_program(text))}
    return _with_hints(text, latches) if latches else None


def _latches(program: Program) -> Iterator[Block]:
    """The blocks that lead back to the headers of such loops."""
    around = Analyses(program)(innermost)
    arrays: set[Value] = {i for i in program.instructions() if i.op == "alloca"}
    for instr in program.instructions():
        if instr.op != "gep" or arrays.isdisjoint(instr.operands[:1]):
            continue
        arrays.add(instr)
        assert instr.block
        loop = around.get(instr.block)
        if loop and any(_counts(index, loop) for index in instr.operands[1:]):
            yield from loop.latches


def _counts(index: Value, loop: Loop) -> bool:
    """Whether an index follows from what changes from one iteration to the next."""
    work, seen = [index], set[Value]()
    while work:
        value = work.pop()
        if not isinstance(value, Instr) or value in seen or value.block not in loop.blocks:
            continue
        seen.add(value)
        if value.op == "phi" and value.block is loop.header:
            return True
        work += value.operands
    return False


def _name(block: Block) -> str:
    return block.name.removeprefix("%").strip('"')


def _with_hints(text: str, latches: set[str]) -> str:
    number = next_metadata(text)
    lines, hints, here = text.split("\n"), [f'!{number} = !{{!"{UNROLL}"}}'], ""
    for place, line in enumerate(lines):
        if label := _LABEL.match(line):
            here = label[1].strip('"')
        elif here in latches and _BRANCH.match(line):
            own = number + len(hints)
            hints.append(f"!{own} = distinct !{{!{own}, !{number}}}")
            lines[place] = f"{_HINT.sub('', line)}, !llvm.loop !{own}"
    return "\n".join([*lines, *hints, ""])
