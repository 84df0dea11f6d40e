"""The lowering table for NVIDIA GPUs: one thread of a kernel as LLVM IR that becomes PTX.

A launch has blocks of the dispatched threadgroup size, at the edge of the grid, too, where Metal
has smaller threadgroups. There the first threads of a block, in the order of the hardware, are
those of the smaller threadgroup, numbered by its own extents; the others end at once. So lanes and
SIMD-groups are the hardware's, and only the last warp of a threadgroup may lack lanes.
"""

from __future__ import annotations

from collections.abc import Collection

from anymetal.emission.lowering import Lowering
from anymetal.errors import UnsupportedFeatureError
from anymetal.ir import types as t
from anymetal.ir.calls import libm_name, plain_name
from anymetal.ir.model import Argument, Global, Instr, Program
from anymetal.targets.cuda import maths
from anymetal.targets.cuda.collective import Collective

_AXES = "xyz"
#: Where the thread stands. `%fits`: rows are those of a whole block, so the hardware's own
#: positions are right; else they follow from the number of the thread.
_ENTRY = """\
  %rows = mul i32 %tid.z, %ntid.y
  %row = add i32 %rows, %tid.y
  %before = mul i32 %row, %ntid.x
  %thread = add i32 %before, %tid.x
  %lane = and i32 %thread, 31
  %gang = lshr i32 %thread, 5
  %plane = mul i32 %size.x, %size.y
  %threads = mul i32 %plane, %size.z
  %past = icmp uge i32 %thread, %threads
  br i1 %past, label %past.end, label %exists
past.end:
  call void @llvm.nvvm.exit()
  unreachable
exists:
  %first = sub i32 %thread, %lane
  %rest = sub i32 %threads, %first
  %whole = icmp uge i32 %rest, 32
  %rest.bits = and i32 %rest, 31
  %bit = shl i32 1, %rest.bits
  %partial = sub i32 %bit, 1
  %existing = select i1 %whole, i32 -1, i32 %partial
  %fits.x = icmp eq i32 %size.x, %ntid.x
  %fits.y = icmp eq i32 %size.y, %ntid.y
  %fits = and i1 %fits.x, %fits.y
  br i1 %fits, label %placed, label %edge
edge:
  %edge.x = urem i32 %thread, %size.x
  %edge.row = udiv i32 %thread, %size.x
  %edge.y = urem i32 %edge.row, %size.y
  %edge.z = udiv i32 %edge.row, %size.y
  br label %placed
placed:
  %thread.x = phi i32 [ %tid.x, %exists ], [ %edge.x, %edge ]
  %thread.y = phi i32 [ %tid.y, %exists ], [ %edge.y, %edge ]
  %thread.z = phi i32 [ %tid.z, %exists ], [ %edge.z, %edge ]
"""


#: The same of a launch whose blocks and threads are numbered in x alone.
_IN_A_ROW = """\
  %at = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group.at = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %tid.x = urem i32 %at, %ntid.x
  %at.row = udiv i32 %at, %ntid.x
  %tid.y = urem i32 %at.row, %ntid.y
  %tid.z = udiv i32 %at.row, %ntid.y
  %last.x = add i32 %grid.x, %ntid.x
  %more.x = sub i32 %last.x, 1
  %groups.x = udiv i32 %more.x, %ntid.x
  %last.y = add i32 %grid.y, %ntid.y
  %more.y = sub i32 %last.y, 1
  %groups.y = udiv i32 %more.y, %ntid.y
  %ctaid.x = urem i32 %group.at, %groups.x
  %group.row = udiv i32 %group.at, %groups.x
  %ctaid.y = urem i32 %group.row, %groups.y
  %ctaid.z = udiv i32 %group.row, %groups.y
"""


