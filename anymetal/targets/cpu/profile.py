"""What the front end is told of the processor."""

from __future__ import annotations

from anymetal.frontend.profile import Profile
from anymetal.runtime.zig import host_triple


def profile_for(cpu: str) -> Profile:
    """Of a processor by LLVM's name, empty for this machine: its architecture and no more, so that
    thread programs are the same for all levels of features (see llvm_target.py)."""
    return Profile("aarch64-unknown-linux-gnu" if cpu == "aarch64" else host_triple())
