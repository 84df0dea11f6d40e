"""Infers address spaces: the memory that a pointer leads to becomes a part of its type.

    %p: ptr = select %c, %a, %b      becomes      %p: thread ptr = select %c, %a, %b

Clang's C++ cannot carry Metal's address spaces: it neither copies a struct out of one nor calls its
functions there. So they are found from where pointers come from. A pointer that may lead to several
kinds of memory, or that was loaded or made of a number, stays generic.
"""

from __future__ import annotations

from collections.abc import Collection

from anymetal.analysis.cache import Analyses
from anymetal.analysis.objects import Origin, origins
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Const, Global, Instr, Value


def run(known: Analyses) -> bool:
    """Gives all pointers their types, and constants that are used as such pointers."""
    for value, leads_to in known(origins).items():
        value.type = _pointer(leads_to)
        if isinstance(value, Instr) and value.op in ("phi", "select"):
            value.operands = [_of_type(v, value.type) for v in value.operands]
    return True


def _pointer(leads_to: Collection[Origin]) -> t.Ptr:
    """The type of pointers to these."""
    spaces = {_space(origin) for origin in leads_to}
    return t.Ptr(spaces.pop()) if len(spaces) == 1 else t.PTR


def _space(origin: Origin) -> str:
    if isinstance(origin, Argument):
        return origin.space
    if isinstance(origin, Global):
        return t.THREADGROUP if origin.threadgroup else t.CONSTANT
    return t.THREAD if origin.op == "alloca" else t.GENERIC


def _of_type(value: Value, type_: t.Type) -> Value:
    return Const(type_, value.text) if isinstance(value, Const) and value.type.is_ptr else value
