"""The scalar build: gangs of one lane, which run the plain LLVM IR of one thread.

It is the reference for the vectorized build, with which it shares neither masks nor shapes. Each
thread is a gang, whose number is `%gang`. Threads that wait for each other are coroutines: at
barriers as gangs do, and in cross-lane calls with a scheduler (rendezvous.py).
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.regions import regions
from anymetal.emission.emitter import emit
from anymetal.emission.lowering import Lowering
from anymetal.ir import types as t
from anymetal.ir.calls import BARRIER, is_cross_lane
from anymetal.ir.model import Argument, Block, Instr
from anymetal.pipeline.driver import run
from anymetal.simd.code.coroutine import coroutine, wait
from anymetal.simd.code.line_table import LineTable
from anymetal.simd.code.values import buffer_name
from anymetal.simd.emit import events, runtime_calls
from anymetal.simd.emit.positions import CONTEXT
from anymetal.simd.emit.private_memory import allocate, in_waiting_loops
from anymetal.simd.emit.runtime_calls import KERNEL_NAME, NOTE, NOTED_CONTEXT, PRINTER, TRACER
from anymetal.targets.cpu.entry import entry_function
from anymetal.targets.cpu.module import module_text
from anymetal.targets.cpu.pipeline import PASSES, GangCompilation
from anymetal.targets.cpu.rendezvous import DECLARATION, Rendezvous

#: What runs one thread.
FUNCTION = "gang.full"


class ScalarThread(Lowering):
    """The lowering table: how one thread uses the CPU target's entry and runtime."""

    linkage, attributes = "internal ", "alwaysinline #0 "

    def __init__(
        self, known: Analyses, *, suspends: bool, meets: bool, lines: LineTable | None = None
    ) -> None:
        super().__init__(known.program)
        self.lines = lines
        self.machine, self.suspends = known.machine, suspends
        self.rendezvous = Rendezvous(self.w, known(regions)) if meets else None
        at_once = 1 if suspends else 0
        lasting = in_waiting_loops(known, _waits) if suspends else set()
        self.arrays = allocate(self.w, known, at_once, lasting)

    # -- the function ---------------------------------------------------------------------

    def parameters(self) -> list[str]:
        return [f"ptr {buffer_name(a)}" for a in self.program.args] + CONTEXT

    def mark(self, instr: Instr) -> str:
        return self.lines.text(FUNCTION, instr) if self.lines else ""

    def buffer(self, argument: Argument) -> str:
        return buffer_name(argument)

    def function(self, name: str, entry: str, body: str, end: str = "") -> str:
        watched = events.begin(self.program, self.w)
        entry, end = "\n".join([entry, *watched]), events.END if watched else ""
        if not self.suspends:
            return super().function(name, entry, body, end)
        promise = self.rendezvous.record if self.rendezvous else "null"
        return coroutine(name, ", ".join(self.parameters()), entry, body, promise, end)

    def repeats(self, source: Block, target: Block) -> str:
        if self.rendezvous:
            self.rendezvous.next_iteration(target)
        flag = self.w.value("load volatile i32, ptr %cancel")
        return self.w.value(f"icmp ne i32 {flag}, 0")

    def private_array(self, instr: Instr) -> str:
        return self.arrays[instr]

    # -- threads among others -------------------------------------------------------------

    def position(self, name: str) -> str:
        w = self.w
        if name == "lane":
            return w.value("and i32 %gang, 31")
        if name == "gang":
            return w.value("lshr i32 %gang, 5")
        if not name.startswith("thread_"):
            return f"%{name}"
        if name == "thread_x":
            return w.value("urem i32 %gang, %size_x")
        row = w.value("udiv i32 %gang, %size_x")
        return w.value(f"{'urem' if name == 'thread_y' else 'udiv'} i32 {row}, %size_y")

    def barrier(self, instr: Instr) -> None:
        if self.suspends:
            wait(self.w)
        else:
            self.w.forget_loads()

    def cross_lane(self, instr: Instr, names: list[str]) -> str:
        assert self.rendezvous
        return self.rendezvous.emit(instr, names)

    # -- computing ------------------------------------------------------------------------

    def converts(self, type_: t.Type) -> bool:
        return type_ == t.HALF and self.machine.converts(type_)

    def maths(self, instr: Instr, names: list[str]) -> str:
        """Flushes subnormal arguments to zero, as arithmetic does: the C library reads their bits,
        then scales them by a multiplication, which flushes them."""
        names = [
            self.w.call("float", "llvm.canonicalize.f32", [("float", name)])
            if operand.type == t.FLOAT
            else name
            for operand, name in zip(instr.operands, names, strict=True)
        ]
        return self.call(instr, names)

    # -- what kernels say -----------------------------------------------------------------

    def log(self, instr: Instr, names: list[str]) -> None:
        records = runtime_calls.stored(self.w, "ptr", names[0])
        args = [("ptr", KERNEL_NAME), ("ptr", records), ("i32", "1"), ("ptr", "%cancel")]
        runtime_calls.call(self.w, PRINTER, args)

    def stray(self, instr: Instr, names: list[str]) -> None:
        _, position, owner, site, record = names
        pairs = (("i64", position), ("i32", owner))
        places = [("ptr", runtime_calls.stored(self.w, *pair)) for pair in pairs]
        numbers = [("i32", site), ("i32", "1"), ("i32", "1")]  # one lane of one, which is active
        runtime_calls.call(self.w, NOTE, [("ptr", record), *numbers, *places, *NOTED_CONTEXT])

    def trace(self, instr: Instr, names: list[str]) -> None:
        operands = zip(("i32", "i32", "i64"), names, strict=True)
        runtime_calls.call(self.w, TRACER, [*operands, *NOTED_CONTEXT])

    def event(self, instr: Instr, names: list[str]) -> None:
        events.of_thread(self.w, instr, names)


def _waits(callee: str) -> bool:
    """Whether a thread waits for others in a call."""
    return callee == BARRIER or is_cross_lane(callee)


def scalar_ir(c: GangCompilation) -> str:
    """LLVM IR of the module for one class of launches, before LLVM's optimisation."""
    with c.stages.stage("emitter"):
        run(PASSES, c)
        program, known = c.program, c.known
        calls = {i.arg for i in program.instructions() if i.op == "call"}
        meets = any(map(is_cross_lane, calls))
        suspends = meets or (BARRIER in calls and not c.alone)
        if c.lines:
            c.lines.apart = suspends
        thread = ScalarThread(known, suspends=suspends, meets=meets, lines=c.lines)
        function = emit(program, FUNCTION, thread)
        entry = entry_function(c, suspends, meets)
        declarations = dict(thread.w.declarations)
        if meets:
            declarations["am_rendezvous"] = DECLARATION
        text = module_text(known, declarations, [function, entry], suspends=suspends)
        return c.lines.declared(text) if c.lines else text
