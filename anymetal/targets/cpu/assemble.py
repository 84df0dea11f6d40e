"""From LLVM IR to an object file: LLVM's own optimisation and code generation.

Clang does both, in a process of its own. LLVM in Clang's package is built for speed, and takes half
as long as llvmlite's for the same passes.
"""

from __future__ import annotations

from anymetal.frontend.optimise import OPTIONS
from anymetal.frontend.profile import Profile
from anymetal.ir.problem import Problem
from anymetal.machine import Machine
from anymetal.pipeline.stages import Stages
from anymetal.runtime import zig
from anymetal.targets.cpu.support import support_files

_FLAGS = "-O3 -mrelocation-model pic -pic-level 2 -x ir -o -".split()
#: What LLVM would take long for, and nobody gains from.
_LEFT_OUT = (
    # Debuggers are told of lines, not of variables, but LLVM would look for those in all registers:
    # a tenth of its time.
    "-live-debug-variables=false",
    "-experimental-debug-variable-locations=false",
    "-livedebugvalues-input-bb-limit=0",
    # AMD's processors, for which LLVM would order instructions once more behind the allocation of
    # registers, find an order by themselves: a fifteenth of its time, and no kernel is faster.
    "-post-RA-scheduler=false",
)
#: LLVM has a processor of this name for every architecture, Clang has none for x86-64.
_ANY = {"x86_64": {"generic": "x86-64"}}


def assemble(text: str, machine: Machine, stages: Stages | None = None) -> bytes:
    """Optimise a module and generate code for `machine`."""
    stages = stages or Stages()
    with stages.stage("code generation"):
        try:
            code = _made(text, machine, "-emit-obj")
        except Problem:
            stages.made("vector IR that LLVM refuses", lambda: text)
            raise
    stages.made("vector IR", lambda: optimised(text, machine))
    stages.made("assembly", lambda: _made(text, machine, "-S").decode())
    return code


def optimised(text: str, machine: Machine) -> str:
    """The module after LLVM's O3 pipeline, which also splits the coroutines."""
    return _made(text, machine, "-emit-llvm").decode()


def assembly(text: str, machine: Machine) -> str:
    """Assembly text of a module, without LLVM's comments on loops and spills."""
    return _made(text, machine, "-S", "-fno-verbose-asm").decode()


def _made(text: str, machine: Machine, *action: str) -> bytes:
    cpu = _ANY.get(machine.architecture, {}).get(machine.cpu, machine.cpu)
    arguments = Profile(machine.triple, cpu, machine.features).flags
    for option in (*OPTIONS, *_LEFT_OUT):
        arguments += ["-mllvm", option]
    with zig.Files() as files:
        for file in support_files(text, machine.triple):
            arguments += ["-mlink-builtin-bitcode", files.add(file)]
        status, output, messages = zig.run(
            "clang", "-cc1", *arguments, *_FLAGS, *action, "-", text=text, files=files.descriptors
        )
    if status:
        raise Problem(f"generated code is invalid: {zig.beginning(messages)}")
    return output
