"""The passes over the thread program that every target wants."""

from __future__ import annotations

from anymetal.analysis import control
from anymetal.analysis.objects import origins
from anymetal.ir.spec import Stage
from anymetal.passes import (
    address_spaces,
    dead_code,
    expand_copies,
    legalise_floats,
    normalise_counters,
    predicate_loads,
    reuse_loads,
    scalarize,
)
from anymetal.pipeline.driver import Compilation, Pass


def is_plain(c: Compilation) -> bool:
    """The build is not sanitized."""
    return not c.sanitized


PASSES: tuple[Pass[Compilation], ...] = (
    Pass(
        "scalarize",
        lambda c: scalarize.run(c.known),
        "all that follows handles one kind of value; neighbouring accesses are found again later",
        Stage.SCALAR,
        optional=False,
    ),
    Pass(
        "infer-address-spaces",
        lambda c: address_spaces.run(c.known),
        "as soon as vectors of pointers are gone; what follows keeps the types",
        Stage.SCALAR,
        optional=False,
        keeps=(*control.ALL, origins),
    ),
    Pass(
        "expand-copies",
        lambda c: expand_copies.run(c.known),
        "what follows sees copies of structs as loads and stores",
        Stage.SCALAR,
        optional=False,
    ),
    Pass(
        "reuse-loads",
        lambda c: reuse_loads.run(c.known),
        "while all loads are plain ones; what follows looks for neighbours",
        Stage.SCALAR,
        needs=(is_plain,),
        keeps=control.ALL,
    ),
    Pass(
        "predicate-loads",
        lambda c: predicate_loads.run(c.known),
        "kernels compute stray addresses and select afterwards; what is not needed is not loaded",
        Stage.GUARDED,
        needs=(is_plain,),
        optional=False,
        keeps=control.ALL,
    ),
    Pass(
        "legalise-narrow-floats",
        lambda c: legalise_floats.run(c.known),
        "behind the last pass that makes selections: half and bfloat cross them as words",
        Stage.GUARDED,
        optional=False,
        keeps=control.ALL,
    ),
    Pass(
        "normalise-counters",
        lambda c: normalise_counters.run(c.known),
        "before anybody asks for numbers of iterations, or for what differs between threads",
        Stage.GUARDED,
        needs=(is_plain,),
    ),
    Pass(
        "drop-unused",
        lambda c: dead_code.run(c.known),
        "what the passes before have left without users",
        Stage.GUARDED,
    ),
)
