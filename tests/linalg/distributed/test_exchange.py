"""The schedule of merges, by playing it: who knows whose factors, and what waits for whom."""

from __future__ import annotations

import math
from collections import defaultdict, deque

import pytest

from anymetal.linalg.distributed.exchange import least, merges, rounds

SIZES = [*range(1, 20), 24, 31, 32, 33, 64, 100]


@pytest.mark.parametrize("ranks", SIZES)
def test_everyone_learns_everything(ranks: int) -> None:
    for rank in range(ranks):
        known = {rank}
        for merge in merges(rank, ranks):
            assert known == set(merge.own)
            known |= set(merge.other)
        assert known == set(range(ranks))


@pytest.mark.parametrize("ranks", SIZES)
def test_messages_arrive(ranks: int) -> None:
    """Sends that wait until all is received suffice, as long as ranks receive meanwhile.

    Each rank has one message on its way and receives at the same time, as in tsqr._exchanged.
    """
    plans = {rank: deque(steps(rank, ranks)) for rank in range(ranks)}
    clock = dict.fromkeys(plans, 0)  # when a rank has come to the step that it is in
    known = {rank: {rank} for rank in plans}
    arrived: dict[tuple[int, int], deque[tuple[int, set[int]]]] = defaultdict(deque)
    links: dict[tuple[int, int], int] = {}
    moved = True
    while moved:
        moved = False
        for rank, plan in plans.items():
            if not plan:
                continue
            targets, source, receive = plan[0]
            for to in targets:
                assert (to - rank) % ranks in (1, ranks - 1)
                links[rank, to] = max(clock[rank], links.get((rank, to), 0)) + 1
                arrived[rank, to].append((links[rank, to], set(known[rank])))
                moved = True
            plan[0] = ((), source, receive)
            if receive and not arrived[source, rank]:
                continue
            if receive:
                time, what = arrived[source, rank].popleft()
                clock[rank] = max(clock[rank], time)
                # What is passed on is the other group's factor alone.
                onward, _, _ = plan[1]
                for to in onward:
                    links[rank, to] = max(time, links.get((rank, to), 0)) + 1
                    arrived[rank, to].append((links[rank, to], what))
                plan[1] = ((), 0, False)
                known[rank] |= what
            plan.popleft()
            moved = True
    assert not any(plans.values())
    assert all(known[rank] == set(range(ranks)) for rank in plans)
    assert max(clock.values()) == rounds(ranks)


def steps(rank: int, ranks: int) -> list[tuple[tuple[int, ...], int, bool]]:
    """To whom a rank sends, from whom it receives meanwhile, and whether it does."""
    found: list[tuple[tuple[int, ...], int, bool]] = []
    for merge in merges(rank, ranks):
        found += [(merge.first, merge.source, True), (merge.onward, 0, False)]
    return found


@pytest.mark.parametrize("ranks", SIZES)
def test_near_to_the_lower_bound(ranks: int) -> None:
    """A tree needs ⌈log₂p⌉ messages, and on a ring the way to the opposite rank takes ⌊p/2⌋."""
    assert least(ranks) == max(math.ceil(math.log2(ranks)), ranks // 2)
    assert least(ranks) <= rounds(ranks) <= 5 / 3 * least(ranks)
