"""From a kernel's Metal text to an object file for the CPU: the whole pipeline in one place."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from anymetal.errors import CompilerError, KernelLoadError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.optimise import optimise
from anymetal.ir.calls import plain_name
from anymetal.ir.model import Program, Value
from anymetal.ir.printer import print_program
from anymetal.ir.problem import Problem
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage
from anymetal.ir.tokens import plain
from anymetal.passes import (
    ahead,
    checked,
    dce,
    interior,
    late_loads,
    long_turns,
    memory,
    next_gang,
    products,
    rows,
    run_ends,
    scalarize,
    short_runs,
    unroll_jam,
    words,
)
from anymetal.runtime import turns
from anymetal.simd.ahead import bytes_asked_for
from anymetal.simd.analysis import Analysis
from anymetal.simd.certain import certain_stores
from anymetal.simd.coroutine import DECLARATIONS
from anymetal.simd.exclusive import locking
from anymetal.simd.gang import GangFunction
from anymetal.simd.log import LOG, kernel_name
from anymetal.simd.ordered import depends_on_order
from anymetal.simd.regions import BARRIER, RegionTree
from anymetal.simd.shape import Launch, Shapes
from anymetal.simd.values import buffer_name
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.cpu import log, rendezvous, strays, teams
from anymetal.targets.cpu.entry import entry_function
from anymetal.targets.cpu.stages import Stages
from anymetal.targets.cpu.variant import SIMD_GROUP, Variant
from anymetal.targets.cpu.vecmath import VectorLibrary

#: Metal's limit; the text of the error is Metal's own.
THREADGROUP_LIMIT = 32768
#: Bytes of a thread's arrays: 1 GiB for each processor, if 1024 threads meet at barriers.
PRIVATE_LIMIT = 1 << 20
#: Vectors that LLVM moves to the stack lie in whole cache lines only if it is told to align it.
#: LLVM leaves out accesses to null, unless it is an address like any other: there is nothing, and
#: who goes there must hear of it.
#: LLVM's estimate of 1 / sqrt(x) is NaN at 0 and infinity, which no math mode of Metal's has.
_ATTRIBUTES = """\
attributes #0 = { nounwind null_pointer_is_valid "stackrealign" "probe-stack"="inline-asm" \
"min-legal-vector-width"="512" "prefer-vector-width"="512" \
"reciprocal-estimates"="!sqrtf,!vec-sqrtf" }
!0 = !{}
!1 = !{i32 1}
"""
#: What makes stores past the caches visible before anything that follows, where they do not wait.
_FENCES = {"x86_64": "call void @llvm.x86.sse.sfence()"}


class Machine(NamedTuple):
    """A CPU to generate code for."""

    triple: str
    cpu: str
    features: str  #: LLVM's list, "+avx2,-avx512f,…"

    @property
    def enabled(self) -> frozenset[str]:
        return frozenset(f[1:] for f in self.features.split(",") if f.startswith("+"))


def compile_kernel(
    source: KernelSource, variant: Variant, stages: Stages | None = None, raw: str | None = None
) -> bytes:
    """An object file that exports `am_entry`, and as `am_notes` what the launch has to know of it:
    its certain stores (certain.py), or, of a checked build, what it asks (checked.py); `am_order`
    says whether the order of threadgroups counts (ordered.py). `stages` is told how things go.
    `raw` is what Clang makes of the kernel, if it was asked before.

    Raises MetalCompileError for errors in the Metal text, KernelLoadError for too much threadgroup
    memory, UnsupportedFeatureError for what the CPU target lacks, CompilerError for our defects.
    """
    stages = stages or Stages()
    try:
        with turns.llvm:
            machine = machine_for(variant.cpu)
        program = thread_program(source, large=variant.large, stages=stages, raw=raw)
        stages.made("thread program", lambda: print_program(program))
        order = _constant("am_order", "counts" if depends_on_order(program) else "")
        notes = checked.run(program) if variant.checked else certain_stores(program)
        text = vector_ir(program, variant, machine, stages)
        text += _constant("am_notes", notes) + order
        return assemble(text, machine, stages)
    except Problem as problem:
        raise CompilerError(source.name, str(problem)) from problem


#: The passes over the thread program, in order, each with the stage that it leads to.
PASSES: tuple[tuple[Callable[[Program], None], Stage], ...] = (
    (scalarize.run, Stage.SCALAR),
    (memory.run, Stage.SCALAR),
    (late_loads.run, Stage.GUARDED),
    (words.run, Stage.GUARDED),
    (products.run, Stage.GUARDED),
    (dce.run, Stage.GUARDED),
)


def thread_program(
    source: KernelSource,
    large: int = 0,
    check: Callable[[Program, Stage], None] | None = None,
    stages: Stages | None = None,
    raw: str | None = None,
) -> Program:
    """The optimised, scalar program of one thread.

    `large`: how many times 2^31 bytes an array may have; `check` sees the program after each pass
    (ir/spec.py); `raw`: what Clang makes of the kernel, if it was asked before.
    """
    stages = stages or Stages()
    if raw is None:
        with stages.stage("front end"):
            raw = compile_to_ir(source)
    with stages.stage("optimiser"):
        text = optimise(raw, large=large)
    with stages.stage("passes"):
        program = read_program(text)
        program.name = source.name
        for argument, parameter in zip(program.args, source.parameters, strict=True):
            argument.describes = parameter.kind not in ("input", "output")
        if isinstance(source, LibrarySource):  # whose buffers have numbers for names
            program.shared_buffers = True
            for argument, parameter in zip(program.args, source.parameters, strict=True):
                argument.name = f"%{parameter.name}"
        if check:
            check(program, Stage.READ)
        for run, stage in PASSES:
            run(program)
            if check:
                check(program, stage)
    if program.private_bytes > PRIVATE_LIMIT:
        raise KernelLoadError(source.entry, _too_much_private_memory(program))
    if program.threadgroup_bytes > THREADGROUP_LIMIT:
        raise KernelLoadError(
            source.entry,
            f"Threadgroup memory size ({program.threadgroup_bytes}) exceeds the maximum "
            f"threadgroup memory allowed ({THREADGROUP_LIMIT})",
        )
    return program


def _too_much_private_memory(program: Program) -> str:
    largest = max(program.private_arrays, key=lambda i: i.arg[0].size)
    parts: set[Value] = {largest}
    places = []
    for instr in program.instructions():
        if not parts.isdisjoint(instr.operands):
            places += [instr.loc] if instr.loc else []
            parts |= {instr} if instr.op == "gep" else set()
    first = min(places, key=lambda at: (at.line, at.column), default="no line of yours")
    name = plain_name(re.sub(r"(\.\w+)*$", "", plain(largest.name)))
    return (
        f"Private memory size ({program.private_bytes} bytes a thread) exceeds the maximum private "
        f"memory allowed ({PRIVATE_LIMIT}). The largest array is `{name}` "
        f"({largest.arg[0].size} bytes, first used at {first})."
    )


def vector_ir(
    program: Program, variant: Variant, machine: Machine, stages: Stages | None = None
) -> str:
    """LLVM IR of the module for one class of launches, before LLVM's optimisation."""
    stages = stages or Stages()
    with stages.stage("vectorizer"):
        return _vector_ir(program, variant, machine, stages)


