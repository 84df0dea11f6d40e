"""The exception inside the compiler."""

from __future__ import annotations


class Problem(Exception):
    """The compiler met something that it does not handle: a defect of ours, not of the kernel.

    The target that asked for the compilation makes it a `CompilerError` with the kernel's name.
    """
