"""Sorts machine instructions of x86-64 and AArch64 by what they cost, roughly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from anymetal.explain.listing import Instruction

#: In the order in which they are shown.
CLASSES = (
    "vector arithmetic",
    "shuffles and moves",
    "masks",
    "loads",
    "stores",
    "gathers",
    "scatters",
    "calls",
    "atomics",
    "spills",
    "scalar",
    "branches",
)

_VECTOR = re.compile(r"%[xyz]mm\d|\bv\d+\.\d*[bhsd]\b|\bz\d+\.[bhsd]\b")
_MASK = re.compile(r"^k[a-z]+[bwdq]?$")
_BRANCH = re.compile(r"^(?:j[a-z]+|b|b\.\w+|cbn?z|tbn?z|ret[a-z]*|br)$")
_CALL = re.compile(r"^(?:call[a-z]*|blr?)$")
_SHUFFLE = re.compile(
    r"^v?p?(?:shuf|perm|unpck|broadcast|insert|extract|align|blend|compress|expand|movs[lh]dup|"
    r"movddup|mov(?:lh|hl)ps|pack[su]s|slldq|srldq|lignr|extr|insr)|^v?pinsr|^v?pextr|"
    r"^(?:tbl|tbx|zip\d|uzp\d|trn\d|ext|dup|ins|rev\d+)$"
)
_X86_MOVE = re.compile(
    r"^v?mov(?:[aul]p[sd]|dq[au](?:\d+)?|nt\w+|[hl]p[sd]|[dq]|s[sd]|[bwlq]|abs\w*)$"
)
_EXTENDING = re.compile(r"^(?:v?pmov[sz]x\w+|mov[sz][bwl]\w+|v?broadcast\w*|v?pbroadcast\w*)$")
_ARM_LOAD, _ARM_STORE = re.compile(r"^ld"), re.compile(r"^st")
_SCALAR_FLOAT = re.compile(r"s[sd]$")
_MEMORY = re.compile(r"\(")


def class_of(instruction: Instruction) -> str:
    """The one class of an instruction. One that computes with an operand in memory computes."""
    operation, operands = instruction.operation, instruction.operands
    if re.search(r"\b(?:Spill|Reload)\b", instruction.comment):
        return "spills"
    if operation in ("lock", "mfence", "dmb") or operation.startswith(("cmpxchg", "xadd", "xchg")):
        return "atomics"
    if "gather" in operation:
        return "gathers"
    if "scatter" in operation:
        return "scatters"
    if _BRANCH.match(operation):
        return "branches"
    if _CALL.match(operation):
        return "calls"
    if _ARM_LOAD.match(operation) and "[" in operands:
        return "loads"
    if _ARM_STORE.match(operation) and "[" in operands:
        return "stores"
    if (_X86_MOVE.match(operation) or "maskmov" in operation) and _MEMORY.search(operands):
        return "stores" if _MEMORY.search(_last_operand(operands)) else "loads"
    if _EXTENDING.match(operation) and _MEMORY.search(operands):
        return "loads"
    if _MASK.match(operation):
        return "masks"
    if _VECTOR.search(operands) and not _SCALAR_FLOAT.search(operation):
        if _SHUFFLE.match(operation) or _X86_MOVE.match(operation):
            return "shuffles and moves"
        return "vector arithmetic"
    return "scalar"


def count(instructions: Iterable[Instruction]) -> Counter[str]:
    """How many instructions there are of each class."""
    return Counter(class_of(i) for i in instructions)


def _last_operand(operands: str) -> str:
    """Where the result goes, as AT&T's syntax has it; without a mask behind it."""
    depth, parts = 0, [""]
    for character in operands:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts[-1]
