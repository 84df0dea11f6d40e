"""Which loops LLVM shall unroll for a processor that waits for each load, as GPUs do.

Whole, those that go through a private array: where an index is a constant everywhere, the array
becomes registers. It lies in memory else, far away, and LLVM's limit for loops is lower than what
that is worth.

Four iterations at a time, those that are short and have no loop inside: their loads are under way
together, where one iteration would wait for its own before the next begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.frontend.optimise import UNROLL, UNROLL_COUNT, next_metadata
from anymetal.ir.calls import INTRINSICS, POSITIONS
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.reader import read_program

#: Instructions of a loop that is unrolled in part.
_SHORT = 40
_PART = 4  #: iterations
_LABEL = re.compile(r'^("[^"]+"|[\w.$-]+):')
_BRANCH = re.compile(r"^  br i1 .*$|^  br label .*$")
_HINT = re.compile(r", !llvm\.loop !\d+")


def with_hints(text: str) -> str | None:
    """The optimised module with a hint at such loops; None if there is none of them."""
    program = read_program(text)
    around = Analyses(program)(innermost)
    whole = f'!"{UNROLL}"'
    hints = {_name(block): whole for block in _of_arrays(program, around)}
    for loop in set(around.values()):
        if _is_short(loop):
            hints.setdefault(_name(loop.latches[0]), f'!"{UNROLL_COUNT}", i32 {_PART}')
    return _with_hints(text, hints) if hints else None


def _is_short(loop: Loop) -> bool:
    """Whether there is little in a loop, and nothing that threads do together."""
    instrs = [instr for block in loop.blocks for instr in block.instrs]
    together = INTRINSICS.keys() - POSITIONS
    return (
        not loop.children
        and len(loop.latches) == 1
        and len(instrs) <= _SHORT
        and not any(instr.op == "call" and instr.arg in together for instr in instrs)
    )


def _of_arrays(program: Program, around: dict[Block, Loop]) -> Iterator[Block]:
    """The blocks that lead back to the headers of loops through private arrays."""
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


def _with_hints(text: str, hints: dict[str, str]) -> str:
    """`hints`: by the names of the blocks that lead back to the headers."""
    number = next_metadata(text)
    lines, added, here = text.split("\n"), list[str](), ""
    for place, line in enumerate(lines):
        if label := _LABEL.match(line):
            here = label[1].strip('"')
        elif here in hints and _BRANCH.match(line):
            own = number + len(added)
            added.append(f"!{own} = distinct !{{!{own}, !{own + 1}}}")
            added.append(f"!{own + 1} = !{{{hints[here]}}}")
            lines[place] = f"{_HINT.sub('', line)}, !llvm.loop !{own}"
    return "\n".join([*lines, *added, ""])
