"""How much of a kernel's work the registers of a processor hold at a time."""

from __future__ import annotations

import functools
import os

from anymetal.ir.sizes import SIMD_GROUP
from anymetal.machine import Machine
from anymetal.runtime.identity import features
from anymetal.targets import HAS_METAL, has_cuda
from anymetal.targets.cpu.named_processors import machine_named

_OF_GPUS = 8


@functools.cache
def sums_at_once() -> int:
    """How many sums of each lane of a SIMD-group fit half of a CPU's registers: 8 with AVX-512, 2
    with AVX2 and on Arm. For kernels that add up long rows a few at a time.

    It is that of the CPU that `ANYMETAL_CPU` names, if any; where there is a GPU, that of GPUs.
    """
    if HAS_METAL or has_cuda():
        return _OF_GPUS
    if cpu := os.environ.get("ANYMETAL_CPU"):
        return machine_named(cpu).rows_at_once(SIMD_GROUP)
    known = ",".join(f"+{name}" for name in features())
    return Machine(os.uname().machine, "", known).rows_at_once(SIMD_GROUP)
