"""The schedule of merges, by playing it: who knows whose factors, and what waits for whom."""

from __future__ import annotations

import math

import pytest

from anymetal.linalg.distributed.exchange import Message, least, merges, rounds

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
    """With sends that wait for their receivers, nobody waits for ever. Rings have neighbours."""
    programs = {rank: operations(rank, ranks) for rank in range(ranks)}
    while any(programs.values()):
        heads = {rank: program[0] for rank, program in programs.items() if program}
        meetings = [
            (rank, message.rank)
            for rank, (message, _) in heads.items()
            if message.sends and meets(rank, heads.get(message.rank))
        ]
        assert meetings, f"stuck: {heads}"
        for sender, receiver in meetings:
            assert (sender - receiver) % ranks in (1, ranks - 1)
            _, sent = programs[sender].pop(0)
            _, expected = programs[receiver].pop(0)
            assert sent == expected


def operations(rank: int, ranks: int) -> list[tuple[Message, range]]:
    """What a rank sends and receives, with the ranks whose rows are in it."""
    found: list[tuple[Message, range]] = []
    for merge in merges(rank, ranks):
        received = False
        for message in merge.messages:
            assert message.own or received or not message.sends
            received |= not message.sends
            found.append((message, merge.own if message.own else merge.other))
    return found


def meets(sender: int, head: tuple[Message, range] | None) -> bool:
    return head is not None and not head[0].sends and head[0].rank == sender


@pytest.mark.parametrize("ranks", SIZES)
def test_rounds_in_steps(ranks: int) -> None:
    """In each step, whoever can sends one message along each of its links, and receives one."""
    programs = {rank: operations(rank, ranks) for rank in range(ranks)}
    ready = dict.fromkeys(programs, 0)
    there: dict[tuple[int, int], list[int]] = {}
    step = 0
    while any(programs.values()):
        for rank, program in programs.items():
            # A message that was sent in one step is there in the next.
            while program:
                message, _ = program[0]
                if message.sends:
                    there.setdefault((rank, message.rank), []).append(step + 1)
                elif (arrived := there.get((message.rank, rank))) and arrived[0] <= step:
                    arrived.pop(0)
                    ready[rank] = step
                else:
                    break
                program.pop(0)
        step += 1
        assert step < 4 * ranks + 4
    assert max(ready.values()) == rounds(ranks)


@pytest.mark.parametrize("ranks", SIZES)
def test_near_to_the_lower_bound(ranks: int) -> None:
    """A tree needs ⌈log₂p⌉ messages, and on a ring the way to the opposite rank takes ⌊p/2⌋."""
    assert least(ranks) == max(math.ceil(math.log2(ranks)), ranks // 2)
    assert least(ranks) <= rounds(ranks) <= 2 * least(ranks)
