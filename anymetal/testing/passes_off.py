"""Kernels compiled without some of the compiler's optimisations, and which of those is to blame.

Both fuzzers use it: `--passes-off` switches a random subset off for each case, `--bisect` names the
pass that a failure comes from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import Any

from anymetal.pipeline import thread
from anymetal.pipeline.driver import Pass
from anymetal.targets.cpu import pipeline as gang
from anymetal.targets.cpu.variant import switched_off

Off = tuple[str, ...]  #: names of passes, in the order of the pipeline


def optional() -> Off:
    """The passes that are optimisations."""
    passes: list[Pass[Any]] = [*thread.PASSES, *gang.PASSES]
    return tuple(one.name for one in passes if one.optional)


def off_for(seed: int, draw: bool) -> Off:
    """What is off for the case of this seed: drawn from the seed, or as `ANYMETAL_PASSES` says."""
    return drawn(seed) if draw else switched_off()


def drawn(seed: int) -> Off:
    """A subset of any size, down to none and up to all: sizes come equally often, so that each pass
    is often the only one that runs, the only one that does not, and anything in between."""
    rng = random.Random(f"passes off {seed}")
    names = optional()
    return _ordered(rng.sample(names, rng.randint(0, len(names))))


def setting(off: Off) -> str:
    """What to write in front of a command that shall compile without these passes."""
    return f"ANYMETAL_PASSES={','.join(f'-{name}' for name in off)} " if off else ""


def culprit(fails: Callable[[Off], bool], off: Off = ()) -> str:
    """Says which pass makes a case fail, in one line.

    `fails` tells whether the case does so without these passes; `off` are those without which it
    did. The culprit is the first pass in whose absence the case comes out right. If no single one
    is, several do harm: then it is the last of the shortest beginning of the pipeline that does.
    """
    if not fails(off):
        return "it comes out right when it runs again"
    off = _needed(fails, off)
    only = f", with {', '.join(off)} off (else it comes out right)" if off else ""
    on = [name for name in optional() if name not in off]
    for name in on:
        if not fails(_ordered([*off, name])):
            return f"it comes out right without {name}{only}"
    for count in range(len(on)):
        if fails(_ordered([*off, *on[count:]])):
            break
    else:
        count = len(on)
    if count == 0:
        return f"no pass that can be switched off is to blame: it fails without any{only}"
    return f"no single pass is to blame; with those up to {on[count - 1]} it fails{only}"


def _needed(fails: Callable[[Off], bool], off: Off) -> Off:
    """Those that must be off for it to fail, as far as leaving out one after the other tells."""
    needed = off
    for name in off:
        fewer = tuple(other for other in needed if other != name)
        if fails(fewer):
            needed = fewer
    return needed


def _ordered(names: Collection[str]) -> Off:
    return tuple(name for name in optional() if name in names)
