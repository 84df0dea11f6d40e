"""What LLVM knows of the processor to generate code for."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm

from anymetal.machine import Machine, caches_here
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.named_processors import machine_named


@functools.cache
def machine_for(cpu: str) -> Machine:
    """This machine, or the one that is named. Raises ValueError for one that is not known."""
    if cpu:
        return machine_named(cpu)
    features = llvm.get_host_cpu_features().flatten()
    return Machine(profile_for("").triple, llvm.get_host_cpu_name(), features, caches_here())
