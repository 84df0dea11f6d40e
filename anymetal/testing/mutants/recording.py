"""Launches of programs that run: kernels to make mistakes in, with arrays to run them on."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import mlx.core as mx

from anymetal import targets
from anymetal.source import LibrarySource
from anymetal.targets.base import Launch
from anymetal.targets.cpu.launch import CpuTarget
from anymetal.testing.metal_case import CaseFormatError, MetalCase, inputs, launcher, parse


@contextlib.contextmanager
def recording() -> Iterator[list[Launch]]:
    """The launches of kernels in the block, which run as they would."""
    launches: list[Launch] = []
    run = CpuTarget.run

    def recorded(target: CpuTarget, launch: Launch) -> list[mx.array]:
        mx.eval(launch.inputs)
        launches.append(launch)
        return run(target, launch)

    CpuTarget.run = recorded  # type: ignore[method-assign, assignment]
    try:
        yield launches
    finally:
        CpuTarget.run = run  # type: ignore[method-assign]


def launches_of(program: Callable[[], object]) -> list[Launch]:
    """The first launch of each kernel that a program runs, except of Metal libraries."""
    with recording() as launches:
        program()
    first = {launch.source: launch for launch in reversed(launches)}
    return [one for one in first.values() if not isinstance(one.source, LibrarySource)]


def launch_of(case: MetalCase) -> Launch:
    """The launch of a kernel case, with the first of its dtypes."""
    (launch,) = launches_of(launcher(case, case.dtypes[0], inputs(case, case.dtypes[0])))
    return launch


def cases(folder: Path) -> list[MetalCase]:
    """Cases that are to give results."""
    found = []
    for path in sorted(folder.rglob("*.metal")):
        with contextlib.suppress(CaseFormatError):
            found.append(parse(path))
    return [case for case in found if not case.all("error")]


def run(launch: Launch) -> list[mx.array]:
    """The outputs of a launch, evaluated; inside of `anymetal.sanitize()` it is sanitized."""
    results = targets.active().run(launch)
    mx.eval(results)
    return results


def with_text(launch: Launch, **texts: str) -> Launch:
    """The launch with another body or header."""
    return dataclasses.replace(launch, source=launch.source.replaced(**texts))