class CudaThread(Lowering):
    """A function `(buffers …, i32 grid.x, i32 grid.y, i32 grid.z)`. Atomic operations are those of
    the whole GPU. Flushes subnormal floats to zero, as the CPU target does.

    `threads`: how many threads a block has at most; the code is for as many registers. `unwritten`:
    buffers into which nobody writes while the kernel runs. `written_last`: buffers that the kernel
    writes to stand behind the others, and behind them one that it does not know. `in_a_row`: behind
    the grid stand the extents of a block, as `i32`; the hardware numbers blocks and threads in x.
    """

    linkage, scope = "ptx_kernel ", 'syncscope("device")'

    def __init__(
        self,
        program: Program,
        threads: int,
        unwritten: Collection[Argument] = (),
        written_last: bool = False,
        in_a_row: bool = False,
    ) -> None:
        super().__init__(program)
        self.unwritten, self.written_last, self.in_a_row = unwritten, written_last, in_a_row
        self.spaces = {t.DEVICE: 1, t.CONSTANT: 1, t.THREADGROUP: 3, t.THREAD: 5}
        self.attributes = (
            f'"nvvm.maxntid"="{threads}" "denormal-fp-math-f32"="preserve-sign,preserve-sign" '
        )
        self.collective = Collective(self.w)
        self.active = "true"  #: whether the thread takes part in what is written next

    # -- the function ---------------------------------------------------------------------

    def parameters(self) -> list[str]:
        args = self.program.args
        if self.written_last:
            args = sorted(args, key=lambda argument: argument.output)
        parameters = [self._parameter(argument) for argument in args]
        parameters += ["ptr addrspace(1) %unknown"] if self.written_last else []
        extents = ["grid", "ntid"] if self.in_a_row else ["grid"]
        return parameters + [f"i32 %{what}.{axis}" for what in extents for axis in _AXES]

    def _parameter(self, argument: Argument) -> str:
        """`noalias readonly` lets loads go by way of the cache for what nobody writes."""
        attributes = "noalias readonly " if argument in self.unwritten else ""
        return f"{self.spelled(argument.type)} {attributes}%buffer.{argument.index}"

    def buffer(self, argument: Argument) -> str:
        return f"%buffer.{argument.index}"

    def function(self, name: str, entry: str, body: str, end: str = "") -> str:
        if self.in_a_row:
            for register in ("tid", "ctaid"):
                self._declare("i32", f"llvm.nvvm.read.ptx.sreg.{register}.x")
            registers = [_IN_A_ROW]
        else:
            registers = [
                self._register(register, axis)
                for axis in _AXES
                for register in ("tid", "ntid", "ctaid")
            ]
        sizes = [line for axis in _AXES for line in self._size(axis)]
        self._declare("void", "llvm.nvvm.exit")
        entry = "\n".join([entry, *registers, *sizes, _ENTRY])
        return super().function(name, entry, body, end)

    def _register(self, register: str, axis: str) -> str:
        name = f"llvm.nvvm.read.ptx.sreg.{register}.{axis}"
        self._declare("i32", name)
        return f"  %{register}.{axis} = call i32 @{name}()"

    def _declare(self, result: str, name: str) -> None:
        self.w.declarations[name] = f"declare {result} @{name}()"

    def _size(self, axis: str) -> list[str]:
        """The extent of this threadgroup."""
        minimum = "llvm.umin.i32"
        self.w.declarations[minimum] = f"declare i32 @{minimum}(i32, i32)"
        return [
            f"  %begin.{axis} = mul i32 %ctaid.{axis}, %ntid.{axis}",
            f"  %left.{axis} = sub i32 %grid.{axis}, %begin.{axis}",
            f"  %size.{axis} = call i32 @{minimum}(i32 %left.{axis}, i32 %ntid.{axis})",
        ]

    # -- memory ---------------------------------------------------------------------------

    def threadgroup_variable(self, variable: Global, offset: int) -> str:
        size = self.program.threadgroup_bytes
        memory = f"@memory = internal addrspace(3) global [{size} x i8] poison, align 16"
        self.w.declarations["memory"] = memory
        return f"getelementptr (i8, ptr addrspace(3) @memory, i64 {offset})"

    # -- threads among others -------------------------------------------------------------

    def position(self, name: str) -> str:
        what, _, axis = name.rpartition("_")
        words = {"group": "ctaid", "full_size": "ntid"}
        return f"%{words.get(what, what)}.{axis}" if what else f"%{name}"

    def barrier(self, instr: Instr) -> None:
        """Threads that have ended are not waited for. (In PTX the aligned form may only stand where
        all threads of the warp come by, so this is the other one.)"""
        self.w.call("void", "llvm.nvvm.barrier.cta.sync.all", [("i32", "0")])

    def cross_lane(self, instr: Instr, names: list[str]) -> str:
        return self.collective.emit(instr, names, self.active)

    # -- computing ------------------------------------------------------------------------

    def widened(self, type_: t.Type, name: str) -> str:
        return self.w.value(f"fpext {type_} {name} to float")

    def narrowed(self, type_: t.Type, name: str) -> str:
        return self.w.value(f"fptrunc float {name} to {type_}")

    def maths(self, instr: Instr, names: list[str]) -> str:
        name = libm_name(instr.arg)
        if name not in maths.NAMES:
            raise self._refusal(instr, f"calls {plain_name(instr.arg)}, of which it has no code")
        operands = [("float", name) for name in names]
        return self.w.call("float", f"{maths.PREFIX}{name}", operands)

    # -- what kernels say -----------------------------------------------------------------

    def log(self, instr: Instr, names: list[str]) -> None:
        raise self._refusal(instr, "prints with os_log, and MLX has no way to hand that on")

    def stray(self, instr: Instr, names: list[str]) -> None:
        raise self._refusal(instr, "checks its accesses")

    def _refusal(self, instr: Instr, what: str) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(
            f"{instr.loc or self.program.name}: a kernel for CUDA {what}. Select the CPU target "
            "(ANYMETAL_TARGET=cpu)."
        )
