"""Marks: which instruction of the thread program an instruction of the assembly comes from.

A mark is a line number in LLVM's debug information that stands for an instruction, not for a line
of the user. Only `anymetal explain` asks for marks; code that runs has none.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from anymetal.ir.model import Instr

#: What generated code is for: the instruction itself, or the test of the cancel flag at the end of
#: a loop's iteration.
Role = Literal["", "poll"]

_FIRST = 1000  #: metadata below are the generator's own
_FILE, _UNIT, _TYPE, _FLAGS, _ENTRY, _CALL = range(_FIRST, _FIRST + 6)
_FUNCTIONS = _FIRST + 10
_PLACES = _FIRST + 100


class Mark(NamedTuple):
    """What a line number stands for."""

    function: str
    instr: Instr
    role: Role


def with_scope(text: str, function: str, scope: int) -> str:
    """The text of a module in which a function has this scope. (`^` would be tried at each
    character of the text.)"""
    head = re.compile(rf"(\ndefine .*@{re.escape(function)}\(.*) \{{\n")
    return head.sub(rf"\1 !dbg !{scope} {{\n", text)


class Marks:
    """The marks of a module: line n stands for `known[n - 1]`."""

    def __init__(self) -> None:
        self.known: list[Mark] = []
        self.functions: list[str] = []
        self._numbers: dict[Mark, int] = {}

    def text(self, function: str, instr: Instr, role: Role = "") -> str:
        """What to append to an instruction of the generated text."""
        mark = Mark(function, instr, role)
        if mark not in self._numbers:
            if function not in self.functions:
                self.functions.append(function)
            self.known.append(mark)
            self._numbers[mark] = len(self.known)
        return f", !dbg !{_PLACES + self._numbers[mark]}"

    def declared(self, text: str) -> str:
        """The text of a module with marks, with the metadata that LLVM needs for them."""
        scopes = {name: _FUNCTIONS + i for i, name in enumerate(self.functions)}
        scopes["am_entry"] = _ENTRY
        for name, scope in scopes.items():
            text = with_scope(text, name, scope)
            call = re.compile(rf"(\n  (?:%\S+ = )?call \S+ @{re.escape(name)}\(.*)")
            text = call.sub(rf"\1, !dbg !{_CALL}", text)
        lines = [
            f"!llvm.dbg.cu = !{{!{_UNIT}}}",
            f"!llvm.module.flags = !{{!{_FLAGS}}}",
            f'!{_FILE} = !DIFile(filename: "marks", directory: "")',
            f"!{_UNIT} = distinct !DICompileUnit(language: DW_LANG_C, file: !{_FILE}, "
            "emissionKind: LineTablesOnly)",
            f"!{_TYPE} = !DISubroutineType(types: !{{null}})",
            f'!{_FLAGS} = !{{i32 2, !"Debug Info Version", i32 3}}',
            f"!{_CALL} = !DILocation(line: 0, scope: !{_ENTRY})",
        ]
        for name, scope in scopes.items():
            lines.append(
                f'!{scope} = distinct !DISubprogram(name: "{name}", scope: !{_FILE}, '
                f"file: !{_FILE}, type: !{_TYPE}, unit: !{_UNIT}, spFlags: DISPFlagDefinition)"
            )
        for number, mark in enumerate(self.known, 1):
            scope = scopes[mark.function]
            lines.append(f"!{_PLACES + number} = !DILocation(line: {number}, scope: !{scope})")
        return "\n".join([text, *lines, ""])
