"""From a kernel's Metal text to an object file for the CPU."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from anymetal.analysis.cache import Analyses
from anymetal.analysis.must_store import certain_stores
from anymetal.analysis.order_dependence import depends_on_order
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
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, Pass, run
from anymetal.pipeline.stages import Stages
from anymetal.runtime import turns
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.cpu import pipeline as gang
from anymetal.targets.cpu.assemble import assemble
from anymetal.targets.cpu.machine import machine_for
from anymetal.targets.cpu.module import vector_ir
from anymetal.targets.cpu.pipeline import GangCompilation
from anymetal.targets.cpu.scalar import scalar_ir
from anymetal.targets.cpu.stages import GangStages
from anymetal.targets.cpu.variant import Variant

#: Metal's limit; the text of the error is Metal's own.
THREADGROUP_LIMIT = 32768
#: Bytes of a thread's arrays: 1 GiB for each processor, if 1024 threads meet at barriers.
PRIVATE_LIMIT = 1 << 20


def compile_kernel(
    source: KernelSource, variant: Variant, stages: GangStages | None = None, raw: str | None = None
) -> bytes:
    """An object file that exports `am_entry`, and as `am_notes` what the launch has to know of it:
    its certain stores (certain.py), or, of a checked build, what it asks (checked.py); `am_order`
    says whether the order of threadgroups counts (ordered.py). `stages` is told how things go.
    `raw` is what Clang makes of the kernel, if it was asked before.

    Raises MetalCompileError for errors in the Metal text, KernelLoadError for too much threadgroup
    memory, UnsupportedFeatureError for what the CPU target lacks, CompilerError for our defects,
    ValueError for names of passes that there are not.
    """
    stages = stages or GangStages()
    check_names(variant.without, stages.wanted.passes)
    try:
        with turns.llvm:
            machine = machine_for(variant.cpu)
        program = thread_program(source, variant.large, stages, raw, variant.without)
        stages.made("thread program", lambda: print_program(program))
        order = _constant("am_order", "counts" if depends_on_order(program) else "")
        c = GangCompilation(program, variant, machine.enabled, stages)
        if not variant.checked:
            c.notes = certain_stores(program)
        text = scalar_ir(c, machine) if variant.width == 1 else vector_ir(c, machine)
        text += _constant("am_notes", c.notes) + order
        return assemble(text, machine, stages)
    except Problem as problem:
        raise CompilerError(source.name, str(problem)) from problem


def check_names(off: Collection[str], shown: Collection[str]) -> None:
    """Raises ValueError for names of passes that there are not, or that are no optimisations."""
    passes: list[Pass[Any]] = [*thread.PASSES, *gang.PASSES]
    every = {one.name for one in passes}
    for variable, names, known in (
        ("ANYMETAL_PASSES", off, {one.name for one in passes if one.optional}),
        ("ANYMETAL_DEBUG", shown, every),
    ):
        if wrong := min(set(names) - known, default=""):
            there = ", ".join(sorted(known))
            if wrong in every:
                raise ValueError(
                    f"{variable}: no kernel runs without {wrong!r}, but without {there}"
                )
            raise ValueError(f"{variable}: there is no pass {wrong!r}, but {there}")


def thread_program(
    source: KernelSource,
    large: int = 0,
    stages: Stages | None = None,
    raw: str | None = None,
    without: Collection[str] = (),
) -> Program:
    """The optimised, scalar program of one thread.

    `large`: how many times 2^31 bytes an array may have; `raw`: what Clang makes of the kernel, if
    it was asked before; `without`: passes that are switched off.
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
        stages.passed("read", program, Stage.READ, True)
        run(thread.PASSES, Compilation(Analyses(program), stages, without))
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


def _constant(name: str, text: str) -> str:
    """An exported pointer to a text."""
    data = text.replace("\\", "\\5C").replace('"', "\\22") + "\\00"
    size = len(text) + 1
    return (
        f'@{name}.text = private unnamed_addr constant [{size} x i8] c"{data}"\n'
        f"@{name} = constant ptr @{name}.text\n"
    )
