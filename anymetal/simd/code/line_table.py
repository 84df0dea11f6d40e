"""Symbols and line tables of the user's text, so that debuggers and profilers find their way.

    define hidden void @"saxpy.kernel"(…) !dbg !1010 {          ; perf and gdb show this name
      %t.6 = load <32 x float>, ptr %t.5, align 4, !dbg !1101   ; saxpy.metal, line 2

Code of launches has this, code that is explained has marks instead (marks.py). Only lines are
told: columns would make tables twice as long, and neither perf nor gdb looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from anymetal.emission.marks import Role, with_scope
from anymetal.ir.model import Instr

#: What the pool calls; the user's name is another name of the same function.
ENTRY = "am_entry"
_FIRST = 1000  #: metadata below are the generator's own
_UNIT, _TYPE, _FLAGS, _FILE = range(_FIRST, _FIRST + 4)
_REST = _FIRST + 10
_GANGS = ("gang.full", "gang.partial")
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")
_CALLED = re.compile(r"(\n  (?:%\S+ = )?call \S+ @gang\.(?:full|partial)\(.*)")


class LineTable:
    """The line table of a module.

    `kernel` is the user's name of the kernel, `symbol` the same with its template arguments;
    `files` are the files in which debuggers find the user's text, by the name that places have,
    of which `main` is that of the body.
    """

    def __init__(self, kernel: str, symbol: str, files: Mapping[str, PurePath], main: str) -> None:
        self.kernel, self.symbol, self.files = kernel, f"{symbol}.kernel", files
        #: Gangs wait for each other, so that their functions stay; else they become a part of the
        #: entry, and count as one from the beginning: places in inlined functions cost LLVM time.
        self.apart = False
        self._lines: list[str] = []
        self._known: dict[object, int] = {}
        self._main = main
        self._file = files.get(main, PurePath(f"{kernel}.metal"))  # an empty body has no file

    def text(self, function: str, instr: Instr, role: Role = "") -> str:
        """What to append to an instruction of the generated text. One without a place gets nothing:
        LLVM counts it to the line in front of it."""
        place = instr.loc
        if place is None or place.where not in self.files:
            return ""
        key = function, place.where, place.line
        number = self._known.get(key)
        if number is None:
            scope = self._scope(function if self.apart else ENTRY, place.where)
            number = self._node(key, f"!DILocation(line: {place.line}, scope: !{scope})")
        return f", !dbg !{number}"

    def declared(self, text: str) -> str:
        """The text of a module, with the metadata that it refers to, and under the user's names."""
        for name in (*_GANGS, ENTRY) if self.apart else (ENTRY,):
            text = with_scope(text, name, self._function(name))
        if self.apart:
            call = f", !dbg !{self._node(None, self._nowhere())}"
            text = _CALLED.sub(lambda found: found[1] + call, text)
        own = _quoted(self.symbol)
        for name in _GANGS:
            text = text.replace(f"@{name}(", f"@{_quoted(self._symbol(name))}(")
        text = text.replace(f"define void @{ENTRY}(", f"define hidden void @{own}(")
        return "\n".join(
            [
                text,
                # Weak: of two names of one address perf shows the other.
                f"@{ENTRY} = weak alias void (ptr, ptr, i64, i64, ptr), ptr @{own}",
                f"!llvm.dbg.cu = !{{!{_UNIT}}}",
                f"!llvm.module.flags = !{{!{_FLAGS}}}",
                f"!{_FILE} = {_file(self._file)}",
                f"!{_UNIT} = distinct !DICompileUnit(language: DW_LANG_C, file: !{_FILE}, "
                "emissionKind: FullDebug)",  # else there are no names of functions
                f"!{_TYPE} = !DISubroutineType(types: !{{null}})",
                f'!{_FLAGS} = !{{i32 2, !"Debug Info Version", i32 3}}',
                *self._lines,
                "",
            ]
        )

    # -- metadata -------------------------------------------------------------------------

    def _node(self, key: object, text: str) -> int:
        number = self._known[key] = _REST + len(self._lines)
        self._lines.append(f"!{number} = {text}")
        return number

    def _function(self, name: str) -> int:
        """A function, under the kernel's name, by which debuggers stop at it."""
        return self._known.get(name) or self._node(
            name,
            f'distinct !DISubprogram(name: "{_escaped(self.kernel)}", scope: !{_FILE}, '
            f"file: !{_FILE}, type: !{_TYPE}, unit: !{_UNIT}, spFlags: DISPFlagDefinition)",
        )

    def _nowhere(self) -> str:
        return f"!DILocation(line: 0, scope: !{self._function(ENTRY)})"

    def _scope(self, function: str, where: str) -> int:
        """The function, as far as it comes from this file."""
        scope = self._function(function)
        if where == self._main:
            return scope
        file = self._known.get((where,)) or self._node((where,), _file(self.files[where]))
        return self._known.get((function, where)) or self._node(
            (function, where),
            f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)",
        )

    def _symbol(self, function: str) -> str:
        return f"{self.symbol}{function.removeprefix('gang')}"


def _file(path: PurePath) -> str:
    name, directory = _escaped(path.name), _escaped(str(path.parent))
    return f'!DIFile(filename: "{name}", directory: "{directory}")'


def _quoted(name: str) -> str:
    """A name in LLVM's text."""
    return f'"{_escaped(name)}"'


def _escaped(text: str) -> str:
    """A string in LLVM's text. Names of folders need not be UTF-8."""
    written = text.encode(errors="surrogateescape")
    return _SPECIAL.sub(lambda found: f"\\{found[0][0]:02X}".encode(), written).decode()
