"""Rules about texts that do not compile: names that Metal does not have, and everything else."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator

from anymetal.errors import MetalCompileError
from anymetal.findings.model import Finding, Place
from anymetal.frontend.clang import INCLUDE
from anymetal.lint.guess import errors_in, is_about_words
from anymetal.lint.kernels import Kernel
from anymetal.lint.look import finding
from anymetal.source import ATTRIBUTES

_NAME = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no template named|no member named) "
    r"'(?:\w+::)*(\w+)'"
)
_PLACE = re.compile(r"(?:: (header|source|signature))?:(\d+):(\d+)$")
_CLOSE = 0.75
_MOST_SHOWN = 10

Error = tuple[str, str, MetalCompileError]


def check(kernel: Kernel, errors: list[Error]) -> Iterator[Finding]:
    """AM301, AM302."""
    for place, text, error in errors[:_MOST_SHOWN]:
        name = _NAME.search(text)
        at = _place(kernel, place, len(name[1]) if name else 1)
        if at is None:
            continue
        hint = _hint(error, place)
        if name and not hint and "did you mean" not in text:
            near = _nearest(name[1], kernel)
            hint = f"did you mean {near}?" if near else ""
        yield finding(kernel, "AM302" if name else "AM301", at, text, hint=hint)


def sure(kernel: Kernel, errors: list[Error]) -> list[Error]:
    """The errors that do not follow from types, or template parameters, that are not known."""
    known = any(not launch.open for launch in kernel.launches)
    found = [error for error in errors if is_about_words(error[1])]
    if known or not found:
        return found
    all_of_one = errors_in(found[0][2])
    doubtful = not all(is_about_words(text) for _, text in all_of_one)
    return [] if doubtful or any(_may_be_parameter(kernel, error) for error in found) else found


def _may_be_parameter(kernel: Kernel, error: Error) -> bool:
    """Whether an unknown name may be a template parameter of a call that is not known."""
    name = _NAME.search(error[1])
    if name is None:
        return False
    hint = _hint(error[2], error[0])
    return hint.startswith("if ") or not (hint or _nearest(name[1], kernel))


def _place(kernel: Kernel, text: str, length: int) -> Place | None:
    """The place that an error names."""
    found = _PLACE.search(text)
    if found is None:
        return None
    part, line, column = found[1] or "header", int(found[2]), int(found[3])
    if part == "signature":
        return kernel.at_call(kernel.node) if kernel.node else None
    return kernel.place(part, line, column, length)


def _hint(error: MetalCompileError, place: str) -> str:
    """What the compiler's own hint says about the error at a place."""
    inside = False
    for line in error.diagnostics.split("\n"):
        if re.match(r".*:\d+:\d+: error: ", line):
            inside = line.startswith(f"{place}: error: ")
        elif inside and line.startswith("hint: "):
            return line.removeprefix("hint: ")
    return ""


def _nearest(name: str, kernel: Kernel) -> str:
    """The most similar name that exists."""
    own = [*kernel.inputs, *kernel.outputs]
    own += [f"{name}_{what}" for name in kernel.inputs for what in ("shape", "strides", "ndim")]
    found = difflib.get_close_matches(name, [*own, *ATTRIBUTES, *_functions()], 1, _CLOSE)
    return found[0] if found else ""


@functools.cache
def _functions() -> tuple[str, ...]:
    """The names of Metal's functions, out of our headers."""
    names: set[str] = set()
    for path in sorted((INCLUDE / "anymetal").glob("*.h")):
        names |= set(re.findall(r"\b([a-z][a-z0-9_]{2,})\s*\(", path.read_text()))
        names |= set(re.findall(r"\bAM_\w+\((?:\w+, )?([a-z][a-z0-9_]{2,})", path.read_text()))
    return tuple(sorted(n for n in names if not n.startswith(("__", "static_", "decltype"))))
