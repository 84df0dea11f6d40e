"""The lowering table for NVIDIA GPUs: one thread of a kernel as LLVM IR that becomes PTX.

A launch has blocks of the dispatched threadgroup size, at the edge of the grid, too, where Metal
has smaller threadgroups. There the first threads of a block, in the order of the hardware, are
those of the smaller threadgroup, numbered by its own extents; the others end at once. So lanes and
SIMD-groups are the hardware's, and only the last warp of a threadgroup may lack lanes.
"""

from __future__ import annotations

from collections.abc import Collection

from anymetal.emission.lowering import Lowering
from anymetal.emission.marks import Marks
from anymetal.errors import UnsupportedFeatureError
from anymetal.ir import types as t
from anymetal.ir.calls import libm_name, plain_name
from anymetal.ir.model import Argument, Global, Instr, Program
from anymetal.targets.cuda import maths
from anymetal.targets.cuda.collective import Collective
from anymetal.targets.cuda.names import Form

_AXES = "xyz"
#: Where the thread stands in a threadgroup of any size. `%fits`: rows are those of a whole block,
#: so the hardware's own positions are right; else they follow from the number of the thread.
_ANYWHERE = """\
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
#: The number of a thread in its block.
_NUMBER = """\
  %rows = mul i32 %tid.z, %ntid.y
  %row = add i32 %rows, %tid.y
  %before = mul i32 %row, %ntid.x
  %thread = add i32 %before, %tid.x
"""
#: Ends the threads that the threadgroup does not have.
_EXISTS = """\
  %past = icmp uge i32 %thread, %threads
  br i1 %past, label %past.end, label %exists
past.end:
  call void @llvm.nvvm.exit()
  unreachable
exists:
"""
#: Which lanes the SIMD-group has.
_EXISTING = """\
  %first = sub i32 %thread, %lane
  %rest = sub i32 %threads, %first
  %whole = icmp uge i32 %rest, 32
  %rest.bits = and i32 %rest, 31
  %bit = shl i32 1, %rest.bits
  %partial = sub i32 %bit, 1
  %existing = select i1 %whole, i32 -1, i32 %partial
"""
_LANE = """\
  %lane = and i32 %thread, 31
  %gang = lshr i32 %thread, 5
