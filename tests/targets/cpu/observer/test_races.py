"""The race detector on launches that are made of events, against all pairs of accesses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Generator, Iterator
from math import gcd
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.targets.cpu.observer.machine import (
    ALL,
    ATOMIC_LOAD,
    ATOMIC_STORE,
    LOAD,
    NOBODY,
    STORE,
    THREADGROUP,
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
    """What a gang does: an access, or a barrier."""

    what: str  # run, lanes, barrier, narrow
    action: int = 0
    array: int = 0
    bytes: int = 4
    offsets: tuple[int, ...] = ()  # of all lanes; of a run, that of the first and the stride
    mask: int = ALL
    flags: int = 0
    site: int = 0

    def at(self, lane: int) -> int:
        return (
            self.offsets[0] + lane * self.offsets[1] if self.what == "run" else self.offsets[lane]
        )


class Event(NamedTuple):
    thread: tuple[int, int]  # threadgroup, number in it
    step: Step
    offset: int
    phase: tuple[int, int]  # barriers for threadgroup memory and device memory so far
    narrow: tuple[int, int]  # the same of the SIMD-group


def _program(
    rng: random.Random, gangs: int, groups: int
) -> dict[tuple[int, int], list[list[Step]]]:
    """For each gang, its steps from barrier to barrier, that barrier included."""
    sites = itertools.count(1)
    phases = rng.randint(1, 4)
    flags = {group: [rng.randint(0, 3) for _ in range(phases)] for group in range(groups)}
    actions = rng.choice([[LOAD, STORE], [LOAD, LOAD, LOAD, STORE], [UPDATE, LOAD, STORE],
                          [ATOMIC_LOAD, ATOMIC_STORE, UPDATE, LOAD, STORE]])  # fmt: skip
    widths = rng.choice([[4], [4], [1, 2, 4], [4, 8], [16], [12]])
    size = rng.choice([16, 64, 512])
    tidy = rng.choice([0, 0.5, 0.95])  # how many accesses are to whole blocks, by threads in order

    def access() -> Step:
        width = rng.choice(widths)
        step = Step("run", rng.choice(actions), rng.randrange(2), width, site=next(sites))
        mask = rng.choice([1, 2, 1 << 31, ALL, ALL, rng.getrandbits(32) | 1])
        offset = rng.randrange(0, size, width)
        if rng.random() < tidy and 512 % width == 0:
            return step._replace(offsets=(offset // 128 * 128, width), mask=ALL)
        stride = rng.choice([0, width, width, 2 * width, -width])
        if stride < 0:
            offset += 31 * width
        offsets = tuple(rng.randrange(0, size, width) for _ in range(32))
        return rng.choice([step._replace(offsets=(offset, stride), mask=mask),
                           step._replace(what="lanes", offsets=offsets, mask=mask)])  # fmt: skip

    def steps() -> Iterator[Step]:
        for _ in range(rng.randint(0, 4)):
            if rng.random() < 0.25:
                yield Step("narrow", flags=rng.randint(0, 3))
                continue
            step, turns = access(), rng.choice([1, 1, 5])  # perhaps a loop
            apart = rng.choice([0, 128, step.bytes]) if step.what == "run" else 0
            for turn in range(turns):
                yield step._replace(offsets=(step.offsets[0] + turn * apart, *step.offsets[1:]))

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
                for lane in (lane for lane in range(32) if step.mask >> lane & 1):
                    thread, now = (group, 32 * gang + lane), (barriers[0], barriers[1])
                    yield Event(thread, step, step.at(lane), now, (narrow[0], narrow[1]))
            else:
                counts[0] += step.flags >> 1 & 1
                counts[1] += step.flags & 1


def _racy(one: Event, other: Event) -> bool:
    """By the definition."""
    a, b = one.step, other.step
    memory = a.array
    if memory != b.array or one.thread == other.thread:
        return False
    if one.offset >= other.offset + b.bytes or other.offset >= one.offset + a.bytes:
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
                its = {"bytes": step.bytes, "site": step.site, "mask": step.mask}
                if step.what == "run":
                    gang.run(step.action, step.array, *step.offsets, **its)
                elif step.what == "lanes":
                    gang.lanes_at(step.action, step.array, step.offsets, **its)
                elif step.what == "narrow":
                    gang.simdgroup_barrier(step.flags)
                else:
                    yield gang.barrier(step.flags)

    return kernel


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
)
def test_random_programs(folder: Path, seed: int) -> None:
    """Each finding is a race by the definition, and where there is one, there is a finding."""
    for case in range(60):
        rng = random.Random(1000 * seed + case)
        gangs, groups = rng.randint(1, 3), rng.randint(1, 3)
        program = _program(rng, gangs, groups)
        events = list(_events(program))
        shared = gcd(16, *(event.step.bytes for event in events))
        granule = shared & -shared
        arrays = [Watched(2048, False, granule), Watched(2048, True, granule)]
        machine = Machine(folder, arrays, 32 * gangs * groups, 32 * gangs)
        found = machine(_kernel(program))
        of_bytes: dict[tuple[int, int], list[Event]] = {}
        for event in events:
            for byte in range(event.offset, event.offset + event.step.bytes):
                of_bytes.setdefault((event.step.array, byte), []).append(event)
        for finding in found:
            there = of_bytes[finding.array, finding.offset]
            ones = _those(there, machine, finding.site, finding.thread)
            others = _those(there, machine, finding.other_site, finding.other_thread)
            assert any(_racy(*pair) for pair in itertools.product(ones, others)), (case, finding)
        told = {(f.array, f.offset // granule) for f in found}
        racy = {
            (array, byte // granule): (one, other)
            for (array, byte), there in of_bytes.items()
            for one, other in itertools.combinations(there, 2)
            if _racy(one, other)
        }
        if {LOAD, ATOMIC_LOAD} <= {event.step.action for event in events}:
            continue  # of what reads a place since the barrier, one sort is remembered
        # A pair of sites is told once, by its first thread: others may be anywhere.
        sites = {(f.site, f.other_site if f.other_thread[0] != NOBODY else None) for f in found}
        for place, (one, other) in racy.items():
            assert place in told or sites & _pairs_at(of_bytes, place, granule), (case, one, other)


def _those(there: list[Event], machine: Machine, site: int, thread: tuple[int, ...]) -> list[Event]:
    """The events at a place that a finding may mean by one of its two accesses."""
    size = machine.threadgroup[0]
    number = thread[0] // size, thread[0] % size
    return [
        event
        for event in there
        if thread[0] == NOBODY  # of several, whose first is not in conflict: site is that one's
        or (event.step.site == site and event.thread == number)
    ]


def _pairs_at(
    of_bytes: dict[tuple[int, int], list[Event]], place: tuple[int, int], granule: int
) -> set[tuple[int, int | None]]:
    """Pairs of sites that race for a granule."""
    array, number = place
    pairs: set[tuple[int, int | None]] = set()
    for byte in range(number * granule, (number + 1) * granule):
        for one, other in itertools.permutations(of_bytes.get((array, byte), []), 2):
            if _racy(one, other):
                pairs |= {(one.step.site, other.step.site), (one.step.site, None)}
    return pairs


# -- single launches ---------------------------------------------------------------------------


def test_time_may_come_to_its_end(folder: Path) -> None:
    """Times are 32 bits; at their end all is forgotten, and nothing is made up."""

    def kernel(gang: Gang) -> Generator[None, None, None]:
        if gang.number == 0:
            gang.set_time(2**32 - 8)
        for turn in range(8):
            gang.run(STORE, TILE, 128 * ((gang.number + turn) % 2), 4, site=1)
            yield gang.barrier(THREADGROUP)
            gang.run(LOAD, TILE, 128 * ((gang.number + turn + 1) % 2), 4, site=2)
            yield gang.barrier(THREADGROUP)
        gang.run(STORE, TILE, 0, 4, site=3)

    found = Machine(folder, [Watched(256, False, 4)], 128, 64)(kernel)
    assert [(f.site, f.other_site, f.count) for f in found] == [(3, 3, 64)]


def test_threads_of_threadgroups_at_the_edge(folder: Path) -> None:
    """A grid of 10 by 7 in threadgroups of 8 by 4: those at its edge are narrower and flatter."""

    def kernel(gang: Gang) -> None:
        gang.run(STORE, 0, 4 * gang.group, 0, mask=1 << 3, site=gang.group)
        gang.run(LOAD, 0, 4 * gang.group, 0, mask=1 << 5, site=10)

    found = Machine(folder, [Watched(64, True, 4)], (10, 7, 1), (8, 4, 1))(kernel)
    assert {f.other_group[:2]: (f.other_thread[:2], f.thread[:2]) for f in found} == {
        (0, 0): ((3, 0), (5, 0)),
        (1, 0): ((9, 1), (9, 2)),
        (0, 1): ((3, 4), (5, 4)),
        (1, 1): ((9, 5), (9, 6)),
    }


def test_an_access_across_granules_makes_them_finer(folder: Path) -> None:
    """Words at odd places touch neither neighbour."""

    def kernel(gang: Gang) -> None:
        gang.run(STORE, 0, 1, 4, site=1)
        gang.run(STORE, 0, 129, 1, bytes=1, mask=2, site=2)

    found = Machine(folder, [Watched(256, True, 4)], 32, 32)(kernel)
    assert found == []


def test_lanes_of_several_arrays(folder: Path) -> None:
    """Each array has its own records; what is no array is passed over."""

    def kernel(gang: Gang) -> None:
        gang.lanes_at(STORE, [0, 1] * 15 + [2**31 - 1, 7], [4] * 32, site=1)

    found = Machine(folder, [Watched(64, True, 4), Watched(64, True, 4)], 32, 32)(kernel)
    assert {(f.array, f.offset) for f in found} <= {(0, 4), (1, 4)}
    assert found


def test_reads_in_a_loop_count_when_a_write_follows(folder: Path) -> None:
    """Nothing is looked up for reads that all writes are in order with; a write behind them finds
    each, and none in front of a barrier."""

    def kernel(gang: Gang) -> Generator[None, None, None]:
        gang.run(STORE, TILE, 128 * gang.number, 4, site=1)
        yield gang.barrier(THREADGROUP)
        for turn in range(64):
            gang.run(LOAD, TILE, 4 * turn, 0, site=2)
        yield gang.barrier(THREADGROUP)
        if gang.number == 0:
            for turn in range(32):
                gang.run(LOAD, TILE, 128 + 4 * turn, 0, site=3)
        else:
            gang.run(STORE, TILE, 128, 4, site=4)

    found = Machine(folder, [Watched(256, False, 4)], 64, 64)(kernel)
    assert [(f.kind, f.site, f.other_site, f.count) for f in found] == [
        ("race-threadgroup", 4, 3, 32)
    ]
    assert (found[0].offset, found[0].thread, found[0].other_thread[0]) == (128, (32, 0, 0), 0)


@pytest.mark.parametrize("action", [LOAD, UPDATE])
def test_more_accesses_than_can_be_deferred(folder: Path, action: int) -> None:
    """The first of thousands is found, as the last one is."""
    backwards = [4 * (31 - lane) for lane in range(32)]

    def kernel(gang: Gang) -> None:
        if gang.number == 0:
            gang.lanes_at(action, TILE, backwards, site=1)
            for turn in range(3000):
                gang.lanes_at(action, TILE, [128 + at for at in backwards], site=2 + turn % 2)
        else:
            gang.run(STORE, TILE, 0, 4, site=5)
            gang.run(STORE, TILE, 128, 4, site=6)

    found = Machine(folder, [Watched(256, False, 4)], 64, 64)(kernel)
    assert [(f.site, f.other_site, f.count) for f in found] == [(5, 1, 32), (6, 3, 32)]
