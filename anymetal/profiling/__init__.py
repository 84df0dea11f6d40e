"""Where the time of kernels goes: launches, bytes, operations, and the slowest Metal lines."""

from anymetal.profiling.session import Profile, profile

__all__ = ["Profile", "profile"]