def _vector_ir(program: Program, variant: Variant, machine: Machine, stages: Stages) -> str:
    math = VectorLibrary(machine.triple, machine.enabled)
    if variant.rows:
        rows.run(program, variant.rows)
    if variant.width > 1 and not variant.checked:
        unroll_jam.run(program)
    launch = Launch(variant.linear, variant.aligned, variant.flat, whole=not variant.partial)
    runner = _runner_ahead(program, variant, launch)
    in_row = not variant.rows
    tuned = variant.width == SIMD_GROUP and not variant.checked
    if tuned:
        interior.run(program, launch)
    team = teams.form(program, variant.team, in_row, machine.enabled)
    alone = variant.single or (variant.sole and team == variant.team)  # in its threadgroup
    if tuned and not runner:
        steps = next_gang.NEXT_GROUP if alone else teams.steps(in_row, team)
        next_gang.run(program, launch, steps, team)
        short_runs.run(program, launch)
        run_ends.run(program, launch)
        along = {} if alone else {"__am_thread_y": 1}
        long_turns.run(program, launch, [steps, along] if team == 1 else [steps])
    analysis = Analysis(program, launch, variant.width, team)
    suspends = analysis.meets or (program.calls(BARRIER) and not alone)
    marks = stages.marks()
    functions = [
        GangFunction(analysis, name, math, masked=masked, suspends=suspends, marks=marks)
        for name, masked, wanted in (
            ("gang.full", False, variant.full),
            ("gang.partial", True, variant.partial),
        )
        if wanted
    ]
    stages.vectorized(functions)
    asked = 0
    if runner and not suspends and teams.join(runner, team, in_row):
        runs = Analysis(runner, launch, variant.width, team)
        asked = bytes_asked_for(runner, runs.shapes)
        functions.append(GangFunction(runs, "gang.ahead", math, masked=False, suspends=False))
    declarations: dict[str, str] = {
        f"llvm.{name}.i32": f"declare i32 @llvm.{name}.i32(i32, i32)" for name in ("umin", "umax")
    }
    for function in functions:
        declarations.update(function.w.declarations)
    if analysis.sums:
        declarations.update(locking())
    if analysis.streams:
        declarations["llvm.x86.sse.sfence"] = "declare void @llvm.x86.sse.sfence()"
    if suspends:
        declarations["llvm.ptrmask.p0.i64"] = "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"
    entry = entry_function(
        [buffer_name(a) for a in program.args],
        variant.width,
        team,
        full=variant.full,
        partial=variant.partial,
        suspends=suspends,
        meets=analysis.meets,
        streamed=analysis.streamed_bytes // team,
        sums=[(buffer_name(a), sums) for a, sums in analysis.sums.items()],
        fence=_FENCES.get(machine.triple.split("-")[0], ""),
        ahead=asked,
        sole=alone and not suspends and not variant.partial,
        private=analysis.far.bytes,
    )
    text = "\n".join(
        [
            f'target triple = "{machine.triple}"',
            *_tables(program),
            *declarations.values(),
            DECLARATIONS if suspends else "",
            rendezvous.DECLARATION if analysis.meets else "",
            kernel_name(program.name) if program.calls(LOG) else "",
            *(function.text for function in functions),
            entry,
            _ATTRIBUTES,
        ]
    )
    return marks.declared(text) if marks else text


