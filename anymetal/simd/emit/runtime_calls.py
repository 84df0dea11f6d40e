"""Calls of C of our own, once for a gang: what os_log prints, and accesses outside of their arrays.

os_log   What a lane prints lies in its private memory, packed by the header (logging.h). The C
         function (targets/cpu/log.cpp) prints a line for each active lane.
strays   The program tests each access of a checked build (passes/check_bounds.py). If a lane's is
         outside, the C function of targets/cpu/strays.cpp notes which access, where and how often.

C gets the address of a vector's lanes, and the mask as bits.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Instr
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.positions import CONTEXT_NAMES

#: Names in generated code: the functions, and the text with the kernel's name.
PRINTER, NOTE, TRACER, KERNEL_NAME = "am_log", "am_stray", "am_trace", "@kernel.name"
#: Where threads are, as the function that notes a stray access gets it.
NOTED_CONTEXT = [("i32", f"%{name}") for name in CONTEXT_NAMES if name != "active"]


class RuntimeCalls(GangEmitter):
    """Emits both."""

    def log(self, instr: Instr, mask: Mask) -> None:
        records = stored(self.w, self.w.vector(t.PTR), self.v.vector(instr.operands[0]))
        bits = self.masks.word(mask)
        args = [("ptr", KERNEL_NAME), ("ptr", records), ("i32", bits), ("ptr", "%cancel")]
        call(self.w, PRINTER, args)

    def stray(self, instr: Instr, mask: Mask) -> None:
        w = self.w
        bad, position, owner, site, record = instr.operands
        lanes = self.masks.both(mask, self.v.vector(bad))
        vectors = [(w.vector(v.type), self.v.vector(v)) for v in (position, owner)]
        some, none = w.fresh("strays"), w.fresh("strays.none")
        w.do(f"br i1 {self.masks.any(lanes)}, label %{some}, label %{none}")
        w.label(some)
        arrays = [("ptr", stored(w, *vector)) for vector in vectors]
        numbers = [self.v.scalar(site), self.masks.word(lanes), str(w.width)]
        args = [
            ("ptr", self.v.scalar(record)),
            *(("i32", n) for n in numbers),
            *arrays,
            *NOTED_CONTEXT,
        ]
        call(w, NOTE, args, " cold")
        w.do(f"br label %{none}")
        w.label(none)


def stored(w: Writer, type_: str, value: str) -> str:
    """The address of a value on the stack."""
    address = w.alloca(type_, "told")
    w.do(f"store {type_} {value}, ptr {address}")
    return address


def call(w: Writer, function: str, args: list[tuple[str, str]], attribute: str = "") -> None:
    """A call of a C function that is linked in (targets/cpu/support.py)."""
    types = ", ".join(type_ for type_, _ in args)
    w.declarations[function] = f"declare hidden void @{function}({types}){attribute}"
    w.call("void", function, args)


def kernel_name(name: str) -> str:
    """The definition of KERNEL_NAME."""
    text = name.encode() + b"\0"
    letters = "".join(f"\\{byte:02X}" for byte in text)
    return f'{KERNEL_NAME} = private unnamed_addr constant [{len(text)} x i8] c"{letters}"'
