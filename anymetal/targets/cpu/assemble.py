"""From LLVM IR to an object file, by LLVM's optimisation and code generation."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.ir.problem import Problem
from anymetal.machine import Machine
from anymetal.pipeline.stages import Stages
from anymetal.runtime import locks
from anymetal.targets.cpu.llvm_target import target_machine
from anymetal.targets.cpu.support import link_support


def assemble(text: str, machine: Machine, stages: Stages | None = None) -> bytes:
    """Optimise a module and generate code for `machine`."""
    with locks.llvm:
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
        return bytes(target_machine(machine).emit_object(module))


def _listing(module: Any, machine: Machine, comments: bool) -> str:
    """Assembly text, perhaps with LLVM's comments on loops and spills."""
    target = target_machine(machine)
    target.set_asm_verbosity(comments)
    return str(target.emit_assembly(module.clone()))


def optimised(text: str, machine: Machine) -> Any:
    """The module after LLVM's O3 pipeline, which also splits the coroutines."""
    try:
        module = llvm.parse_assembly(text)
        link_support(module, machine.triple)
        module.verify()
    except ToolchainError:  # Clang does not compile what is to be linked
        raise
    except RuntimeError as error:
        raise Problem(f"generated code is invalid: {error}") from error
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(target_machine(machine), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def assembly(text: str, machine: Machine) -> str:
    """Assembly text of a module, for people."""
    with locks.llvm:
        return _listing(optimised(text, machine), machine, comments=False)
