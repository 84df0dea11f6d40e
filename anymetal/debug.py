"""`ANYMETAL_DEBUG`: what becomes of each kernel, told on the standard error stream.

    1   which target runs each kernel, where its code comes from, and how long each stage of its
        compilation took
    2   also its Metal text, as MLX would generate it
    3   also the program of one thread
    4   also the program of a SIMD-group, as LLVM IR after LLVM's optimisation; if LLVM refuses the
        generated text, that text
    5   also its assembly
    6   also what each pass of the compiler changed, and how long it took

Names of passes (docs/architecture.md lists them), with commas between them, in the place of the
level show the whole program behind each of those, and the times of all:
ANYMETAL_DEBUG=version-by-bounds,coarsen

`ANYMETAL_CHECK=1`: behind each pass of the compiler that changes a program, that is checked against
the grammar of programs; what breaks a rule is a CompilerError that names the pass.

Nothing of this is looked at in a call whose kernel is at hand.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

from anymetal.source import KernelSource, LibrarySource

HIGHEST = 6
#: From which level on a text is shown.
LEVELS = {
    "Metal": 2,
    "thread program": 3,
    "vector IR": 4,
    "vector IR that LLVM refuses": 4,
    "assembly": 5,
    "changes": 6,
}


class Wanted(NamedTuple):
    """What `ANYMETAL_DEBUG` asks for."""

    level: int
    passes: frozenset[str] = frozenset()  #: after which the program is shown
    check: bool = False  #: the program shall follow its grammar behind each pass

    @property
    def of_passes(self) -> bool:
        """Whether something is asked for behind passes."""
        return bool(self.passes) or self.check or self.shows("changes")

    def shows(self, what: str) -> bool:
        """Whether a text of this kind is asked for; what passes made has their names in it."""
        kind = what.split(":")[0]
        return self.level >= LEVELS[kind] if kind in LEVELS else True


NOTHING = Wanted(0)


def wanted() -> Wanted:
    """What is asked for at present."""
    text = os.environ.get("ANYMETAL_DEBUG") or "0"
    check = os.environ.get("ANYMETAL_CHECK", "0") not in ("", "0")
    if text in [str(number) for number in range(HIGHEST + 1)]:
        return Wanted(int(text), check=check)
    if re.fullmatch(r"[a-z-]+(,[a-z-]+)*", text):
        return Wanted(1, frozenset(text.split(",")), check)
    raise ValueError(
        f"ANYMETAL_DEBUG must be a level from 0 (silent) to {HIGHEST} (everything), or names of "
        f"passes of the compiler, not {text!r}"
    )


def say(text: str) -> None:
    """One message, whole, even if several threads have something to say."""
    sys.stderr.write(f"anymetal: {text}\n")
    sys.stderr.flush()


def show(kernel: str, what: str, text: str) -> None:
    """A text that belongs to a kernel."""
    say(f"kernel `{kernel}`, {what}:\n{text.rstrip()}\n")


def metal_of(source: KernelSource) -> str:
    """The Metal text of a kernel: what MLX would generate, or the file that it comes from."""
    if isinstance(source, LibrarySource):
        return source.header
    from anymetal.signature import metal_text  # which imports MLX

    return metal_text(source)
