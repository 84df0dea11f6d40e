"""From a kernel's Metal text to a shared library for the CPU."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from anymetal.analysis.flops import flops
from anymetal.analysis.must_store import stored
from anymetal.analysis.order_dependence import depends_on_order
from anymetal.errors import CompilerError
from anymetal.frontend.clang import compile_to_ir
from anymetal.ir.calls import TRACE
from anymetal.ir.printer import print_program
from anymetal.ir.problem import Problem
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Pass
from anymetal.runtime import locks, zig
from anymetal.runtime.texts import keep
from anymetal.source import KernelSource
from anymetal.targets.cpu import pipeline as gang
from anymetal.targets.cpu.assemble import assemble
from anymetal.targets.cpu.class_choice import chosen, thread_program, with_gang_width
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.module import vector_ir
from anymetal.targets.cpu.pipeline import GangCompilation
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.scalar import scalar_ir
from anymetal.targets.cpu.support import OBSERVED, TRACED
from anymetal.targets.cpu.user_texts import line_table, texts_of
from anymetal.targets.cpu.variant import Variant


def compile_kernel(
    source: KernelSource,
    variant: Variant,
    stages: GangStages | None = None,
    raw: str | None = None,
    complaints: str = "",
) -> bytes:
    """A shared library that exports `am_entry`, and seven texts for the launch. `am_notes`: in a
    checked or sanitized build, the arrays and places (passes/check_bounds.py, passes/observe.py).
    `am_order`: whether results depend on the order of threadgroups
    (analysis/order_dependence.py). `am_flops`: floating-point operations of one thread, empty if
    nobody knows (analysis/flops.py). `am_stored`: what it certainly stores to its outputs
    (analysis/must_store.py). `am_complaints`: what it is given. `am_declined`: whether the
    code is for the class that the variant has `instead`. `am_launches`: what launches it is for.

    `stages` observes the compilation; `raw` is Clang's output, if it is there already.

    Raises MetalCompileError for errors in the Metal text, KernelLoadError for too much threadgroup
    memory, UnsupportedFeatureError for what the CPU target lacks, CompilerError for our defects,
    ValueError for unknown names of passes.
    """
    stages = stages or GangStages()
    check_names(variant.without, stages.wanted.passes)
    try:
        with locks.llvm:
            machine = machine_for(variant.cpu)
        profile = profile_for(variant.cpu)
        if raw is None:
            with stages.stage("front end"):
                raw = compile_to_ir(source, profile)
        choice = chosen(raw, source, variant, machine, profile, stages)
        program = thread_program(choice.text, source, choice.variant, stages)
        variant = with_gang_width(program, choice, source, machine)
        stages.declined, stages.launches = choice.declined, variant.text
        stages.made("thread program", lambda: print_program(program))
        c = GangCompilation(program, variant, machine, stages)
        texts = texts_of(source)
        c.lines = line_table(source, texts)
        order = _constant("am_order", "counts" if depends_on_order(c.known) else "")
        count = flops(c.known)
        whole = stored(c.known)
        text = scalar_ir(c) if variant.width == 1 else vector_ir(c)
        undefined = c.undefined and c.undefined.noted()
        notes = c.observed.notes(undefined=undefined) if c.observed else c.notes
        text += _constant("am_notes", notes) + order + _constant("am_complaints", complaints)
        text += _constant("am_flops", "" if count is None else str(count))
        text += _constant("am_stored", json.dumps(whole) if whole else "")
        text += _constant("am_declined", "declined" if stages.declined else "")
        text += _constant("am_launches", stages.launches)
        if c.observed:
            text += OBSERVED
        if program.calls(TRACE):
            text += TRACED
        zig.meanwhile.append(lambda: keep(texts.values()))
        return assemble(text, machine, stages)
    except Problem as problem:
        raise CompilerError(source.name, str(problem)) from problem


def check_names(off: Collection[str], shown: Collection[str]) -> None:
    """Raises ValueError for names that are no passes, or passes that cannot be switched off."""
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


def _constant(name: str, text: str) -> str:
    """An exported pointer to a text."""
    data = text.replace("\\", "\\5C").replace('"', "\\22") + "\\00"
    size = len(text) + 1
    return (
        f'@{name}.text = private unnamed_addr constant [{size} x i8] c"{data}"\n'
        f"@{name} = constant ptr @{name}.text\n"
    )
