"""Processors that `ANYMETAL_CPU` names: what they have, and whether this machine runs their code.

Programs that launch kernels ask this, so it is found without LLVM.
"""

from __future__ import annotations

import functools

from anymetal.machine import Machine
from anymetal.runtime.identity import features
from anymetal.targets.cpu.front_end_profile import profile_for

#: Features that decide how we generate code, of ARM processors beside those that all have.
_ARM = {
    "neoverse-v1": ("+bf16", "+sve"),
    "neoverse-v2": ("+bf16", "+sve"),
    "neoverse-n2": ("+bf16", "+sve"),
    "apple-m2": ("+bf16",),
    "apple-m3": ("+bf16",),
    "apple-m4": ("+bf16",),
}
#: Likewise of x86-64's levels.
_LEVELS = {
    "x86-64-v2": "+cx16,+sse4.2,+ssse3,+popcnt",
    "x86-64-v3": "+cx16,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt",
    "x86-64-v4": "+cx16,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+avx2,+fma,+f16c",
}
#: LLVM's names of features that Linux calls otherwise.
_LLVM_NAMES = {"sse4_2": "sse4.2", "bmi1": "bmi", "abm": "lzcnt", "asimd": "neon", "fp": "fp-armv8"}


def machine_named(cpu: str) -> Machine:
    """A machine with the features of this CPU (by LLVM's name) and no others.

    "aarch64" is any 64-bit ARM, "neoverse-v1" one of them, wherever this runs: their code can be
    looked at here, too. Raises ValueError for a CPU whose features are not known.
    """
    triple = profile_for(cpu).triple
    if triple.startswith("aarch64"):
        name = "generic" if cpu == "aarch64" else cpu
        return Machine(triple, name, ",".join(["+neon,+fp-armv8", *_ARM.get(cpu, ())]))
    if cpu not in _LEVELS:
        raise ValueError(
            f"ANYMETAL_CPU must be one of {', '.join(_LEVELS)}, LLVM's name of a 64-bit Arm "
            f"processor, or empty for this machine, not {cpu!r}"
        )
    return Machine(triple, cpu, _LEVELS[cpu])


@functools.cache
def expect_here(cpu: str) -> None:
    """Raises ValueError if code for this CPU does not run on this machine."""
    here, there = profile_for("").triple.split("-")[0], machine_named(cpu)
    told = {_LLVM_NAMES.get(name, name) for name in features()}
    lacking = sorted(there.enabled - told) if here == there.architecture else [there.architecture]
    if lacking and (told or here != there.architecture):  # some systems tell no features
        raise ValueError(
            f"ANYMETAL_CPU is {cpu!r}, but this processor lacks {', '.join(lacking)}: kernels can "
            "be compiled and explained for it here, but not launched. Leave ANYMETAL_CPU empty, or "
            "name a processor with no more features than this one's"
        )
