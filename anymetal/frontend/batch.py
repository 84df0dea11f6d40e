"""Kernels of one library in one run of Clang, which takes most of its time for what they share.

Each kernel has a wrapper of a name of its own behind the text. What Clang makes of that is one
module; the module of one kernel is what its wrapper leads to, under the usual name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from anymetal.errors import AnyMetalError
from anymetal.frontend import clang
from anymetal.frontend.complaints import Complaint
from anymetal.frontend.profile import Profile
from anymetal.frontend.unit import KERNEL_SYMBOL, THREADGROUP_MEMORY
from anymetal.source import LibrarySource

_NAME = r'(?:[\w.$-]+|"[^"]*")'
#: What a module consists of: functions, and lines that define something.
_PART = re.compile(
    rf"^(?:define [^@]*(?P<function>@{_NAME}).*?^\}}|declare [^@\n]*(?P<declared>@{_NAME})[^\n]*"
    rf"|attributes (?P<attributes>#\d+)[^\n]*|(?P<defined>[@$]{_NAME}|!\d+) =[^\n]*|[^;\n][^\n]*)$",
    re.M | re.S,
)
_MENTIONED = re.compile(rf"[@$]{_NAME}|#\d+|!\d+")


class Raw(NamedTuple):
    """A kernel as Clang leaves it: what `clang.compile_to_ir` returns and hears."""

    ir: str
    heard: list[Complaint]


def compile_batch(
    sources: Sequence[LibrarySource], profile: Profile
) -> Iterator[Raw | AnyMetalError]:
    """For each kernel what `clang.compile_to_ir` makes of it alone, or raises.

    They must be of one library, with the same values of function constants.
    """
    assert len({(source.header, source.included, source.before) for source in sources}) == 1
    after = "".join(_numbered(source.after, number) for number, source in enumerate(sources))
    heard: list[Complaint] = []
    try:
        compiled, ir = clang.compiled(sources[0].replaced(after=after), profile, heard=heard)
    except AnyMetalError:  # because of one of them, or all
        yield from (_alone(source, profile) for source in sources)
        return
    if heard:  # Clang says it once, of whichever kernel needs a template first
        yield from (_alone(source, profile) for source in sources)
        return
    module = _Module(ir)
    for number, source in enumerate(sources):
        own = compiled.replaced(name=source.name, entry=source.entry, after=source.after)
        try:
            part = module.of(f"{KERNEL_SYMBOL}_{number}")
            yield Raw(clang.finished(own, part, profile), [])
        except AnyMetalError as error:
            yield error


def _alone(source: LibrarySource, profile: Profile) -> Raw | AnyMetalError:
    heard: list[Complaint] = []
    try:
        return Raw(clang.compile_to_ir(source, profile, heard), heard)
    except AnyMetalError as error:
        return error


def _numbered(wrapper: str, number: int) -> str:
    """A wrapper whose functions have names of their own."""
    text = wrapper.replace(f"{KERNEL_SYMBOL}(", f"{KERNEL_SYMBOL}_{number}(")
    return text.replace(THREADGROUP_MEMORY, f"{THREADGROUP_MEMORY}{number}_")


class _Module:
    """LLVM's text in parts, of which a kernel takes those that it needs."""

    def __init__(self, ir: str) -> None:
        self._parts: list[str] = []
        self._always: list[int] = []  #: layout, types and the like
        self._defined: dict[str, int] = {}
        self._mentioned: list[tuple[str, ...]] = []
        for match in _PART.finditer(ir):
            name = match["function"] or match["declared"] or match["attributes"] or match["defined"]
            if name is None:
                self._always.append(len(self._parts))
            else:
                self._defined[name] = len(self._parts)
            self._parts.append(match[0])
            self._mentioned.append(tuple(dict.fromkeys(_MENTIONED.findall(match[0]))))

    def of(self, symbol: str) -> str:
        """The module of one function, which is called `KERNEL_SYMBOL` there."""
        needed: set[int] = set()
        work = [self._defined[f"@{symbol}"], *self._always]
        while work:
            part = work.pop()
            if part not in needed:
                needed.add(part)
                for name in self._mentioned[part]:
                    # A function's own comdat has its name, and is not mentioned.
                    for defined in (name, f"${name[1:]}"):
                        if defined in self._defined:
                            work.append(self._defined[defined])
        text = "\n".join(self._parts[part] for part in sorted(needed))
        return re.sub(rf"@{symbol}\b", f"@{KERNEL_SYMBOL}", text) + "\n"
