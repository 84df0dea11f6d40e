"""The thread program as the text has it: one function, in registers, and no further optimised.

The optimiser of the compiler moves and merges what a linter asks about: where a load stands, which
branch a barrier is under. So this is what is left of it: inlining, variables into registers, and
the form that the model wants.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.frontend.optimise import host_machine, prepare
from anymetal.frontend.profile import ANY_PROFILE
from anymetal.ir import types as t
from anymetal.ir.model import Program
from anymetal.ir.reader import read_program
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.lint.kernels import Kernel
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from anymetal.runtime import locks
from anymetal.source import KernelSource, LibrarySource

#: Passes of the compiler that are run: those that only make the program easier to read.
_PASSES = ("scalarize", "infer-address-spaces", "expand-copies")


def as_written(source: KernelSource, raw: str) -> Program:
    """The program of one thread out of Clang's raw IR. Raises Problem."""
    with locks.llvm:
        text = _simplified(prepare(raw, 0))
    program = read_program(text)
    program.name = source.name
    for argument, parameter in zip(program.args, source.parameters, strict=True):
        argument.describes = parameter.kind not in ("input", "output")
        argument.space = t.CONSTANT if "constant" in parameter.declaration.split() else t.DEVICE
        argument.name = f"%{parameter.name}"
    program.shared_buffers = isinstance(source, LibrarySource)
    passes = [one for one in thread.PASSES if one.name in _PASSES]
    run(passes, Compilation(Analyses(program), Stages(), ()))
    return program


def known_of(program: Program, kernel: Kernel) -> Analyses:
    """Questions about the program, for the threadgroups that the kernel is launched with. Where
    they are not known, SIMD-groups are taken to lie along x."""
    groups = [launch.threadgroup for launch in kernel.launches]
    aligned = all(x is None or x % SIMD_GROUP == 0 for x, _, _ in groups)
    flat = all(y in (None, 1) and z in (None, 1) for _, y, z in groups)
    return Analyses(program, LaunchFacts(aligned or flat, aligned, flat, aligned), SIMD_GROUP)


def _simplified(text: str) -> str:
    """Structs in registers need instruction combining, too, which moves loads to where they are
    used; other programs do without."""
    made = _run(text, combining=False)
    return _run(text, combining=True) if " insertvalue " in made else made


def _run(text: str, combining: bool) -> str:
    machine = host_machine(ANY_PROFILE)
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_sccp_pass()
    passes.add_new_gvn_pass()
    passes.add_sroa_pass()
    if combining:
        passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_dead_code_elimination_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_lower_switch_pass()
    passes.add_unify_function_exit_nodes_pass()
    passes.add_loop_simplify_pass()
    passes.add_lcssa_pass()
    passes.run(module, builder)
    return str(module)