"""
#: Positions in a launch whose blocks and threads are numbered in x alone.
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

    `form`: what is known of the launch; the code is for as many registers as its blocks may have.
    With `written_last`, buffers that the kernel writes to stand behind the others, and behind them
    one that it does not know; with `in_a_row` the extents of a block stand behind the grid, as
    `i32`. `unwritten`: buffers into which nobody writes while the kernel runs. `together`: the
    threads of a SIMD-group come together to what they do together.
    """

    linkage, scope = "ptx_kernel ", 'syncscope("device")'

    def __init__(
        self,
        program: Program,
        entry: str,
        form: Form,
        unwritten: Collection[Argument] = (),
        together: bool = False,
        marks: Marks | None = None,
    ) -> None:
        super().__init__(program)
        self.entry = entry
        self.form, self.unwritten, self.together = form, unwritten, together
        self.marks = marks
        self.spaces = {t.DEVICE: 1, t.CONSTANT: 1, t.THREADGROUP: 3, t.THREAD: 5}
        self.attributes = (
            f'"nvvm.maxntid"="{form.threads}" "denormal-fp-math-f32"="preserve-sign,preserve-sign" '
        )
        self.collective = Collective(self.w, form.whole)
        self.active = "true"  #: whether the thread takes part in what is written next

    def mark(self, instr: Instr) -> str:
        return self.marks.text(self.entry, instr) if self.marks else ""

    # -- the function ---------------------------------------------------------------------

    def parameters(self) -> list[str]:
        args = self.program.args
        if self.form.written_last:
            args = sorted(args, key=lambda argument: argument.output)
        parameters = [self._parameter(argument) for argument in args]
        parameters += ["ptr addrspace(1) %unknown"] if self.form.written_last else []
        extents = ["grid", "ntid"] if self.form.in_a_row else ["grid"]
        return parameters + [f"i32 %{what}.{axis}" for what in extents for axis in _AXES]

    def _parameter(self, argument: Argument) -> str:
        """`noalias readonly` lets loads go by way of the cache for what nobody writes."""
        attributes = "noalias readonly " if argument in self.unwritten else ""
        attributes += "align 16 " if self.form.aligned else ""
        return f"{self.spelled(argument.type)} {attributes}%buffer.{argument.index}"

    def buffer(self, argument: Argument) -> str:
        return f"%buffer.{argument.index}"

    def function(self, name: str, entry: str, body: str, end: str = "") -> str:
        return super().function(name, f"{entry}\n{self._entry()}", body, end)

    def _entry(self) -> str:
        """Finds out where the thread stands; `position` has the names."""
        flat, axes = self.form.flat, "x" if self.form.flat else _AXES
        parts = [self._registers(axes), "  %thread = add i32 %tid.x, 0\n" if flat else _NUMBER]
        if not self.form.whole:
            parts += [self._size(axis) for axis in axes]
            extents = [f"%size.{axis}" for axis in axes]
            parts += [self._product("threads", extents), _EXISTS, _LANE, _EXISTING]
            parts += [] if flat else [_ANYWHERE]
            self._declare("void", "llvm.nvvm.exit")
        else:
            parts.append(_LANE)
        return "".join(parts)

    def _registers(self, axes: str) -> str:
        if self.form.in_a_row:
            for register in ("tid", "ctaid"):
                self._declare("i32", f"llvm.nvvm.read.ptx.sreg.{register}.x")
            return _IN_A_ROW
        lines = [self._register(r, axis) for axis in axes for r in ("tid", "ntid", "ctaid")]
        return "\n".join(lines) + "\n"

    def _register(self, register: str, axis: str) -> str:
        name = f"llvm.nvvm.read.ptx.sreg.{register}.{axis}"
        self._declare("i32", name)
        return f"  %{register}.{axis} = call i32 @{name}()"

    def _declare(self, result: str, name: str) -> None:
        self.w.declarations[name] = f"declare {result} @{name}()"

    def _size(self, axis: str) -> str:
        """The extent of this threadgroup."""
        minimum = "llvm.umin.i32"
        self.w.declarations[minimum] = f"declare i32 @{minimum}(i32, i32)"
        return (
            f"  %begin.{axis} = mul i32 %ctaid.{axis}, %ntid.{axis}\n"
            f"  %left.{axis} = sub i32 %grid.{axis}, %begin.{axis}\n"
            f"  %size.{axis} = call i32 @{minimum}(i32 %left.{axis}, i32 %ntid.{axis})\n"
        )

    @staticmethod
    def _product(name: str, factors: list[str]) -> str:
        lines, product = [], factors[0]
        for number, factor in enumerate(factors[1:]):
            lines.append(f"  %{name}.{number} = mul i32 {product}, {factor}\n")
            product = f"%{name}.{number}"
        return "".join([*lines, f"  %{name} = add i32 {product}, 0\n"])

    # -- memory ---------------------------------------------------------------------------

    def threadgroup_variable(self, variable: Global, offset: int) -> str:
        size = self.program.threadgroup_bytes
        memory = f"@memory = internal addrspace(3) global [{size} x i8] poison, align 16"
        self.w.declarations["memory"] = memory
        return f"getelementptr (i8, ptr addrspace(3) @memory, i64 {offset})"

    # -- threads among others -------------------------------------------------------------

    def position(self, name: str) -> str:
        what, _, axis = name.rpartition("_")
        if not what:
            return f"%{name}"
        if axis != "x" and self.form.flat:
            return "0" if what in ("thread", "group") else "1"
        words = {"group": "ctaid", "full_size": "ntid"}
        if self.form.whole:
            words |= {"thread": "tid", "size": "ntid"}
        elif what == "thread" and self.form.flat:
            return "%tid.x"
        return f"%{words.get(what, what)}.{axis}"

    def barrier(self, instr: Instr) -> None:
        """Threads that have ended are not waited for. In PTX the aligned form may only stand where
        all threads of the warp come by."""
        aligned = ".aligned" if self.together and self.form.whole else ""
        self.w.call("void", f"llvm.nvvm.barrier.cta.sync{aligned}.all", [("i32", "0")])

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