def _runner_ahead(program: Program, variant: Variant, launch: Launch) -> Program | None:
    """The program that runs ahead of this one, if there is one."""
    if variant.width != SIMD_GROUP or variant.partial or variant.checked:
        return None
    shapes = Shapes(program, RegionTree(program.blocks), launch, {}, variant.width)
    small = ahead.slice_of(program, shapes)
    if small:
        interior.run(small, launch)
    return small


def _tables(program: Program) -> list[str]:
    """Constant tables at program scope, with the types that their initialisers name."""
    return program.type_definitions + [
        f"{g.name} = private unnamed_addr constant {g.initializer}, align {g.align}"
        for g in program.globals.values()
        if not g.threadgroup
    ]


def _constant(name: str, text: str) -> str:
    """An exported pointer to a text."""
    data = text.replace("\\", "\\5C").replace('"', "\\22") + "\\00"
    size = len(text) + 1
    return (
        f'@{name}.text = private unnamed_addr constant [{size} x i8] c"{data}"\n'
        f"@{name} = constant ptr @{name}.text\n"
    )


def assemble(text: str, machine: Machine, stages: Stages | None = None) -> bytes:
    """Optimise a module and generate code for `machine`."""
    with turns.llvm:
        return _assembled(text, machine, stages or Stages())


def _assembled(text: str, machine: Machine, stages: Stages) -> bytes:
    with stages.stage("LLVM O3"):
        try:
            module = optimised(text, machine)
        except Problem:
            stages.made("vector IR that LLVM refuses", lambda: text)
            raise
    stages.made("vector IR", lambda: str(module))
    stages.made("assembly", lambda: _listing(module, machine, comments=True))
    with stages.stage("code generation"):
        return bytes(_target_machine(machine).emit_object(module))


def _listing(module: Any, machine: Machine, comments: bool) -> str:
    """Assembly text, perhaps with LLVM's comments on loops and spills."""
    target = _target_machine(machine)
    target.set_asm_verbosity(comments)
    return str(target.emit_assembly(module.clone()))


def optimised(text: str, machine: Machine) -> Any:
    """The module after LLVM's O3 pipeline, which also splits the coroutines."""
    try:
        module = llvm.parse_assembly(text)
        rendezvous.link_scheduler(module)
        log.link_printer(module)
        strays.link_notes(module)
        module.verify()
    except RuntimeError as error:
        raise Problem(f"generated code is invalid: {error}") from error
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(_target_machine(machine), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def assembly(text: str, machine: Machine) -> str:
    """Assembly text of a module, for people."""
    with turns.llvm:
        return _listing(optimised(text, machine), machine, comments=False)


@functools.cache
def machine_for(cpu: str) -> Machine:
    """This machine, or (by LLVM's name of a CPU) one with its features and no others.

    "aarch64" is any 64-bit ARM, wherever this runs: its code can be looked at here, too.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = llvm.get_process_triple()
    if not cpu:
        return Machine(triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    if cpu == "aarch64":
        return Machine("aarch64-unknown-linux-gnu", "generic", "+neon,+fp-armv8")
    return Machine(triple, cpu, _LEVELS.get(cpu, ""))


#: Features of x86-64's levels that decide how we generate code.
_LEVELS = {
    "x86-64-v2": "+cx16,+sse4.2,+ssse3,+popcnt",
    "x86-64-v3": "+cx16,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt",
    "x86-64-v4": "+cx16,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+avx2,+fma,+f16c",
}


@functools.cache
def _target_machine(machine: Machine) -> Any:
    target = llvm.Target.from_triple(machine.triple)
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="default"
    )
