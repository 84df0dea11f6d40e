"""Loops of a listing, the work that is done in them, and what they cost by llvm-mca's model."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from anymetal.explain.listing import Instruction, read_listing

_ITERATIONS = 100
#: LLVM's first release whose models of Neoverse V1 and V2 are those of Arm's own guides.
_FIRST = 17
_SPILL = re.compile(r"\b(?:Spill|Reload)\b")
#: One lane is moved out of a vector or into it. (Products with a lane are no such thing.)
_MOVES = re.compile(r"(?:mov|ins|umov|smov|dup|ld1|st1)(?:\.\w+)?")
_LANE = re.compile(r"\bv\d+\.[bhsd]\[\d+\]|\}\[\d+\]")
#: Registers that memory goes to or comes from.
_REGISTER = re.compile(r"\bv\d+\.(\d*)([bhsd])\b|\b([qdshbwx])(?:\d+|zr)\b|\b(z)\d+")
#: What our blocks are called that store past the caches, and as usual (simd/code/accesses.py).
_PAST, _USUAL = "store.past", "store.usual"
_BYTES = {"q": 16, "d": 8, "s": 4, "h": 2, "b": 1, "w": 4, "x": 8}


@dataclass(frozen=True)
class Core:
    """A processor that code is made for."""

    title: str
    name: str  #: LLVM's
    model: str  #: whose model llvm-mca takes
    scalable: int = 16  #: bytes of a vector of SVE


@dataclass(frozen=True)
class Piece:
    """A loop's own instructions, or one block of them."""

    function: str
    core: Core
    instructions: tuple[Instruction, ...]
    inner: bool = True  #: no loop is inside

    def work(self, kind: str) -> float:
        """What an iteration does. `st`, `ld`: elements of 4 bytes that it stores or loads beside
        spills; `=N`: N, as it is known; else lanes of the operations that the pattern matches.
        `/N` behind it divides."""
        kind, _, divisor = kind.partition("/")
        if kind.startswith("="):
            found = int(kind[1:])
        elif kind in ("st", "ld"):
            moving = (i for i in self.instructions if i.operation.startswith(kind))
            found = sum(self._bytes(i.operands) for i in moving if not _SPILL.search(i.comment)) / 4
        else:
            found = sum(
                self._lanes(i.operands)
                for i in self.instructions
                if re.fullmatch(kind, i.operation)
            )
        return found / int(divisor or 1)

    def _bytes(self, operands: str) -> int:
        registers, _, behind = operands.partition("}" if "{" in operands else "[")
        total = 0
        for count, size, plain, scalable in _REGISTER.findall(registers):
            if scalable:
                total += self.core.scalable
            elif plain:
                total += _BYTES[plain]
            else:
                total += _BYTES[size] * (1 if behind.startswith("[") else int(count or 1))
        return total

    def _lanes(self, operands: str) -> int:
        found = re.match(r"v\d+\.(\d+)|z\d+\.([bhsd])", operands)
        if not found:
            return 1
        return int(found[1]) if found[1] else self.core.scalable // _BYTES[found[2]]

    def without(self, labels: tuple[str, ...]) -> Piece:
        """Without the blocks whose names begin like that."""
        if not labels:
            return self
        kept = tuple(i for i in self.instructions if not i.label.startswith(labels))
        return replace(self, instructions=kept)

    @property
    def spills(self) -> int:
        """Instructions that put registers on the stack, or fetch them."""
        return sum(bool(_SPILL.search(i.comment)) for i in self.instructions)

    @property
    def lanes(self) -> int:
        """Lanes that are moved by themselves."""
        return sum(
            bool(_MOVES.fullmatch(i.operation) and _LANE.search(i.operands))
            for i in self.instructions
        )

    @cached_property
    def cycles(self) -> float:
        """Of an iteration among many, by the model."""
        text = "\n".join(f"{i.operation} {i.operands}" for i in self.instructions)
        command = [analyser(), "-mtriple=aarch64", f"-mcpu={self.core.model}", "-mattr=+all"]
        command += [f"-iterations={_ITERATIONS}", "-resource-pressure=0", "-instruction-info=0"]
        command.append("-skip-unsupported-instructions=lack-sched")
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        total = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.M)
        if not total:
            raise RuntimeError(f"{command[0]} says: {done.stderr}")
        return int(total[1]) / _ITERATIONS


def analyser() -> str:
    """llvm-mca, the newest there is."""
    for release in range(30, _FIRST - 1, -1):
        if path := shutil.which(f"llvm-mca-{release}"):
            return path
    raise SystemExit(f"llvm-mca of LLVM {_FIRST} or later is missing: apt-get install llvm-19")


def loops(listing: str, core: Core, functions: str = "") -> list[Piece]:
    """The loops of these functions, each without those inside. Gangs that wait for each other are
    functions that are resumed in a loop: what they have outside of loops is a piece, too."""
    read = read_listing(listing)
    found = [
        Piece(loop.function, core, tuple(loop.instructions), loop.inner) for loop in read.loops
    ]
    inside = {id(i) for loop in read.loops for i in loop.instructions}
    resumed: dict[str, list[Instruction]] = {}
    for instruction in read.instructions:
        if instruction.function.endswith(".resume") and id(instruction) not in inside:
            resumed.setdefault(instruction.function, []).append(instruction)
    found += [Piece(name, core, tuple(body), False) for name, body in resumed.items()]
    return [_one_way(piece) for piece in found if re.search(functions, piece.function)]


def _one_way(piece: Piece) -> Piece:
    """Without what a launch of this size leaves out: stores through the caches, beside those that
    go past them."""
    both = any(i.label.startswith(_PAST) for i in piece.instructions)
    return piece.without((_USUAL,)) if both else piece


def blocks(pieces: Iterable[Piece]) -> list[Piece]:
    """The blocks of loops."""
    found = []
    for piece in pieces:
        numbers = dict.fromkeys(i.block for i in piece.instructions)
        for number in numbers:
            inside = tuple(i for i in piece.instructions if i.block == number)
            found.append(Piece(piece.function, piece.core, inside))
    return found
