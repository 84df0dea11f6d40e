"""Where private arrays lie: on the stack, or, if they are large, in memory of the worker.

Those of all lanes, and of a team's SIMD-groups, together may take megabytes, but whoever calls a
kernel may have a stack of a few hundred kilobytes. So large ones lie in memory of the worker
(`am_worker.frame` in runtime/launch.h). A larger stack for launches would do as well, but
debuggers, profilers and fault handlers know only the one that a thread came with.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.private_arrays import accessed_type
from anymetal.emission.writer import Writer
from anymetal.ir.model import Instr, Program, Value

#: Bytes of private arrays, of all lanes together, that lie on the stack.
ON_STACK = 64 << 10
_LINE = 64


class Far(NamedTuple):
    """Private arrays that are not on the stack."""

    offsets: dict[Instr, int]
    bytes: int  #: of all of them, for one call of a gang function


def far_arrays(known: Analyses) -> Far:
    """Those for which the stack has no room: it is given to small ones first."""
    arrays, width = known.program.private_arrays, known.width
    near, offsets, end = 0, {}, 0
    for array in sorted(arrays, key=lambda i: i.arg[0].size):
        size = -(-_bytes_of_lane(array) * width // _LINE) * _LINE
        near += size
        if near > ON_STACK:
            offsets[array] = end
            end += size
    return Far(offsets, end)


def _bytes_of_lane(alloca: Instr) -> int:
    type_, align = alloca.arg
    return int(-(-type_.size // align) * align)


class Interleaved(NamedTuple):
    """Where an array is, and the size of its units in bytes."""

    address: str
    unit: int
    mixed: bool  #: some elements are smaller


def interleaved_arrays(
    addresses: dict[Instr, str], program: Program, private: dict[Value, Instr]
) -> dict[Instr, Interleaved]:
    """The interleaved arrays; `addresses` are those of all private ones."""
    sizes: dict[Instr, set[int]] = {array: set() for array in addresses if array in private}
    for instr in program.instructions():
        for pointer in instr.operands:
            type_ = accessed_type(instr, pointer) if pointer in private else None
            if type_ is not None:
                sizes[private[pointer]].add(type_.size)
    return {
        array: Interleaved(addresses[array], max(found, default=1), len(found) > 1)
        for array, found in sizes.items()
    }


def allocate(writer: Writer, program: Program, far: Far, gangs_at_once: int) -> dict[Instr, str]:
    """The addresses of all private arrays.

    `gangs_at_once`: 0 if gangs run one after the other; else they share the memory of the worker,
    and a call of the function runs so many of them.
    """
    if far.offsets:
        base = "%private"
        if gangs_at_once:
            writer.entry_lines += [
                f"  %private.number = udiv i32 %gang, {gangs_at_once}",
                "  %private.wide = zext i32 %private.number to i64",
                f"  %private.offset = mul i64 %private.wide, {far.bytes}",
                "  %private.own = getelementptr i8, ptr %private, i64 %private.offset",
            ]
            base = "%private.own"
    addresses = {}
    for instr in (i for i in program.instructions() if i.op == "alloca"):
        if instr in far.offsets:
            address = f"%{writer.fresh('far')}"
            writer.entry_lines.append(
                f"  {address} = getelementptr i8, ptr {base}, i64 {far.offsets[instr]}"
            )
        else:
            type_ = f"[{_bytes_of_lane(instr) * writer.width} x i8]"
            address = writer.alloca(type_, "private", max(instr.arg[1], _LINE))
        addresses[instr] = address
    return addresses
