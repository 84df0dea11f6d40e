"""The race detector on launches that are made of events, against all pairs of accesses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.targets.cpu.observer.machine import (
    ATOMIC_LOAD,
    ATOMIC_STORE,
    LOAD,
    NOBODY,
    STORE,
    UPDATE,
    Gang,
    Machine,
    Watched,
)  # fmt: skip

TILE, Y = 0, 1
ARRAYS = [Watched(4096, False, 4), Watched(65536, True, 4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("observer")


# -- random programs against all pairs of accesses ---------------------------------------------


class Step(NamedTuple):
    """What one lane of a gang does, or a whole gang (a barrier)."""

    what: str  # access, barrier, narrow
    lane: int = 0
    action: int = 0
    array: int = 0
    offset: int = 0
    bytes: int = 4
    flags: int = 0
    site: int = 0


class Event(NamedTuple):
    thread: tuple[int, int]  # threadgroup, number in it
    step: Step
    phase: tuple[int, int]  # barriers for threadgroup memory and device memory so far
    narrow: tuple[int, int]  # the same of the SIMD-group


def _program(
    rng: random.Random, gangs: int, groups: int
) -> dict[tuple[int, int], list[list[Step]]]:
    """For each gang, its steps from barrier to barrier, that barrier included."""
    sites = itertools.count(1)
    phases = rng.randint(1, 4)
    flags = {group: [rng.randint(0, 3) for _ in range(phases)] for group in range(groups)}
    words = rng.choice([1, 2, 4])
    actions = rng.choice([[LOAD, STORE], [LOAD, LOAD, LOAD, STORE], [UPDATE, LOAD, STORE],
                          [ATOMIC_LOAD, ATOMIC_STORE, UPDATE, LOAD, STORE]])  # fmt: skip
    widths = rng.choice([[4], [4], [1, 2, 4], [4, 8]])

    def steps() -> Iterator[Step]:
        for _ in range(rng.randint(0, 4)):
            if rng.random() < 0.25:
                yield Step("narrow", flags=rng.randint(0, 3))
                continue
            width = rng.choice(widths)
            at = rng.randrange(0, 4 * words + 4, width)
            action, array = rng.choice(actions), rng.randrange(2)
            lane = rng.choice([0, 1, 31])
            yield Step("access", lane, action, array, at, width, site=next(sites))

    return {
        (group, gang): [
            [*steps(), Step("barrier", flags=flags[group][phase])] for phase in range(phases)
        ]
        for group in range(groups)
        for gang in range(gangs)
    }


def _events(program: dict[tuple[int, int], list[list[Step]]]) -> Iterator[Event]:
    for (group, gang), phases in program.items():
        barriers, narrow = [0, 0], [0, 0]
        for step in itertools.chain(*phases):
            counts = {"barrier": barriers, "narrow": narrow}.get(step.what)
            if counts is None:
                thread = group, 32 * gang + step.lane
                yield Event(thread, step, (barriers[0], barriers[1]), (narrow[0], narrow[1]))
            else:
                counts[0] += step.flags >> 1 & 1
                counts[1] += step.flags & 1


def _racy(one: Event, other: Event) -> bool:
    """By the definition."""
    a, b = one.step, other.step
    memory = a.array
    if memory != b.array or one.thread == other.thread:
        return False
    if a.offset >= b.offset + b.bytes or b.offset >= a.offset + a.bytes:
        return False
    reads = (LOAD, ATOMIC_LOAD)
    if (a.action in reads and b.action in reads) or (a.action >= UPDATE and b.action >= UPDATE):
        return False
    if one.thread[0] != other.thread[0]:
        return memory == Y
    if one.phase[memory] != other.phase[memory]:
        return False
    same_simd_group = one.thread[1] // 32 == other.thread[1] // 32
    return not (same_simd_group and one.narrow[memory] != other.narrow[memory])


def _kernel(program: dict[tuple[int, int], list[list[Step]]]) -> object:
    def kernel(gang: Gang) -> Generator[None, None, None]:
        for phase in program[gang.group, gang.number]:
            for step in phase:
                if step.what == "access":
                    gang.one(step.action, step.array, step.offset, step.lane,
                             bytes=step.bytes, site=step.site)  # fmt: skip
                elif step.what == "narrow":
                    gang.simdgroup_barrier(step.flags)
                else:
                    yield gang.barrier(step.flags)

    return kernel


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(folder: Path, seed: int) -> None:
    """Each finding is a race by the definition, and where there is one, there is a finding."""
    for case in range(250):
        rng = random.Random(1000 * seed + case)
        gangs, groups = rng.randint(1, 3), rng.randint(1, 3)
        program = _program(rng, gangs, groups)
        events = {event.step.site: event for event in _events(program)}
        granule = min((event.step.bytes for event in events.values()), default=4)
        arrays = [Watched(64, False, granule), Watched(64, True, granule)]
        machine = Machine(folder, arrays, 32 * gangs * groups, 32 * gangs)
        found = machine(_kernel(program))
        for finding in found:
            one = events[finding.site]
            if finding.other_thread[0] != NOBODY:
                other = events[finding.other_site]
                assert _racy(one, other), (case, one, other)
            else:
                assert any(_racy(one, third) for third in events.values()), (case, one)
        pairs = [p for p in itertools.combinations(events.values(), 2) if _racy(*p)]
        told = {(f.array, f.offset) for f in found}
        for one, other in pairs:
            offset = max(one.step.offset, other.step.offset)
            ends = [event.step.offset + event.step.bytes for event in (one, other)]
            covered = {(one.step.array, at) for at in range(offset - 7, min(ends))}
            assert told & covered, (case, one, other, found)
