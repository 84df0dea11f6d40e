"""Whether a pass fires and pays on kernels that were not written for this benchmark.

    python -m benchmarks.verdicts                        # all kernels of others, all switches
    python -m benchmarks.verdicts --only unroll-and-jam  # one switch; repeatable
    python -m benchmarks.verdicts --kernel bitonic_sort  # one kernel; repeatable
    python -m benchmarks.verdicts --list

A switch is a pass that `ANYMETAL_PASSES` knows, or a way of generating code that is replaced here
for as long as a kernel is compiled. Each kernel is compiled with everything on, and once without
each switch. Where the machine code differs, the switch has fired: then results are compared, and
both versions run in turn, in random order. A gain is what a run takes without the switch over what
it takes with it, in processor time of one thread: the median over rounds.

`nothing` is a switch that changes nothing, timed for every kernel: it says how far from 1 a gain
must be to mean anything.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from unittest import mock

import mlx.core as mx
import numpy as np

from anymetal.coarsening.schedule import Pieces
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.optimise import optimise
from anymetal.targets.cpu import code_lookup
from anymetal.targets.cpu.assemble import assemble
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.testing.passes_off import optional
from benchmarks.others import kernels

if TYPE_CHECKING:
    from benchmarks.others import Kernel

_ROUNDS = 7  #: at least
_SAMPLE = 3e-3  #: seconds of a sample, at least
_NOW = time.time_ns()  #: in texts of kernels, so that nothing comes from the cache
_CLOSE = 2e-3  #: how far results may differ that add in another order, beside the largest of them
#: What a library says about itself: the passes that it was made without are no other code.
_LAUNCHES = re.compile(r"^@am_launches\.text = .*$", re.MULTILINE)

#: Of a way of generating code: what is replaced, and by what.
Patch = tuple[str, Any]


def patches() -> dict[str, list[Patch]]:
    """What is no pass and can be switched off all the same."""
    questions, nothing, no, unchanged = (
        "anymetal.simd.questions",
        lambda *_: dict[Any, Any](),
        lambda *_: False,
        lambda *_: None,
    )
    pieces = "anymetal.coarsening.schedule.SectionSplitter.__call__"
    contiguity = "anymetal.simd.emit.contiguity.Contiguity"
    return {
        "nothing": [],
        "own-sums": [(f"{questions}.find_privatised_sums", nothing)],
        "only-added": [(f"{questions}.find_accumulations", nothing)],
        "streaming": [(f"{questions}.streaming_stores", lambda *_: set())],
        "tiles": [(f"{questions}.tiles", nothing)],
        "laid-out": [(f"{questions}.find_laid_out", lambda *_: set())],
        "broadcast": [(f"{questions}.many_lanes", nothing)],
        "row-phis": [(f"{questions}.find_row_phis", nothing)],
        "made-later": [(f"{questions}.made_by_accesses", lambda *_: set())],
        "transpose": [("anymetal.simd.emit.group_access.GroupAccess._has_squares", no)],
        "tallies": [("anymetal.simd.access.reduction_variables.ReductionVariables.takes", no)],
        "pieces": [(pieces, lambda splitter, section: Pieces([section], splitter.count))],
        "reassociate": [("anymetal.coarsening.reassociate.run", unchanged)],
        "contiguity": [(f"{contiguity}.load", _gather), (f"{contiguity}.store", _scatter)],
        "windows": [("anymetal.machine.Machine.permutes", no)],
    }


def _gather(self: Any, pointer: Any, _: Any, mask: Any, one: Any, run: Any, gather: Any) -> Any:
    return gather(self._addresses(pointer, mask), self._first_lane(mask))


def _scatter(self: Any, pointer: Any, _: Any, mask: Any, run: Any, scatter: Any) -> None:
    scatter(self._addresses(pointer, mask))


def passes() -> list[str]:
    """The passes that can be switched off."""
    return list(optional())


_optimised = functools.cache(optimise)


@contextlib.contextmanager
def _without(switch: str) -> Iterator[tuple[str, ...]]:
    """Compile without it; what `Variant.without` must be."""
    replaced = patches().get(switch)
    if replaced is None:
        yield (switch,)
        return
    with contextlib.ExitStack() as stack:
        for name, instead in replaced:
            stack.enter_context(mock.patch(name, instead))
        yield ()


class Versions:
    """One kernel with everything on, and without each of some switches."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.parts: list[tuple[Any, Any, str]] = []  #: sources, variants, what Clang made of them
        self.codes: dict[str, list[bytes]] = {"": []}
        self.runs: dict[str, Callable[[], Any]] = {}
        self._assembled: dict[str, bytes] = {}  #: libraries by LLVM IR
        self._run("", self._first)

    def _first(self, source: Any, variant: Any, stages: Any) -> bytes:
        """Compile with everything on."""
        self.parts.append((source, variant, compile_to_ir(source, profile_for(variant.cpu))))
        self.codes[""].append(self._compiled("", *self.parts[-1]))
        return self.codes[""][-1]

    def fires(self, switch: str) -> bool:
        """Whether machine code is another one without it; then that can run."""
        codes = self.codes[switch] = [self._compiled(switch, *part) for part in self.parts]
        if codes == self.codes[""] and switch != "nothing":
            return False
        left = iter(codes)
        self._run(switch, lambda *_: next(left))
        return True

    def _run(self, switch: str, compiled: Callable[..., bytes]) -> None:
        run = self.runs[switch] = self.kernel.make(f"// {_NOW}, without {switch}\n")
        with mock.patch.object(code_lookup, "shared_library", compiled):
            run()

    def _compiled(self, switch: str, source: Any, variant: Any, raw: str) -> bytes:
        """A library; LLVM is only asked for what is new."""

        def assembled(text: str, machine: Any, stages: Any) -> bytes:
            code = _LAUNCHES.sub("", text)
            if code not in self._assembled:
                self._assembled[code] = assemble(text, machine, stages)
            return self._assembled[code]

        with (
            _without(switch or "nothing") as off,
            mock.patch("anymetal.targets.cpu.compiler.assemble", assembled),
            mock.patch("anymetal.pipeline.program.optimise", _optimised),
        ):
            return compile_kernel(source, variant._replace(without=off), None, raw)

    def check(self, switch: str) -> str:
        """What is wrong with the results without it; empty if they are those with it."""
        pairs = zip(self._results(""), self._results(switch), strict=True)
        for number, (one, other) in enumerate(pairs):
            scale = np.nanmax(np.abs(one), initial=0) if one.dtype.kind == "f" else 0
            if not np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * scale, equal_nan=True):
                return f"result {number} differs"
        return ""

    def _results(self, switch: str) -> list[Any]:
        import mlx.core as mx

        narrow = (mx.float16, mx.bfloat16)
        out = [r for r in self.runs[switch]() if r is not None]
        return [np.array(r.astype(mx.float32) if r.dtype in narrow else r) for r in out]

    def gain(self, switch: str, seconds: float) -> float:
        """Time without the switch over time with it."""
        both = [self.runs[""], self.runs[switch]]
        calls = max(1, round(_SAMPLE / max(_processor_time(both[0], 1), 1e-6)))
        chance, ratios, end = random.Random(7), list[float](), time.perf_counter() + seconds
        while len(ratios) < _ROUNDS or time.perf_counter() < end:
            order = chance.sample([0, 1], 2)
            taken = {which: _processor_time(both[which], calls) for which in order}
            ratios.append(taken[1] / taken[0])
        return median(ratios)


