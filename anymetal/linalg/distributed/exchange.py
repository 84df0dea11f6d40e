"""Who sends what to whom so that all ranks merge their factors in a tree, over a ring.

Level l merges neighbouring groups of 2ˡ ranks. Afterwards each rank of both has the merged factor:
all compute it from the same two, which saves the way back down the tree. Ranks of a ring reach
their neighbours only, so a factor enters the other group where the two touch, and walks on from
rank to rank. The last merge joins two groups that make up the whole ring, which touch twice.

For p = 2, 3 and 4 that takes ⌈log₂p⌉ messages one after the other, the least that any tree needs
(Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
factorizations", SIAM J. Sci. Comput. 34(1), 2012, section 4), for p = 8 it takes 5 instead of 3,
and `rounds` tells the number for any p. Ranks that all reach each other take the least always.
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


def merges(rank: int, ranks: int, *, ring: bool = True) -> list[Merge]:
    """What a rank does from the first level to the last.

    Args:
        rank: From 0 on.
        ranks: How many there are.
        ring: Ranks reach their neighbours only; otherwise everyone.
    """
    found: list[Merge] = []
    for level in range(math.ceil(math.log2(ranks))):
        own, other = _groups(rank, ranks, level)
        if len(other) == 0:
            continue
        source, distance = _source(rank, own, other, ranks, ring)
        first = tuple(r for r in other if _source(r, other, own, ranks, ring)[0] == rank)
        onward = tuple(r for r in own if _source(r, own, other, ranks, ring)[0] == rank)
        found.append(Merge(own, other, source, distance, first, onward))
    return found


def rounds(ranks: int, *, ring: bool = True) -> int:
    """Messages that must follow each other, from the first level to the last."""
    levels: dict[int, int] = {}
    for rank in range(ranks):
        for merge in merges(rank, ranks, ring=ring):
            size = len(merge.own) + len(merge.other)
            level = max(size - 1, 1).bit_length()
            levels[level] = max(levels.get(level, 0), merge.distance)
    return sum(levels.values())


def _groups(rank: int, ranks: int, level: int) -> tuple[range, range]:
    size = 2**level
    number = rank // size
    own, other = (range(ranks)[size * i : size * (i + 1)] for i in (number, number ^ 1))
    return own, other


def _source(rank: int, own: range, other: range, ranks: int, ring: bool) -> tuple[int, int]:
    """From whom a rank has the factor of the other group, and after how many messages."""
    if not ring:
        # Its twin in the other group; groups at the end may be smaller.
        return other[(rank - own[0]) % len(other)], 1
    up, down = own[-1] + 1 - rank, rank - own[0] + 1
    whole = len(own) + len(other) == ranks  # groups touch at both ends
    after, before = other[0] == own[-1] + 1, other[-1] == own[0] - 1
    if before and not (whole and up < down):
        return (rank - 1) % ranks, down
    if after and not (whole and down < up):
        return (rank + 1) % ranks, up
    return ((rank + 1) % ranks, up) if before else ((rank - 1) % ranks, down)
