"""What a target says about the code of one thread: everything that plain LLVM IR has no words for.

A target writes one class, its lowering table; emitter.py writes all other lines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from anymetal.emission import narrow_floats
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Block, Global, Instr, Program
from anymetal.ir.problem import Problem


def large_angle(w: Writer, names: list[str]) -> str:
    """A call of our own C++ (targets/large_angles.h), which a target links in; operands as of
    `calls.LARGE_ANGLE`."""
    return w.call("i64", "am_large_angle", list(zip(("float", "i64", "i64"), names, strict=True)))


class Lowering(ABC):
    """The lowering table of a target, for one function that runs one thread.

    Methods append lines to `w` and return the names of values. A target must define the abstract
    ones; the others are right for a thread of the host.
    """

    #: The scope of atomic operations in LLVM's words, such as 'syncscope("agent")'. Metal's are all
    #: relaxed.
    scope = ""
    #: LLVM's number of each address space that is not 0, the generic one, such as {"device": 1}.
    spaces: Mapping[str, int] = {}
    #: What stands in front of and behind the function's head, each with a space at its end.
    linkage, attributes = "", ""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.w = Writer(1)

    # -- the function ---------------------------------------------------------------------

    @abstractmethod
    def parameters(self) -> list[str]:
        """The parameters of the function, such as "ptr %x"."""

    @abstractmethod
    def buffer(self, argument: Argument) -> str:
        """The address of a buffer, in the address space of the argument's type."""

    def function(self, name: str, entry: str, body: str, end: str = "") -> str:
        """The definition. `entry` runs first and has the allocas; `body` begins inside a block
        named `begin` and leads to `function.end`, where `end` runs."""
        head = f"{self.linkage}void @{name}({', '.join(self.parameters())}) {self.attributes}"
        return (
            f"define {head}{{\nstart:\n{entry}\n"
            f"  br label %begin\nbegin:\n{body}\n"
            f"function.end:\n{end}  ret void\n}}\n"
        )

    def mark(self, instr: Instr) -> str:
        """What to append to the lines of an instruction, such as the place that it comes from."""
        return ""

    def repeats(self, source: Block, target: Block) -> str:
        """For a back edge, a condition under which the thread ends here because the launch is
        stopped; empty if there is none."""
        return ""

    # -- memory ---------------------------------------------------------------------------

    def threadgroup_variable(self, variable: Global, offset: int) -> str:
        """The address of a variable in threadgroup memory, which the parameter `%threadgroup`
        points to; `offset` is its place there."""
        address = f"%{self.w.fresh('shared')}"
        whole = f"{self.spelled(variable.type)} %threadgroup"
        line = f"  {address} = getelementptr i8, {whole}, i64 {offset}"
        self.w.entry_lines.append(line)
        return address

    def private_array(self, instr: Instr) -> str:
        """The address of an array of the thread."""
        type_, align = instr.arg
        array = self.w.alloca(f"[{type_.size} x i8]", "private", align)
        return self.converted(array, t.PTR, instr.type, self.w.entry_lines)

    def spelled(self, type_: t.Type) -> str:
        """A type in LLVM's words."""
        space = self.spaces.get(type_.space, 0)
        return f"{type_} addrspace({space})" if space else str(type_)

    def converted(self, name: str, source: t.Type, type_: t.Type, lines: list[str]) -> str:
        """A pointer as one of another type; what that takes is appended to the lines."""
        if self.spelled(source) == self.spelled(type_):
            return name
        result = f"%{self.w.fresh()}"
        cast = f"addrspacecast {self.spelled(source)} {name} to {self.spelled(type_)}"
        lines.append(f"  {result} = {cast}")
        return result

    # -- threads among others -------------------------------------------------------------

    @abstractmethod
    def position(self, name: str) -> str:
        """A position of the thread as i32: `lane`, `gang`, `thread_x` … (see ir/calls.py)."""

    @abstractmethod
    def barrier(self, instr: Instr) -> None:
        """Waits for the other threads of the threadgroup."""

    @abstractmethod
    def cross_lane(self, instr: Instr, names: list[str]) -> str:
        """A call that the threads of a SIMD-group execute together."""

    # -- computing ------------------------------------------------------------------------

    def converts(self, type_: t.Type) -> bool:
        """Whether the processor converts half or bfloat, so that LLVM may compute in it. If not, it
        is computed in float."""
        return False

    def widened(self, type_: t.Type, name: str) -> str:
        """A half or bfloat that is computed in float, as one."""
        return narrow_floats.to_float(narrow_floats.Bits(self.w, 0), type_, name)

    def narrowed(self, type_: t.Type, name: str) -> str:
        """A float rounded to half or bfloat."""
        return narrow_floats.from_float(narrow_floats.Bits(self.w, 0), type_, name)

    def maths(self, instr: Instr, names: list[str]) -> str:
        """A call of a mathematical function, by name or as an intrinsic, that is no instruction."""
        return self.call(instr, names)

    def call(self, instr: Instr, names: list[str]) -> str:
        """The call as it stands. An `fma` that somebody wrote is one rounding in every mode, and
        with flags LLVM may take it apart."""
        flags = "" if instr.arg.startswith("llvm.fma.") else instr.flags
        types = [str(operand.type) for operand in instr.operands]
        return self.w.call(str(instr.type), instr.arg, list(zip(types, names, strict=True)), flags)

    # -- what kernels say -----------------------------------------------------------------

    @abstractmethod
    def log(self, instr: Instr, names: list[str]) -> None:
        """Prints a record of os_log."""

    @abstractmethod
    def stray(self, instr: Instr, names: list[str]) -> None:
        """Notes an access outside of its array; operands as of `calls.STRAY`, the first is true."""

    def trace(self, instr: Instr, names: list[str]) -> None:
        """Keeps what a thread tells of itself; operands as of `calls.TRACE`."""
        raise Problem(f"a target that keeps no traces: {instr.arg}")

    def event(self, instr: Instr, names: list[str]) -> None:
        """Tells whoever watches a sanitized build of one of `calls.EVENTS`."""
        raise Problem(f"a target that tells of nothing: {instr.arg}")
