"""`ANYMETAL_DEBUG`: what becomes of each kernel, told on the standard error stream.

    1   which target runs each kernel, where its code comes from, and how long each stage of its
        compilation took
    2   also its Metal text, as MLX would generate it
    3   also the program of one thread
    4   also the program of a SIMD-group, as LLVM IR after LLVM's optimisation; if LLVM refuses the
        generated text, that text
    5   also its assembly

Nothing of this is looked at in a call whose kernel is at hand.
"""

from __future__ import annotations

import os
import sys

from anymetal.source import KernelSource, LibrarySource

HIGHEST = 5
#: From which level on a text is shown.
LEVELS = {
    "Metal": 2,
    "thread program": 3,
    "vector IR": 4,
    "vector IR that LLVM refuses": 4,
    "assembly": 5,
}


def level() -> int:
    """The level in use; 0 means silence."""
    text = os.environ.get("ANYMETAL_DEBUG") or "0"
    if text in [str(number) for number in range(HIGHEST + 1)]:
        return int(text)
    raise ValueError(
        f"ANYMETAL_DEBUG must be a level from 0 (silent) to {HIGHEST} (everything), not {text!r}"
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
