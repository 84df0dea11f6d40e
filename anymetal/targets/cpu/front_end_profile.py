"""What the front end knows about the processor."""

from __future__ import annotations

from anymetal.frontend.profile import Profile
from anymetal.runtime.zig import host_triple

#: What LLVM's names of 64-bit ARM processors begin with.
_ARM = ("aarch64", "apple-", "cortex-", "neoverse-")


def profile_for(cpu: str) -> Profile:
    """The profile of a processor, by LLVM's name (empty: this machine): its architecture and no
    more, so that thread programs are the same for all levels of features (named_processors.py)."""
    here = host_triple()
    if cpu.startswith(_ARM):
        return Profile("aarch64-unknown-linux-gnu")
    if cpu.startswith("x86-64") and not here.startswith("x86_64"):
        return Profile("x86_64-unknown-linux-gnu")
    return Profile(here)
