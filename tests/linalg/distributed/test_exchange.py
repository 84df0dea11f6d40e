"""The schedule of merges, by playing it: who knows whose factors, and what waits for whom."""

from __future__ import annotations

import math

import pytest

from anymetal.linalg.distributed.exchange import merges, rounds

SIZES = [*range(1, 18), 24, 31, 32, 33, 64]


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("ranks", SIZES)
def test_everyone_learns_everything(ranks: int, ring: bool) -> None:
    plans = [merges(rank, ranks, ring=ring) for rank in range(ranks)]
    for rank, plan in enumerate(plans):
        known = {rank}
        for merge in plan:
            assert known == set(merge.own)
            known |= set(merge.other)
        assert known == set(range(ranks))


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("ranks", SIZES)
def test_messages_arrive(ranks: int, ring: bool) -> None:
    """With sends that wait for their receivers, nobody waits for ever. Rings have neighbours."""
    programs = {rank: operations(rank, ranks, ring) for rank in range(ranks)}
    while any(programs.values()):
        heads = {rank: program[0] for rank, program in programs.items() if program}
        pairs = [
            (rank, to)
            for rank, (kind, to) in heads.items()
            if kind == "send" and heads.get(to) == ("receive", rank)
        ]
        assert pairs, f"stuck: {heads}"
        for sender, receiver in pairs:
            assert not ring or (sender - receiver) % ranks in (1, ranks - 1)
            programs[sender].pop(0)
            programs[receiver].pop(0)


def operations(rank: int, ranks: int, ring: bool) -> list[tuple[str, int]]:
    """In the order of tsqr._exchanged."""
    found: list[tuple[str, int]] = []
    for merge in merges(rank, ranks, ring=ring):
        first = [("send", to) for to in merge.first]
        receive = [("receive", merge.source)]
        found += first + receive if rank < merge.source else receive + first
        found += [("send", to) for to in merge.onward]
    return found


def test_near_to_the_lower_bound() -> None:
    """⌈log₂p⌉ messages one after the other are the least: Demmel et al. 2012."""
    for ranks in (2, 3, 4, 5, 6, 7, 8):
        assert rounds(ranks, ring=True) <= 2 * math.ceil(math.log2(ranks))
    for ranks in SIZES:
        assert rounds(ranks, ring=False) == math.ceil(math.log2(ranks))
