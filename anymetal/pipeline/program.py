"""From Metal text to the thread program: the part of the compiler that all targets share."""

from __future__ import annotations

import re
from collections.abc import Collection

from anymetal.analysis.cache import Analyses
from anymetal.errors import KernelLoadError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.known import Known, limits_of
from anymetal.frontend.optimise import optimise, unrolled
from anymetal.frontend.profile import ANY_PROFILE, Profile
from anymetal.ir import types as t
from anymetal.ir.calls import plain_name
from anymetal.ir.model import Program, Value
from anymetal.ir.reader import read_program
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP, THREADGROUP_LIMIT
from anymetal.ir.spec import Stage
from anymetal.ir.tokens import plain
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from anymetal.pipeline.unrolling import with_hints, with_steps
from anymetal.source import KernelSource, LibrarySource

#: Bytes of a thread's arrays: those of a threadgroup's 1024 threads take 1 GiB.
PRIVATE_LIMIT = 1 << 20


def thread_program(
    source: KernelSource,
    large: int = 0,
    stages: Stages | None = None,
    raw: str | None = None,
    without: Collection[str] = (),
    profile: Profile = ANY_PROFILE,
    sanitized: bool = False,
    known: Known | None = None,
    threads: int = MAX_THREADS_PER_THREADGROUP,
) -> Program:
    """The optimised, scalar program of one thread.

    `large`: how many times 2^31 bytes the largest array may have; `raw`: Clang's output, if it is
    there already; `without`: passes that are switched off; `sanitized`: with markers of what it
    does (frontend/observed.py); `known`: what is known of its launches (frontend/known.py);
    `threads`: of a threadgroup, at most.
    """
    stages = stages or Stages()
    if raw is None:
        with stages.stage("front end"):
            raw = compile_to_ir(source, profile)
    text = thread_text(raw, large, stages, profile, sanitized, known, threads)
    return program_of(text, source, stages, without, sanitized, known, threads)


def thread_text(
    raw: str,
    large: int,
    stages: Stages,
    profile: Profile,
    sanitized: bool = False,
    known: Known | None = None,
    threads: int = MAX_THREADS_PER_THREADGROUP,
) -> str:
    """Clang's output, optimised."""
    with stages.stage("optimiser"):
        text = optimise(raw, large, profile, sanitized, known, threads)
        # Versions for known launches are made in the background: no launch waits for longer code.
        hinted = with_hints(text) if profile.unrolls else with_steps(text) if known else None
        if hinted:
            text = unrolled(hinted, profile)
    return text


def program_of(
    text: str,
    source: KernelSource,
    stages: Stages,
    without: Collection[str] = (),
    sanitized: bool = False,
    known: Known | None = None,
    threads: int = MAX_THREADS_PER_THREADGROUP,
) -> Program:
    """The thread program of optimised text, behind the passes that all targets share."""
    with stages.stage("passes"):
        program = read_program(text)
        program.name = source.name
        program.limits = limits_of(known, threads)
        for argument, parameter in zip(program.args, source.parameters, strict=True):
            argument.describes = parameter.kind not in ("input", "output")
            argument.output = parameter.kind == "output"
            constant = "constant" in parameter.declaration.split()
            argument.space = t.CONSTANT if constant else t.DEVICE
        if isinstance(source, LibrarySource):  # whose buffers have numbers for names
            program.shared_buffers = not (known and known.apart)
            for argument, parameter in zip(program.args, source.parameters, strict=True):
                argument.name = f"%{parameter.name}"
        for argument in program.args:  # MLX gives each output memory of its own
            argument.apart = argument.output and not program.shared_buffers
        stages.passed("read", program, Stage.READ, True)
        run(thread.PASSES, Compilation(Analyses(program), stages, without, sanitized=sanitized))
    if program.private_bytes > PRIVATE_LIMIT:
        raise KernelLoadError(source.entry, _too_much_private_memory(program))
    if program.threadgroup_bytes > THREADGROUP_LIMIT:  # the text is Metal's own
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
