"""Unroll rows: lanes that walk along rows of memory take several elements of their rows at a time.

    for i < 128: product *= x[row * 128 + i]; out[row * 128 + i] = product

becomes

    for i < 128 in steps of 8: product *= x[row * 128 + i] … product *= x[row * 128 + i + 7] …

One thread for each row is how most people begin. Lanes are a row apart, so each load is a gather;
those of several iterations are neighbours in each lane, which simd/access/groups.py loads as
vectors and transposes. Nothing changes its order. Loops are unrolled if the number of iterations is
a constant that can be divided.
"""

from __future__ import annotations

from anymetal.analysis.affine import ONE, LinearForms, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_plain, is_pure, pointer_of
from anymetal.analysis.induction import Induction, inductions, trips
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir.model import Block, Const, Instr, Program, Value

#: Iterations that become one: the first of these that divides their number and is not too long. As
#: many elements are loaded at once.
COUNTS = (8, 4)
#: Instructions of the unrolled loop: more are too long for LLVM and the cache.
MOST_INSTRUCTIONS = 192


def run(known: Analyses) -> bool:
    """Changes all loops of one block where it pays."""
    found: list[tuple[Block, list[Induction], int]] = []
    for loop, iterations in known(trips).items():
        counters = [one for one in known(inductions)[loop] if one.growth]
        if len(loop.blocks) != 1 or not _walks(loop.header, counters, known):
            continue
        size = len(loop.header.body)
        for count in COUNTS:
            if iterations % count == 0 and size * count <= MOST_INSTRUCTIONS:
                found.append((loop.header, counters, count))
                break
    for block, counters, count in found:
        _unroll(known.program, block, counters, count)
    return bool(found)


def _walks(block: Block, counters: list[Induction], known: Analyses) -> bool:
    """Whether lanes load from rows of their own, element by element."""
    if not all(is_plain(i) or is_pure(i) for i in block.body):
        return False
    lanes, linear = known(shapes), known(forms)
    loads = (i for i in block.body if i.op == "load" and is_plain(i))
    return any(
        _is_apart(i, lanes) and abs(_growth(i, counters, linear)) == i.type.size for i in loads
    )


def _is_apart(load: Instr, lanes: Shapes) -> bool:
    """Whether what the lanes load has room for as many elements of one lane as make a row."""
    shape = lanes[pointer_of(load)]
    return shape.is_strided and abs(shape.stride) > min(COUNTS) * load.type.size


def _growth(load: Instr, counters: list[Induction], linear: LinearForms) -> int:
    """By how many bytes the address grows in each iteration; 0 if that is not known."""
    form = linear(pointer_of(load)) or {}
    total = 0
    for product, factors in form.items():
        if product == ONE or not any(
            isinstance(v, Instr) and v.block is load.block for v in product
        ):
            continue
        growth = next((one.growth for one in counters if product == (one.phi,)), 0)
        if not growth or len(set(factors)) != 1:
            return 0
        total += growth * factors[0]
    return total


def _unroll(program: Program, block: Block, counters: list[Induction], count: int) -> None:
    """Puts copies of the body behind it; the last one decides how the loop goes on."""
    phis, body, end = block.phis, block.body, block.terminator
    latch = {phi: phi.operands[phi.arg.index(block)] for phi in phis}
    # Counted from the beginning: how far apart addresses are is then seen at once.
    counts = [(one.phi, one.update, *_later(one, count)) for one in counters]
    made = [later for values in counts for later in values[2:]]
    now: dict[Value, Value] = {}
    for number in range(1, count):
        now = {phi: now.get(value, value) for phi, value in latch.items()}
        now |= {values[0]: values[number] for values in counts}
        now |= {values[1]: values[number + 1] for values in counts}
        for old in (i for i in body if i not in now):
            new = old.copy(number)
            new.operands = [now.get(value, value) for value in new.operands]
            now[old] = new
            made.append(new)
    block.refill([*phis, *body, *made, end])
    for phi, value in latch.items():
        phi.operands[phi.arg.index(block)] = now.get(value, value)
    behind = (i for other in program.blocks if other is not block for i in other.instrs)
    for user in (end, *behind):
        user.operands = [now.get(value, value) for value in user.operands]


def _later(one: Induction, count: int) -> list[Instr]:
    """The counter two iterations on, and so on. It gets there, so it wraps no more than it did."""
    steps = [Const(one.phi.type, str(one.growth * number)) for number in range(2, count + 1)]
    return [
        Instr(one.phi.type, "add", [one.phi, step], None, one.update.flags, one.update.loc)
        for step in steps
    ]
