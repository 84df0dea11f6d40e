"""The exception inside the compiler."""

from __future__ import annotations


class Problem(Exception):
    """The compiler met something that it cannot handle: a defect of ours, not of the kernel.

    The target turns it into a `CompilerError` with the kernel's name.
    """
