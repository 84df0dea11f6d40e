"""Cases of the sanitizer: `.metal` files as in tests/kernels, with what must be found in them.

// option: order=shuffle                                  what `anymetal.sanitize` is given
y[i + 1] = x[i];  // finds: bounds-write                  at this line
t[l] = 1;         // finds: race-threadgroup (either)     at one of the lines that say so
// finds: unwritten-output                                of the kernel, at no line
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anymetal
from anymetal.sanitizer import Session
from anymetal.sanitizer.kinds import NUMBERS
from anymetal.testing import metal_case
from anymetal.testing.metal_case import MetalCase

FOLDER = Path(__file__).parent / "kernels"
_FINDS = re.compile(r"// finds: (.*)")
_OPTION = re.compile(r"// option: (\w+)=(\S+)")
_VALUES: dict[str, Any] = {"true": True, "false": False}


@dataclass
class Case:
    """A file, and the findings that it asks for: kinds with lines, 0 for none."""

    kernel: MetalCase
    options: dict[str, Any] = field(default_factory=dict)
    exact: set[tuple[str, int]] = field(default_factory=set)
    either: dict[str, set[int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.kernel.path.relative_to(FOLDER).with_suffix(""))

    @property
    def is_clean(self) -> bool:
        return not self.exact and not self.either


def read(path: Path) -> Case:
    """Reads a file. Raises ValueError for kinds that do not exist."""
    text = path.read_text()
    case = Case(metal_case.read(path, text))
    for number, line in enumerate(text.split("\n"), 1):
        if option := _OPTION.match(line):
            value = option[2]
            case.options[option[1]] = int(value) if value.isdecimal() else _VALUES.get(value, value)
        if found := _FINDS.search(line):
            at = 0 if line.startswith("// finds:") else number
            for word in found[1].split(","):
                kind, _, rest = word.strip().partition(" ")
                if kind not in NUMBERS or rest not in ("", "(either)"):
                    raise ValueError(f"{path}:{number}: {word.strip()!r} is no kind of finding")
                if rest:
                    case.either.setdefault(kind, set()).add(at)
                else:
                    case.exact.add((kind, at))
    return case


def all_cases() -> list[Case]:
    return [read(path) for path in sorted(FOLDER.rglob("*.metal"))]


def run(case: Case, dtype: str = "") -> Session:
    """Runs a case; its results are those that it expects, if it says so."""
    with anymetal.sanitize("report", **{"seed": 1, **case.options}) as found:
        if case.kernel.all("expect"):
            metal_case.run(case.kernel, dtype)
        else:
            metal_case.launcher(case.kernel, dtype, metal_case.inputs(case.kernel, dtype))()
    return found


def check(case: Case, found: Session) -> None:
    """Exactly the findings that the case asks for."""
    places = {(one.code, one.place.line) for one in found.findings}
    wrong = [f"not found: {kind} at line {line}" for kind, line in sorted(case.exact - places)]
    for kind, lines in case.either.items():
        if not any((kind, line) in places for line in lines):
            wrong.append(f"not found: {kind} at any of the lines {sorted(lines)}")
    allowed = case.exact | {(kind, at) for kind, lines in case.either.items() for at in lines}
    wrong += [f"not asked for: {kind} at line {line}" for kind, line in sorted(places - allowed)]
    assert not wrong, "\n".join([f"{case.kernel.path}:", *wrong, found.text()])
