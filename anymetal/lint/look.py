"""A kernel with all that rules ask about it, and how they point at its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from anymetal.analysis.effects import pointer_of
from anymetal.findings.model import Finding, Place
from anymetal.frontend.unit import part_name
from anymetal.ir.model import Instr, Location
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.lint.fixes import Edit
from anymetal.lint.flow import Flow
from anymetal.lint.guess import Compiled
from anymetal.lint.kernels import Kernel
from anymetal.lint.program import as_written, known_of
from anymetal.lint.rules import RULES

_WORD = re.compile(r"(?:\w+\s*::\s*)*\w+")
_OF_GROUPS = re.compile(r"simdgroup_index_in_threadgroup|simdgroups_per_threadgroup")


class Look:
    """One kernel under the rules."""

    def __init__(self, kernel: Kernel, compiled: Compiled) -> None:
        self.kernel = kernel
        self.compiled = compiled
        self.source, self._raw, _ = compiled.first
        self.fixes: dict[object, Edit] = {}  #: by the identity of the finding

    @cached_property
    def flow(self) -> Flow:
        """The control flow of the program as it is written. Raises Problem."""
        program = as_written(self.source, self._raw)
        return Flow(known_of(program, self.kernel))

    @cached_property
    def single(self) -> bool:
        """Whether a threadgroup is one SIMD-group, or may be meant to be one."""
        threads = [launch.threads for launch in self.kernel.launches]
        known = [n for n in threads if n is not None]
        if known:
            return max(known) <= SIMD_GROUP
        return not _OF_GROUPS.search(self.kernel.body.value + self.kernel.header.value)

    # -- places ---------------------------------------------------------------------------

    def place(self, at: Instr | Location | None, message: str = "") -> Place | None:
        """The place of an instruction; None if it is not in the user's text."""
        location = at.loc if isinstance(at, Instr) else at
        part = self.part(location)
        if location is None or part is None:
            return None
        line, column = location.line, self.column(part, location.line, location.column)
        return self.kernel.place(part, line, column, len(self.word(part, line, column)), message)

    def access(self, instr: Instr, message: str = "") -> Place | None:
        """The place of an access to memory: where its element is named, if that is in the line."""
        pointer, at = pointer_of(instr), instr.loc
        if isinstance(pointer, Instr) and pointer.loc and at and pointer.loc[:2] == at[:2]:
            at = pointer.loc
        return self.place(at, message)

    def part(self, location: Location | None) -> str | None:
        """The part of the kernel that a location is in."""
        for part in ("header", "source"):
            if location is not None and location.where == part_name(self.source, part):
                return part
        return None

    def column(self, part: str, line: int, column: int) -> int:
        """Clang's column, which counts bytes, in characters."""
        before = self.line(part, line).encode()[: max(column, 1) - 1]
        return len(before.decode(errors="ignore")) + 1

    def line(self, part: str, number: int) -> str:
        """A line of one of the texts."""
        lines = self.kernel.text(part).value.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def word(self, part: str, line: int, column: int) -> str:
        """The name that stands at a place, or one character."""
        found = _WORD.match(self.line(part, line), column - 1)
        return found[0] if found else " "

    def word_at(self, instr: Instr) -> str:
        """The name at the place of an instruction, without namespaces."""
        part = self.part(instr.loc)
        if part is None or instr.loc is None:
            return ""
        column = self.column(part, instr.loc.line, instr.loc.column)
        return self.word(part, instr.loc.line, column).split("::")[-1].strip()

    def offset(self, location: Location) -> tuple[str, int] | None:
        """Part and offset in it."""
        part = self.part(location)
        if part is None:
            return None
        lines = self.kernel.text(part).value.split("\n")
        before = sum(len(one) + 1 for one in lines[: location.line - 1])
        return part, before + self.column(part, location.line, location.column) - 1

    # -- findings -------------------------------------------------------------------------

    def finding(
        self,
        code: str,
        place: Place | None,
        message: str,
        *others: Place | None,
        hint: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> Finding:
        """A finding of a rule."""
        return finding(self.kernel, code, place, message, *others, hint=hint, details=details)

    def fix(self, finding: Finding, edit: Edit | None) -> None:
        """Notes how a finding can be repaired, if it can."""
        if edit is not None:
            self.fixes[finding.identity] = edit


def finding(
    kernel: Kernel,
    code: str,
    place: Place | None,
    message: str,
    *others: Place | None,
    hint: str = "",
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """A finding about a kernel. Places that are not known are left out."""
    return Finding(
        code,
        RULES[code].severity,
        message,
        kernel.name,
        place or Place(kernel.file.name, 0),
        tuple(other for other in others if other is not None),
        details or {},
        hint,
    )
