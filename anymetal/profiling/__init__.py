"""Where the time of kernels goes: launches, bytes, operations, and the slowest Metal lines."""

from anymetal.profiling.api import profile
from anymetal.profiling.session import Profile

__all__ = ["Profile", "profile"]
