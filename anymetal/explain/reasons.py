"""Why a value differs between lanes, and what to call it."""

from __future__ import annotations

import re

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, pointer_of
from anymetal.analysis.objects import origins
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Global, Instr, Value
from anymetal.ir.tokens import plain

_POSITIONS = {
    "__am_lane": "the lane number",
    "__am_thread_x": "the thread's position in x",
    "__am_thread_y": "the thread's position in y",
    "__am_thread_z": "the thread's position in z",
}
#: After these, what went up by a constant from lane to lane does so no more.
_OPERATIONS = {
    "udiv": "a division",
    "sdiv": "a division",
    "urem": "a remainder",
    "srem": "a remainder",
    "smin": "min or clamp",
    "smax": "max or clamp",
    "umin": "min or clamp",
    "umax": "max or clamp",
    "abs": "abs",
    "and": "bit arithmetic",
    "or": "bit arithmetic",
    "xor": "bit arithmetic",
    "lshr": "a shift to the right",
    "ashr": "a shift to the right",
    "shl": "a shift by a variable",
    "mul": "a product of variables",
    "select": "a choice between two values",
    "trunc": "a narrow integer",
    "zext": "a narrow integer",
    "sext": "a narrow integer",
}


def names_of(known: Analyses, pointer: Value) -> str:
    """The buffers or variables that a pointer may point into."""
    private = known(interleaved)
    if pointer in private:
        return described(private[pointer])
    leads_to = known(origins).get(pointer, frozenset())
    return ", ".join(sorted({described(origin) for origin in leads_to})) or "memory"


def described(origin: Value) -> str:
    """The user's name of a buffer, threadgroup variable or private array, as far as it is known."""
    if isinstance(origin, Argument):
        return f"`{_plain(origin.name)}`"
    if isinstance(origin, Global):
        number_and_name = plain(origin.name).removeprefix("threadgroup.")
        return f"`{_plain(number_and_name.partition('.')[2] or number_and_name)}`"
    if isinstance(origin, Instr) and origin.op == "alloca":
        return f"`{_plain(origin.name)}`"
    return "memory"


def reason(known: Analyses, value: Value) -> str:
    """What makes a value differ between lanes by more than a constant step, in words; or "".

    It is the nearest value for which no operand is to blame.
    """
    seen: set[Value] = {value}
    work = [value]
    for current in work:
        if not isinstance(current, Instr) or known(shapes)[current].is_uniform:
            continue
        if cause := _cause(known, current):
            line = f" in line {current.loc.line}" if current.loc else ""
            return cause + line
        new = [operand for operand in current.operands if operand not in seen]
        seen.update(new)
        work.extend(new)
    return ""


def _cause(known: Analyses, instr: Instr) -> str:
    if instr.op in LOADS:
        return f"what is loaded from {names_of(known, pointer_of(instr))}"
    if instr.op in ("atomicrmw", "cmpxchg"):
        return f"the old value in {names_of(known, instr.operands[0])}"
    if _is_position(instr):
        return _POSITIONS[instr.arg]
    # Conditions are no steps: what they compare tells more.
    if instr.type == t.I1 or any(known(shapes)[v].is_varying for v in instr.operands):
        return ""
    if instr.op == "phi" and instr.block in known(shapes).joins:
        return "a value that lanes bring along from different ways"
    if known(shapes)[instr].is_varying and not any(map(_is_position, instr.operands)):
        name = instr.arg.removeprefix("llvm.").partition(".")[0] if instr.op == "call" else instr.op
        return _OPERATIONS.get(name, "")
    return ""


def _is_position(value: Value) -> bool:
    return isinstance(value, Instr) and value.op == "call" and value.arg in _POSITIONS


def _plain(name: str) -> str:
    """LLVM numbers names that it meets twice, and marks what it has inlined or taken apart; we mark
    what we join again (passes/join_private_arrays.py)."""
    return re.sub(r"(?:\.(?:i|addr|sroa|joined|\d+))+$", "", plain(name))
