"""os_log: one call of C for a gang, which prints a line for each active lane.

What a lane prints lies in its private memory, packed by the header (logging.h). The C function
(targets/cpu/log.cpp) gets the addresses of all lanes, and the mask as bits.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Instr
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values

#: Names in generated code: the function that prints, and the text with the kernel's name.
PRINTER, KERNEL_NAME = "am_log", "@kernel.name"


class Log:
    """Emits calls of os_log."""

    def __init__(self, writer: Writer, values: Values, masks: Masks) -> None:
        self.w = writer
        self.v = values
        self.masks = masks

    def emit(self, instr: Instr, mask: Mask) -> None:
        w = self.w
        vector = w.vector(t.PTR)
        records = w.alloca(vector, "records")
        w.do(f"store {vector} {self.v.vector(instr.operands[0])}, ptr {records}")
        bits = self.masks.word(mask)
        w.declarations[PRINTER] = f"declare hidden void @{PRINTER}(ptr, ptr, i32, ptr)"
        w.do(f"call void @{PRINTER}(ptr {KERNEL_NAME}, ptr {records}, i32 {bits}, ptr %cancel)")


def kernel_name(name: str) -> str:
    """The definition of KERNEL_NAME."""
    text = name.encode() + b"\0"
    letters = "".join(f"\\{byte:02X}" for byte in text)
    return f'{KERNEL_NAME} = private unnamed_addr constant [{len(text)} x i8] c"{letters}"'
