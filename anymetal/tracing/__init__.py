"""One thread of a kernel, line by line, with the values that it assigns."""

from anymetal.tracing.api import trace

__all__ = ["trace"]
