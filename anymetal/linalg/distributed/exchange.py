"""Who sends what to whom so that all ranks of a ring merge their factors in a tree.

Ranks are halved again and again; from the leaves up, two halves merge. Afterwards each rank of both
has the merged factor: all compute it from the same two, which saves the way back down the tree.
Ranks of a ring reach their neighbours only, so a factor enters the other half where the two touch,
and walks on from rank to rank. The last merge joins two halves that make up the whole ring, which
touch twice.

Where two ranks exchange their factors, what goes to the right goes first, and the answer when it is
there: two messages at once between the same ranks would save time, but if one of them fails as the
other rank ends, MLX's ring lets the second one wait for ever.

`rounds` tells how many messages follow each other, and `least` how many must. Any tree needs
⌈log₂p⌉ (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and
LU factorizations", SIAM J. Sci. Comput. 34(1), 2012, section 4), and on a ring what one rank has
takes ⌊p/2⌋ to the one opposite of it. It is never more than twice that: 3 against 2 for p = 4, 6
against 4 for p = 8, 12 against 8 for p = 16.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from typing import NamedTuple


class Message(NamedTuple):
    """What a rank does next: sends a factor, or receives that of the other group."""

    sends: bool
    rank: int  #: to whom, or from whom
    own: bool  #: it is the factor of its own group


class Merge(NamedTuple):
    """The part of one rank in a merge of its group with another."""

    own: range  #: ranks of its group
    other: range  #: those of the group that it learns the factor of
    messages: tuple[Message, ...]  #: one after the other


def merges(rank: int, ranks: int) -> list[Merge]:
    """What a rank does from the first level to the last.

    Args:
        rank: From 0 on.
        ranks: How many there are.
    """
    return [
        Merge(own, other, _messages(rank, own, other, ranks))
        for own, other in _halves(rank, range(ranks))
    ]


def _messages(rank: int, own: range, other: range, ranks: int) -> tuple[Message, ...]:
    source, _ = _source(rank, own, other, ranks)
    receive = [Message(False, source, False)]
    send = [Message(True, r, True) for r in other if _source(r, other, own, ranks)[0] == rank]
    onward = [Message(True, r, False) for r in own if _source(r, own, other, ranks)[0] == rank]
    to_the_right = (rank + 1) % ranks == source and (ranks > 2 or rank < source)
    return (*send, *receive, *onward) if to_the_right else (*receive, *send, *onward)


def rounds(ranks: int) -> int:
    """Messages that follow each other until the last rank has the whole factor.

    Each takes the same time and does not keep its sender from sending to the other side as well.
    """
    plans = {
        rank: deque(message for merge in merges(rank, ranks) for message in merge.messages)
        for rank in range(ranks)
    }
    clock = dict.fromkeys(plans, 0)
    under_way: dict[tuple[int, int], deque[int]] = defaultdict(deque)  # when messages arrive
    while any(plans.values()):
        for rank, plan in plans.items():
            while plan:
                message = plan[0]
                if message.sends:
                    under_way[rank, message.rank].append(clock[rank] + 1)
                elif arriving := under_way[message.rank, rank]:
                    clock[rank] = max(clock[rank], arriving.popleft())
                else:
                    break
                plan.popleft()
    return max(clock.values())


def least(ranks: int) -> int:
    """A lower bound of `rounds` for any way to merge."""
    return max(math.ceil(math.log2(ranks)), ranks // 2)


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
