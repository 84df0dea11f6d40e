"""Reads LLVM's assembly listing: blocks, loops, and what each instruction was written for.

LLVM says in comments which loop a block belongs to and what is a spill, and its line numbers are
our marks (emission/marks.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: A name with template arguments is in quotes.
_FUNCTION = re.compile(r'^"?([A-Za-z_][^":]*)"?:\s+(?:#|//) @')
_BLOCK = re.compile(r"^(?:\.L(BB\d+_\d+):|(?:#|//) %bb\.\d+:)(.*)")
_NAME = re.compile(r"(?:#|//) %([\w.$]+)\s*$")
_LINE = re.compile(r"^\s+\.loc\s+\d+\s+(\d+)")
_HEADER = re.compile(r"=>\s*This (Inner )?Loop Header")
_PARENT = re.compile(r"Parent Loop (BB\d+_\d+)")
_INSIDE = re.compile(r"in Loop: Header=(BB\d+_\d+)")
#: AArch64 writes numbers as `#16`: what begins a comment there is `//`.
_INSTRUCTION = re.compile(r"^\s+([a-z][\w.]*)(?:\s+(?!# |//)(.*?))?\s*(?:(?:# |//)\s*(.*))?$")


_PTX = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][\w.]*)\s*(.*);$")


@dataclass(frozen=True)
class Instruction:
    """One line of assembly; `mark` is 0 where LLVM does not know what it belongs to."""

    operation: str
    operands: str
    comment: str
    mark: int
    function: str
    block: int = 0  #: number of the block, in the order of the listing
    label: str = ""  #: of the block, in LLVM's words


@dataclass(eq=False)
class MachineLoop:
    """A loop of the machine code. Its own instructions are those of no loop inside of it."""

    function: str
    name: str  #: of its first block, in LLVM's words
    parent: str = ""
    inner: bool = True
    instructions: list[Instruction] = field(default_factory=list)
    children: list[MachineLoop] = field(default_factory=list)

    @property
    def everything(self) -> list[Instruction]:
        """Its instructions and those of the loops inside."""
        return self.instructions + [i for child in self.children for i in child.everything]


@dataclass(eq=False)
class Listing:
    """What was read."""

    loops: list[MachineLoop]
    instructions: list[Instruction]  #: all of them


def read_ptx(text: str) -> list[Instruction]:
    """The instructions of a PTX text, without those that load parameters; blocks are counted."""
    found: list[Instruction] = []
    mark = block = 0
    for line in text.splitlines():
        if line.startswith("$"):
            block += 1
        elif place := _LINE.match(line):
            mark = int(place[1])
        elif (one := _PTX.match(line)) and not one[1].startswith("ld.param"):
            found.append(Instruction(one[1], one[2], "", mark, "", block))
    return found


def read_listing(text: str) -> Listing:
    """Takes an assembly listing apart."""
    loops: dict[str, MachineLoop] = {}
    everything: list[Instruction] = []
    function, label, name, parent, mark, block = "", "", "", "", 0, 0
    inside: MachineLoop | None = None
    for line in text.splitlines():
        if found := _FUNCTION.match(line):
            function, mark, inside, block, name = found[1], 0, None, block + 1, ""
        elif found := _BLOCK.match(line):
            label, inside, parent, block = found[1] or "", None, "", block + 1
            named = _NAME.search(found[2])
            name = named[1] if named else ""
        elif found := _LINE.match(line):
            mark = int(found[1])
        elif found := _INSTRUCTION.match(line):
            words = found[1], found[2] or "", found[3] or ""
            instruction = Instruction(*words, mark, function, block, name)
            everything.append(instruction)
            if inside is not None:
                inside.instructions.append(instruction)
        if found := _PARENT.search(line):
            parent = found[1]
        if found := _INSIDE.search(line):
            inside = loops.get(found[1])
        if found := _HEADER.search(line):
            inside = loops[label] = MachineLoop(function, name, parent, bool(found[1]))
    for loop in loops.values():
        if loop.parent in loops:
            loops[loop.parent].children.append(loop)
    return Listing(list(loops.values()), everything)
