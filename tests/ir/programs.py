"""Thread programs out of LLVM IR written by hand, and a way to run them.

Every text goes through LLVM first: it must be valid, and what the reader sees is LLVM's spelling.
"""

from __future__ import annotations

import ctypes
import re
from textwrap import dedent

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt

from anymetal.ir.calls import INTRINSICS
from anymetal.ir.model import Instr, Program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.ir.types import FLOAT
from anymetal.runtime.arrays import BufferExtent
from anymetal.targets.cpu.assemble import optimised
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant
from tests.compiling import vector_ir

Bytes = npt.NDArray[np.uint8]


def ir_text(body: str, args: str = "ptr %a, ptr %out", top: str = "") -> str:
    """A module with the kernel around `body` (the lines of its blocks), as LLVM prints it."""
    declared = [_declaration(name) for name in dict.fromkeys(re.findall(r"@(\w+)\(", body))]
    lines = [line.strip() for line in body.strip().split("\n")]
    if not lines[0].endswith(":"):
        lines.insert(0, "entry:")
    text = "\n".join([dedent(top), f"define void @__am_kernel({args}) {{", *lines, "}", *declared])
    # A context of its own: else types of the same name would be renamed.
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return str(module)


def _declaration(name: str) -> str:
    """Of a function that is called; LLVM knows its own."""
    result, parameters = INTRINSICS.get(name, (FLOAT, (FLOAT,)))
    return f"declare {result} @{name}({', '.join(map(str, parameters))})"


def program(body: str, args: str = "ptr %a, ptr %out", top: str = "") -> Program:
    """The program that the reader makes of it; it follows the rules."""
    result = read_program(ir_text(body, args, top))
    check(result, Stage.READ)
    return result


def named(program: Program, name: str) -> Instr:
    """The instruction with this name."""
    return next(i for i in program.instructions() if i.name == f"%{name}")


def ops(program: Program) -> list[str]:
    """The operations in the order of the text."""
    return [i.op for i in program.instructions()]


# ------------------------------------------------------------------------------------- running


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("group", ctypes.c_uint32 * 3),
        ("groups", ctypes.c_uint32 * 3),
        ("reserved", ctypes.c_uint32),
        ("cancel", ctypes.c_void_p),
    )


class _Worker(ctypes.Structure):
    _fields_ = (
        ("threadgroup", ctypes.c_void_p),
        ("frame", ctypes.c_void_p),
        ("locks", ctypes.c_void_p),
    )


# LLVM calls this function on processors that cannot round to bfloat; nothing here is linked to one.
_TO_BFLOAT = """
define bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %bias = add i32 %odd, 32767
  %rounded = add i32 %bits, %bias
  %nan = fcmp uno float %x, %x
  %quiet = or i32 %bits, 4194304
  %chosen = select i1 %nan, i32 %quiet, i32 %rounded
  %upper = lshr i32 %chosen, 16
  %word = trunc i32 %upper to i16
  %result = bitcast i16 %word to bfloat
  ret bfloat %result
}
"""


def run_text(text: str, buffers: list[Bytes]) -> None:
    """Calls `__am_kernel` of an LLVM module as it is: one thread, nothing of ours."""
    module = llvm.parse_assembly(text)
    if "bfloat" in text:
        module.link_in(llvm.parse_assembly(_TO_BFLOAT))
    _call(module, "__am_kernel", [b.ctypes.data for b in buffers])


def run_program(
    program: Program, buffers: list[Bytes], width: int = 1, threads: int = 1, grid: int = 0
) -> None:
    """Compiles the program with our code generator, and runs one threadgroup of it, which may lead
    beyond the grid."""
    full, partial = threads >= width, threads % width > 0
    variant = Variant(
        flat=True, linear=True, aligned=False, full=full, partial=partial, single=True, width=width,
        padded="x" if grid else "",
    )  # fmt: skip
    machine = machine_for("")
    module = llvm.parse_assembly(optimised(vector_ir(program, variant, machine), machine))
    extents = (BufferExtent * len(buffers))(*((0, b.nbytes) for b in buffers))
    addresses = [*(b.ctypes.data for b in buffers), ctypes.addressof(extents), 0]
    pointers = (ctypes.c_void_p * len(addresses))(*addresses)
    cancel = ctypes.c_int32(0)
    three = ctypes.c_uint32 * 3
    launch = _Launch(three(grid or threads, 1, 1), three(threads, 1, 1), three(1, 1, 1), 0)
    launch.cancel = ctypes.addressof(cancel)
    scratch = np.zeros(32768 + 64, np.uint8)
    worker = _Worker(-(-scratch.ctypes.data // 64) * 64)
    first, last = 0, 1
    described = [ctypes.addressof(pointers), ctypes.addressof(launch)]
    _call(module, "am_entry", [*described, first, last, ctypes.addressof(worker)])


def _call(module: llvm.ModuleRef, function: str, arguments: list[int]) -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    with llvm.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        address = engine.get_function_address(function)
        ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * len(arguments))(address)(*arguments)
