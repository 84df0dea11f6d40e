"""Elements of a table in registers, picked by numbers that differ between lanes.

AVX-512 has an instruction that picks each element of its result out of two registers; AVX2 has one
for words of one register. Bits of the numbers choose between the results for several registers.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.machine import Machine
from anymetal.simd.code.deinterleave import join

#: AVX-512's instructions by bits of an element.
_OF_TWO = {8: "qi", 16: "hi", 32: "d"}
_OF_ONE = "llvm.x86.avx2.permd"


def look_up(w: Writer, machine: Machine, element: t.Int, registers: list[str], numbers: str) -> str:
    """For each lane the element with its number, one of those that there are. `registers`: full of
    elements, a power of two of them; `numbers`: a vector of elements, too."""
    lanes = machine.vector_bytes // element.size
    parts = []
    for first in range(0, w.width, lanes):
        picks = [i if i < w.width else -1 for i in range(first, first + lanes)]
        some = w.shuffle(w.vector(element), picks, numbers)
        parts.append(_in_register(w, machine, element, registers, some))
    elements, size = join(w, element, parts, lanes)
    if size == w.width:
        return elements
    return w.shuffle(f"<{size} x {element}>", list(range(w.width)), elements)


def _in_register(
    w: Writer, machine: Machine, element: t.Int, registers: list[str], numbers: str
) -> str:
    """For as many lanes as a register has."""
    lanes = machine.vector_bytes // element.size
    vector = f"<{lanes} x {element}>"
    if machine.permutes_under_masks:
        callee = f"llvm.x86.avx512.vpermi2var.{_OF_TWO[element.bits]}.512"
        found = [
            w.call(vector, callee, [(vector, low), (vector, numbers), (vector, high)])
            for low, high in zip(registers[::2], registers[1::2], strict=True)
        ]
    else:
        found = [
            w.call(vector, _OF_ONE, [(vector, register), (vector, numbers)])
            for register in registers
        ]
    number = lanes * len(registers) // len(found)
    while len(found) > 1:
        # The bit as the sign: blending instructions look at signs.
        shift = element.bits - number.bit_length()
        signs = w.value(f"shl {vector} {numbers}, splat ({element} {shift})")
        second = w.value(f"icmp slt {vector} {signs}, zeroinitializer")
        found = [
            w.value(f"select <{lanes} x i1> {second}, {vector} {high}, {vector} {low}")
            for low, high in zip(found[::2], found[1::2], strict=True)
        ]
        number *= 2
    return found[0]
