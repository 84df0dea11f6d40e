"""Complaints: what is wrong with a text that compiles here, because Metal refuses it or because it
looks like a mistake.
"""

from __future__ import annotations

import json
from typing import NamedTuple

#: Clang's warnings that are shown: probable mistakes, no matters of style. They are turned on
#: behind -Wno-everything, and a text can turn each off.
_SHOWN = """
parentheses no-logical-op-parentheses no-bitwise-op-parentheses no-shift-op-parentheses
no-dangling-else no-parentheses-equality
uninitialized return-type sign-compare unused-value unused-comparison unused-result
shift-count-overflow shift-count-negative shift-negative-value shift-overflow shift-sign-overflow
division-by-zero integer-overflow array-bounds array-bounds-pointer-arithmetic
tautological-compare tautological-unsigned-zero-compare tautological-overlap-compare
int-in-bool-context constant-logical-operand xor-used-as-pow
self-assign self-move unsequenced for-loop-analysis empty-body misleading-indentation
constant-conversion literal-conversion literal-range bool-conversion
return-stack-address dangling sizeof-pointer-div sizeof-array-div sizeof-pointer-memaccess
enum-compare switch-bool null-dereference null-arithmetic
implicit-const-int-float-conversion
user-defined-warnings
""".split()
WARNINGS = [f"-W{name}" for name in _SHOWN]

#: Rules of ours: of warned.py, bfloat_conversions.py and address_spaces.py.
AMBIGUOUS, TRUNCATED, CONVERSION = "ambiguous-call", "truncating-call", "bfloat-conversion"
ORDER = "memory-order"
_REFUSED = {AMBIGUOUS, TRUNCATED, CONVERSION, ORDER}
_REFUSED |= {"address-space", "program-scope", "small-input"}


class Complaint(NamedTuple):
    """One thing that is wrong with the user's text."""

    file: str  #: as in messages: "<kernel>: source", or a file's name
    line: int
    column: int  #: both from 1, in characters
    rule: str  #: its name: one of ours, or Clang's for its warning, without -W
    text: str

    @property
    def refused(self) -> bool:
        """Whether Metal refuses this, or understands something else."""
        return self.rule in _REFUSED

    def shown(self) -> str:
        """Place and text, in one line."""
        rule = "" if self.refused else f" [-W{self.rule}]"
        return f"{self.file}:{self.line}:{self.column}: {self.text}{rule}"


def noted(complaints: list[Complaint]) -> str:
    """Complaints as a text of ASCII characters."""
    return json.dumps(complaints) if complaints else ""


def read(text: str) -> list[Complaint]:
    """The complaints in such a text."""
    return [Complaint(*fields) for fields in json.loads(text)] if text else []
