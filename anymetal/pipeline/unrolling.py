"""Which loops LLVM shall unroll that it would not by itself.

For a processor that waits for each load, as GPUs do. Whole, those that go through a private array:
where an index is a constant everywhere, the array becomes registers. It lies in memory else, far
away, and LLVM's limit for loops is lower than what that is worth. Four iterations at a time, those
that are short and have no loop inside: their loads are under way together, where one iteration
would wait for its own before the next begins.

For gangs of lanes, whole, those between whose iterations threadgroups wait while a distance doubles
or halves, as in Fourier transforms and scans:

    for (uint n = 1; n < 256; n *= 2) { … tile[2 * n * (l / n) + l % n] … barrier }

If the distance is a number, it is known which lanes have neighbours; else each access is a gather.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.analysis.lane_numbers import COMPARES
from anymetal.frontend.optimise import UNROLL, UNROLL_COUNT, next_metadata
from anymetal.ir.calls import BARRIER, INTRINSICS, POSITIONS
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.ir.reader import read_program
from anymetal.ir.walk import made_in

#: Instructions of all iterations of a loop with a distance that doubles, and iterations.
_MOST_OF_STEPS, _MOST_STEPS = 6000, 32
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


def with_steps(text: str) -> str | None:
    """The optimised module with a hint at loops with barriers in which a distance doubles or halves
    from one constant to another; None if there is none of them."""
    hints = {}
    for loop in set(Analyses(read_program(text))(innermost).values()):
        instrs = [instr for block in loop.blocks for instr in block.instrs]
        waits = any(instr.op == "call" and instr.arg == BARRIER for instr in instrs)
        if waits and not loop.children and len(loop.latches) == 1:
            steps = max((_steps(phi, loop) for phi in loop.header.phis), default=0)
            if 0 < steps * len(instrs) <= _MOST_OF_STEPS:
                hints[_name(loop.latches[0])] = f'!"{UNROLL}"'
    return _with_hints(text, hints) if hints else None


def _steps(phi: Instr, loop: Loop) -> int:
    """How many iterations there are, if `phi` is a distance that doubles or halves from a constant
    on and a constant ends the loop; else 0."""
    values = dict(zip(phi.arg, phi.operands, strict=True))
    following = values.pop(loop.latches[0])
    first = _number(next(iter(values.values())))
    is_shift = isinstance(following, Instr) and following.op in ("shl", "lshr")
    if not is_shift or len(loop.exits) != 1 or not first or len(values) > 1:
        return 0
    assert isinstance(following, Instr)
    at, (source, outside) = first, loop.exits[0]
    condition = source.terminator.operands[0] if source.terminator.operands else None
    if following.operands[0] is not phi or _number(following.operands[1]) != 1:
        return 0
    if not isinstance(condition, Instr) or condition.op != "icmp":
        return 0
    left, bound = condition.operands[0], _number(condition.operands[1])
    compare = COMPARES.get(re.sub("^s", "u", condition.arg))  # no number is negative
    if left not in (phi, following) or bound is None or compare is None:
        return 0
    leaves_if = source.terminator.arg[0] is outside
    for step in range(1, _MOST_STEPS + 1):
        after = at * 2 if following.op == "shl" else at // 2
        if compare(at if left is phi else after, bound) == leaves_if:
            return step
        at = after
    return 0


def _number(value: Value) -> int | None:
    """A constant that is not negative."""
    number = value.int_value if isinstance(value, Const) else None
    return number if number is not None and number >= 0 else None


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
    parts = made_in(loop.blocks, index)
    return any(one.op == "phi" and one.block is loop.header for one in parts)


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
