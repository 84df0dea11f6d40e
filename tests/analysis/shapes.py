"""What the analysis makes of a kernel's accesses."""

from __future__ import annotations

import mlx.core as mx

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.uniformity import shapes
from anymetal.ir.model import Argument, Instr, Value
from anymetal.pipeline.program import thread_program
from tests.compiling import planned
from tests.frontend.kernels import kernel_source

#: Threadgroups along x only; with rows of a multiple of 32; anything.
FLAT = LaunchFacts(linear=True, aligned=False, flat=True)
ROWS = LaunchFacts(linear=True, aligned=True, flat=False)
ALIGNED = LaunchFacts(linear=True, aligned=True, flat=True)
ANY = LaunchFacts(linear=False, aligned=False, flat=False)

INPUTS = {"a": mx.zeros(1024), "b": mx.zeros(1024, mx.int32), "n": mx.array(5)}
OUTPUTS = {"out": mx.float32, "to": mx.int32}


def analyse(body: str, launch: LaunchFacts = FLAT, header: str = "", width: int = 32) -> Analyses:
    """Of a kernel with the inputs a (floats), b (ints), n (an int) and the outputs out and to."""
    source = kernel_source(body, header, inputs=INPUTS, outputs=OUTPUTS)
    return planned(thread_program(source), launch, width)


def root(pointer: Value) -> Value:
    while isinstance(pointer, Instr) and pointer.op == "gep":
        pointer = pointer.operands[0]
    return pointer


def accesses(known: Analyses) -> dict[str, str]:
    """Shapes of the addresses in each buffer, in the order of the text."""
    found: dict[str, list[str]] = {}
    for instr in known.program.instructions():
        if instr.op in ("load", "guarded_load", "store"):
            pointer = instr.operands[instr.op == "store"]
            buffer = root(pointer)
            if isinstance(buffer, Argument):
                shape = str(known(shapes)[pointer])
                found.setdefault(buffer.name.strip("%"), []).append(shape)
    return {name: " ".join(texts) for name, texts in found.items()}
