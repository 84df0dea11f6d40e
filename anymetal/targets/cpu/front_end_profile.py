"""What the front end knows about the processor."""

from __future__ import annotations

from anymetal.frontend.profile import Profile
from anymetal.runtime.zig import host_triple


def profile_for(cpu: str) -> Profile:
    """The profile of a processor, by LLVM's name (empty: this machine): its architecture and no
    more, so that thread programs are the same for all levels of features (see llvm_target.py)."""
    return Profile("aarch64-unknown-linux-gnu" if cpu == "aarch64" else host_triple())
