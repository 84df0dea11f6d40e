"""Who sends what to whom so that all ranks of a ring merge their factors in a tree.

Ranks are halved again and again; from the leaves up, two halves merge. Afterwards each rank of both
has the merged factor: all compute it from the same two, which saves the way back down the tree.
Ranks of a ring reach their neighbours only, so a factor enters the other half where the two touch,
and walks on from rank to rank. The last merge joins two halves that make up the whole ring, which
touch twice.

`rounds` tells how many messages follow each other, and `least` how many must. Any tree needs
⌈log₂p⌉ (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and
LU factorizations", SIAM J. Sci. Comput. 34(1), 2012, section 4), and on a ring what one rank has
takes ⌊p/2⌋ to the one opposite of it. Up to p = 5 that is met; for p = 8 it is 5 against 4, for
p = 16 11 against 8, and never more than 5/3 times as many.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Merge(NamedTuple):
    """The part of one rank in a merge of its group with another."""

    own: range  #: ranks of its group
    other: range  #: those of the group that it learns the factor of
    source: int  #: the rank that sends it
    distance: int  #: messages, one after the other, until it is there
    first: tuple[int, ...]  #: ranks of the other group that want the own group's factor
    onward: tuple[int, ...]  #: ranks of the own group that want the other group's factor


def merges(rank: int, ranks: int) -> list[Merge]:
    """What a rank does from the first level to the last.

    Args:
        rank: From 0 on.
        ranks: How many there are.
    """
    found: list[Merge] = []
    for own, other in _halves(rank, range(ranks)):
        source, distance = _source(rank, own, other, ranks)
        first = tuple(r for r in other if _source(r, other, own, ranks)[0] == rank)
        onward = tuple(r for r in own if _source(r, own, other, ranks)[0] == rank)
        found.append(Merge(own, other, source, distance, first, onward))
    return found


def rounds(ranks: int) -> int:
    """Messages that follow each other until the last rank has the whole factor.

    At the same time a rank sends to both neighbours and receives from them, one message each.
    """
    return max(_times(range(ranks), ranks).values())


def least(ranks: int) -> int:
    """A lower bound of `rounds` for any way to merge."""
    return max(math.ceil(math.log2(ranks)), ranks // 2)


def _times(group: range, ranks: int) -> dict[int, int]:
    """When each rank of a group has its factor, in messages."""
    if len(group) == 1:
        return {group[0]: 0}
    halves = _cut(group)
    before = {rank: time for half in halves for rank, time in _times(half, ranks).items()}
    after: dict[int, int] = {}
    for own, other in (halves, halves[::-1]):
        arrival: dict[int, int] = {}
        sources = {rank: _source(rank, own, other, ranks) for rank in own}
        # A message comes from the other half, or from a rank of the own one that has it already.
        for rank in sorted(own, key=lambda r: sources[r][1]):
            source, _ = sources[rank]
            arrival[rank] = 1 + (before[source] if source in other else arrival[source])
            after[rank] = max(before[rank], arrival[rank])
    return after


def _halves(rank: int, group: range) -> list[tuple[range, range]]:
    """The half that a rank is in and the other one, from the smallest group to the whole."""
    if len(group) == 1:
        return []
    own, other = _cut(group)
    if rank in other:
        own, other = other, own
    return [*_halves(rank, own), (own, other)]


def _cut(group: range) -> tuple[range, range]:
    middle = (len(group) + 1) // 2
    return group[:middle], group[middle:]


def _source(rank: int, own: range, other: range, ranks: int) -> tuple[int, int]:
    """From whom a rank has the factor of the other group, and after how many messages."""
    up, down = own[-1] + 1 - rank, rank - own[0] + 1
    whole = len(own) + len(other) == ranks  # groups touch at both ends
    after, before = other[0] == own[-1] + 1, other[-1] == own[0] - 1
    if before and not (whole and up < down):
        return (rank - 1) % ranks, down
    if after and not (whole and down < up):
        return (rank + 1) % ranks, up
    return ((rank + 1) % ranks, up) if before else ((rank - 1) % ranks, down)
