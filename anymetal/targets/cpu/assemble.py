"""From LLVM IR to a shared library: LLVM's passes, code generation, and linking.

Clang reads the text and writes it as bitcode, and the linker does the rest, as in link-time
optimisation: it takes a list of passes. LLVM's O3 has over a hundred. Its input has been optimised
as the program of one thread, so ours are those that find something in what the vectorizer writes.
LLVM in Clang's package is built for speed, and takes half as long as llvmlite's for the same
passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anymetal.frontend.optimise import OPTIONS
from anymetal.frontend.profile import Profile
from anymetal.ir.problem import Problem
from anymetal.machine import Machine
from anymetal.pipeline.stages import Stages
from anymetal.runtime import scratch, zig
from anymetal.targets.cpu.support import support_files

_COMBINE = "instcombine<no-verify-fixpoint>"
#: Each line is a step of LLVM's passes, by their names in LLVM.
_PASSES = (
    "coro-early",
    # Variables become values in each function by itself: inlined into the loop over gangs, they
    # would keep their values from one gang to the next. Coroutines are simplified in front of their
    # split, which stores what lives across barriers.
    f"function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,{_COMBINE},dse)",
    "always-inline",
    # The part up to the first barrier is called from one place.
    "cgscc(coro-split),cgscc(inline),coro-cleanup,globaldce",
    "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,jump-threading,simplifycfg",
    # What all gangs compute alike leaves their loops, and so do branches.
    "loop-mssa(loop-rotate,licm<allowspeculation>,simple-loop-unswitch<nontrivial>)",
    # Counters as wide as addresses, and what the loops over rows of private arrays leave of these.
    "loop(indvars,loop-deletion),gvn,memcpyopt,dse",
    f"loop-unroll<O3>,simplifycfg,{_COMBINE},adce)",
)
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
#: LLVM 22 has a 32-bit `and` clear the upper half of a 64-bit index for nothing, and may find later
#: that the `and` changes nothing in the lower half, and leave it out: addresses go wild.
_WRONG = ("-x86-and-imm-shrink=false",)
_OPTIONS = [word for option in (*OPTIONS, *_LEFT_OUT, *_WRONG) for word in ("-mllvm", option)]
_POSITION_FREE = ("-mrelocation-model", "pic", "-pic-level", "2")
#: LLVM has a processor of this name for every architecture, Clang has none for x86-64.
_ANY = {"x86_64": {"generic": "x86-64"}}
#: Processors that LLVM knows twice: for this name it orders instructions as for an older one, which
#: finishes one sum before it begins the next; for the other it has a model of the very core.
_SAME_CORE = {"cortex-a76": "neoverse-n1", "cortex-a76ae": "neoverse-n1"}


def assemble(text: str, machine: Machine, stages: Stages | None = None) -> bytes:
    """The shared library of a module, for `machine`; every symbol that it lacks must exist when it
    is loaded."""
    stages = stages or Stages()
    with stages.stage("code generation"):
        try:
            bitcode = _bitcode(text, machine)
            library = _linked(bitcode, machine, "-o", "-")
        except Problem:
            stages.made("vector IR that LLVM refuses", lambda: text)
            raise
    stages.made("vector IR", lambda: _shown(bitcode, machine, "-emit-llvm"))
    stages.made("assembly", lambda: _shown(bitcode, machine, "-S"))
    return library


def optimised(text: str, machine: Machine) -> str:
    """The module after LLVM's passes, which also split the coroutines."""
    return _shown(_bitcode(text, machine), machine, "-emit-llvm")


def assembly(text: str, machine: Machine) -> str:
    """Assembly text of a module, without LLVM's comments on loops and spills."""
    return _shown(_bitcode(text, machine), machine, "-S", "-fno-verbose-asm")


def _shown(bitcode: bytes, machine: Machine, *action: str) -> str:
    """What Clang makes of a module that the linker has optimised."""
    with scratch.workspace() as folder:
        module = folder / "module"
        # The names of values are kept where each step leaves a file.
        _linked(bitcode, machine, "--lto-emit-llvm", "--save-temps=opt", "-o", module)
        return _clang(machine, "-O3", *_POSITION_FREE, *action, module).decode()


def _bitcode(text: str, machine: Machine) -> bytes:
    """The module with our own C++ that it calls."""
    with zig.Files() as files:
        linked: list[str] = []
        for file in support_files(text, machine.triple):
            linked += ["-mlink-builtin-bitcode", files.add(file)]
        read = (*linked, "-emit-llvm-bc", "-")
        return _clang(machine, *read, text=text, files=files.descriptors)


def _clang(
    machine: Machine, *arguments: str | Path, text: str = "", files: Sequence[int] = ()
) -> bytes:
    cpu = _ANY.get(machine.architecture, {}).get(machine.cpu, _scheduled_as(machine))
    flags = Profile(machine.triple, cpu, machine.features).flags
    read = ("clang", "-cc1", *flags, *_OPTIONS, "-x", "ir", "-disable-llvm-passes", "-o", "-")
    return _made(*read, *arguments, text=text, files=files)


def _scheduled_as(machine: Machine) -> str:
    """The name of the processor by whose model LLVM orders instructions."""
    return _SAME_CORE.get(machine.cpu, machine.cpu)


def _linked(bitcode: bytes, machine: Machine, *options: str | Path) -> bytes:
    with zig.Files() as files:
        module = files.add(bitcode)
        cpu = _scheduled_as(machine)
        processor = (f"-plugin-opt=mcpu={cpu}", "-mllvm", f"-mattr={machine.features}")
        passes = (f"--lto-newpm-passes={','.join(_PASSES)}", "--lto-CGO3")
        link = ("ld.lld", "-shared", "-z", "now", "--threads=1", module)
        return _made(*link, *processor, *_OPTIONS, *passes, *options, files=files.descriptors)


def _made(*arguments: str | Path, text: str = "", files: Sequence[int] = ()) -> bytes:
    status, output, messages = zig.run(*arguments, text=text, files=files)
    if status:
        raise Problem(f"generated code is invalid: {zig.beginning(messages)}")
    return output