def _processor_time(run: Callable[[], Any], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        run()
    return time.process_time() - start


def measure(kernel: Kernel, switches: list[str], seconds: float) -> dict[str, float]:
    """The gain of each switch that fires on a kernel."""
    versions, gains = Versions(kernel), {}
    for switch in switches:
        if not versions.fires(switch):
            continue
        if wrong := versions.check(switch):
            print(f"  {kernel.name} without {switch}: {wrong}", file=sys.stderr)
        gains[switch] = round(versions.gain(switch, seconds), 3)
    return gains


def table(found: dict[str, dict[str, float]], switches: list[str]) -> str:
    """A line for each switch, of what was measured kernel by kernel."""
    lines = ["| without | fires on | mean gain | largest | smallest |", "|---|---:|---:|---|---|"]
    for switch in switches:
        gains = {kernel: all_[switch] for kernel, all_ in found.items() if switch in all_}
        ends = sorted(gains, key=lambda kernel: gains[kernel])
        mean = exp(sum(map(log, gains.values())) / len(gains)) if gains else 1
        shown = [f"{gains[k]:.2f} `{k}`" for k in (ends[-1:] + ends[:1])] or ["", ""]
        cells = [f"`{switch}`", f"{len(gains)} of {len(found)}", f"{mean:.3f}", *shown]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Measure what the command line names, and print tables."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.verdicts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="SWITCH", help="repeatable")
    parser.add_argument("--kernel", action="append", metavar="NAME", help="repeatable")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each pair (%(default)s)")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th kernel, from the i-th on")
    parser.add_argument("--json", type=Path, help="keep the gains here, after each kernel")
    parser.add_argument("--list", action="store_true", help="print kernels and switches, and stop")
    options = parser.parse_args()
    os.environ["ANYMETAL_NUM_THREADS"] = "1"
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")
    known = [*patches(), *passes()]
    switches = options.only or known
    first, count = map(int, options.part.split("/"))
    chosen = [k for k in kernels() if not options.kernel or k.name in options.kernel][first::count]
    if options.list or not chosen or not set(switches) <= set(known):
        print("kernels:", *(k.name for k in kernels()), "\nswitches:", *known)
        return 0 if options.list else 2
    mx.set_cache_limit(2 << 30)  # nobody pays for fresh pages
    found: dict[str, dict[str, float]] = {}
    for kernel in chosen:
        try:
            found[kernel.name] = measure(kernel, switches, options.seconds)
        except Exception as error:
            print(f"{kernel.name} failed: {error}", file=sys.stderr)
            continue
        print(kernel.name, *(f"{s} {g:.3f}" for s, g in found[kernel.name].items()), flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))
    print(table(found, switches))
    return 0


if __name__ == "__main__":
    sys.exit(main())
