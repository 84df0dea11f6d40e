"""From a kernel to PTX, NVIDIA's assembly language for all GPUs of an architecture and later."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

from anymetal.analysis.alignment import alignments
from anymetal.analysis.cache import ANY_LAUNCH, Analyses
from anymetal.analysis.objects import read_only
from anymetal.emission.emitter import ThreadEmitter, constant_tables
from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend.known import Known
from anymetal.frontend.optimise import host_machine
from anymetal.frontend.profile import Profile
from anymetal.ir import types as t
from anymetal.ir.model import Program
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.pipeline.program import thread_program
from anymetal.runtime import locks
from anymetal.source import KernelSource
from anymetal.targets.cuda import maths
from anymetal.targets.cuda.convergence import partings
from anymetal.targets.cuda.in_step import InStep
from anymetal.targets.cuda.lowering import CudaThread
from anymetal.targets.cuda.names import ANY_FORM, PTX_OF, Form, entry_of
from anymetal.targets.cuda.reporting import WarpStages


def profile_of(architecture: str) -> Profile:
    """What Clang and LLVM know of an architecture, such as sm_90.

    Raises UnsupportedFeatureError for one that is not in the list.
    """
    if architecture not in PTX_OF:
        known = ", ".join(PTX_OF)
        raise UnsupportedFeatureError(
            f"no architecture of an NVIDIA GPU that AnyMetal compiles for: {architecture!r}. There "
            f"are {known}; a GPU runs the code of each that is not newer than itself."
        )
    return Profile("nvptx64-nvidia-cuda", architecture, f"+ptx{PTX_OF[architecture]}", True)


def llvm_ir(
    source: KernelSource,
    architecture: str,
    form: Form = ANY_FORM,
    large: int = 0,
    stages: WarpStages | None = None,
    known: Known | None = None,
) -> str:
    """LLVM IR of a kernel. `large`: how many times 2^31 bytes the largest array may have. `known`:
    what is known of its launches.

    Raises MetalCompileError and UnsupportedFeatureError for what is wrong with the kernel.
    """
    profile = profile_of(architecture)
    stages = stages or WarpStages()
    program = thread_program(
        source, large, stages, profile=profile, known=known, threads=form.threads
    )
    with stages.stage("emitter"):
        return _module(program, entry_of(source.entry), form, stages)


def compiled(
    source: KernelSource, architecture: str, form: Form = ANY_FORM, large: int = 0,
    stages: WarpStages | None = None,
) -> str:  # fmt: skip
    """PTX text of a kernel; see `llvm_ir`."""
    stages = stages or WarpStages()
    ir = llvm_ir(source, architecture, form, large, stages)
    with stages.stage("code generation"):
        return ptx(ir, architecture)


def _module(program: Program, entry: str, form: Form, stages: WarpStages) -> str:
    known = Analyses(program, ANY_LAUNCH, SIMD_GROUP)
    apart = partings(known)
    marks = stages.marks()
    together = not apart
    lowering = CudaThread(program, entry, form, known(read_only), together, marks)
    emitter = InStep(known, lowering) if apart else ThreadEmitter(program, lowering)
    if form.aligned:
        emitter.alignments, emitter.joined = known(alignments), _joined(program)
    function = emitter.run(entry)
    tables = constant_tables(program, lowering.spaces[t.CONSTANT])
    stages.written(program, apart)
    text = "\n".join([*tables, *lowering.w.declarations.values(), function])
    return marks.declared(text) if marks else text


def _joined(program: Program) -> tuple[t.Type, ...]:
    """The types of which LLVM may join accesses to vectors. Where such elements meet again in one
    integer, it reads that from a wrong place (LLVM 22, `ld.global.v2.b8`)."""
    if any(instr.op == "or" and instr.type == t.I64 for instr in program.instructions()):
        return ()  # perhaps of two words
    for instr in program.instructions():
        if instr.op in ("zext", "sext") and instr.operands[0].type == t.I16:
            return (t.FLOAT, t.I32)
    return (t.FLOAT, t.I32, t.I16)


def ptx(ir: str, architecture: str) -> str:
    """PTX text of LLVM IR of `llvm_ir`."""
    profile = profile_of(architecture)
    with locks.llvm:
        machine = host_machine(profile)
        module = llvm.parse_assembly(ir)
        module.triple, module.data_layout = profile.triple, str(machine.target_data)
        if f"@{maths.PREFIX}" in ir:
            _link_maths(module, profile)
        module.verify()
        return str(machine.emit_assembly(module))


def _link_maths(module: Any, profile: Profile) -> None:
    """Adds the functions of maths.cpp that the module calls."""
    added = llvm.parse_bitcode(maths.bitcode(profile))
    names = {function.name for function in added.functions if not function.is_declaration}
    module.link_in(added)
    for function in module.functions:
        if function.name in names:
            function.linkage = "internal"
    builder = llvm.create_pass_builder(host_machine(profile), llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
