"""Where the ways from a node of a region meet again, against the definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anymetal.analysis.regions import _behind


@st.composite
def regions(draw: st.DrawFn) -> tuple[list[list[int]], list[bool]]:
    """Nodes that lead to later ones, each reached from the first, and which of them end."""
    count = draw(st.integers(1, 8))
    following: list[list[int]] = [[] for _ in range(count)]
    for node in range(1, count):
        for source in draw(st.sets(st.integers(0, node - 1), min_size=1, max_size=3)):
            following[source].append(node)
    return following, draw(st.lists(st.booleans(), min_size=count, max_size=count))


def ways(following: list[list[int]], ends: list[bool], node: int) -> list[list[int]]:
    """All ways from a node to the end, which has the number behind the last node."""
    end = len(following)
    if node == end:
        return [[end]]
    targets = [*following[node], *([end] if ends[node] or not following[node] else [])]
    return [[node, *way] for target in targets for way in ways(following, ends, target)]


@given(regions())
def test_meeting_places(region: tuple[list[list[int]], list[bool]]) -> None:
    following, ends = region
    end = len(following)
    from_entry = ways(following, ends, 0)
    for node, where in enumerate(_behind(following, ends)):
        ours = ways(following, ends, node)
        meeting = min(set.intersection(*(set(way[1:]) for way in ours)))
        between = {other for way in ours for other in way[1 : way.index(meeting)]}
        alone = all(node in way for way in from_entry if between & set(way))
        assert where == (meeting if meeting != end and alone else None)
