"""The loop tree of a program as nested acyclic regions.

A region is the function or one loop. Its nodes are blocks and inner loops (each collapsed to one
node), in topological order; so shape analysis and linearization each work on one acyclic graph at
a time. Edges that leave a loop region are terminal: "back" to its header or "exit" out of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops, predecessors
from anymetal.ir.calls import BARRIER
from anymetal.ir.cfg import Loop, dominators, postorder
from anymetal.ir.model import Block


class Edge:
    """One control-flow edge, as a region sees it."""

    def __init__(self, source: Block, target: Block, node: Node | None, is_back: bool) -> None:
        self.source = source
        self.target = target
        self.node = node  #: target node in the same region; None if terminal
        self.is_back = is_back

    @property
    def leaves(self) -> bool:
        """Whether it leads out of the region, which is a loop."""
        return self.node is None and not self.is_back


class Node:
    """A block, or a loop seen from outside."""

    def __init__(self, region: Region, block: Block, inner: Region | None = None) -> None:
        self.region = region
        self.block = block  #: the block itself, or the header of the loop
        self.inner = inner
        self.edges: list[Edge] = []
        self.index = 0

    @property
    def name(self) -> str:
        name = self.block.name.strip('%"').replace("\\", "_")  # escapes need quotes
        return name + (".loop" if self.inner else "")

    @cached_property
    def successors(self) -> list[Node]:
        return list(dict.fromkeys(e.node for e in self.edges if e.node is not None))

    def edge_to(self, target: Block, source: Block | None = None) -> Edge:
        """The edge to a block; a loop may have several, from different blocks in it."""
        return next(e for e in self.edges if e.target is target and source in (None, e.source))


class Ways(NamedTuple):
    """Where a node leads, as numbers of nodes of its region."""

    following: list[int]
    meeting: list[int]  #: where these join, if what lies between is reached from here only
    ends: bool  #: an edge ends the iteration or leaves the loop
    leaves: bool  #: an edge leaves the loop


class Region:
    """The function (loop is None) or one loop."""

    def __init__(self, loop: Loop | None, parent: Region | None) -> None:
        self.loop = loop
        self.parent = parent
        self.node: Node | None = None  #: this loop as a node of the parent
        self.nodes: list[Node] = []

    @property
    def entry(self) -> Node:
        return self.nodes[0]

    @cached_property
    def graph(self) -> list[Ways]:
        """Where each node leads."""
        following = [[successor.index for successor in node.successors] for node in self.nodes]
        behind = _behind(following, [any(e.node is None for e in n.edges) for n in self.nodes])
        return [
            Ways(
                following[node.index],
                following[node.index] if where is None else [where],
                any(e.node is None for e in node.edges),
                any(e.leaves for e in node.edges),
            )
            for node, where in zip(self.nodes, behind, strict=True)
        ]

    def key(self, edge: Edge) -> tuple[Region, Block, Block]:
        """Names an edge that leaves a loop: it is one Edge object in each region around."""
        return self, edge.source, edge.target

    def ancestors(self) -> list[Region]:
        """This region and all around it, innermost first."""
        result: list[Region] = []
        region: Region | None = self
        while region is not None:
            result.append(region)
            region = region.parent
        return result


class _Plan(NamedTuple):
    """What a region is built of."""

    region: Region
    entry: Block
    blocks: list[Block]  #: that are in no inner loop
    children: list[Loop]


class RegionTree:
    """All regions of a program, and where each block is."""

    def __init__(
        self, blocks: list[Block], loops: list[Loop], preds: dict[Block, list[Block]]
    ) -> None:
        self.regions: list[Region] = []
        self.node_of: dict[Block, Node] = {}  #: each block's own node
        self.loop_region: dict[Loop, Region] = {}
        self.to_barrier = _reaching_barrier(blocks, preds)
        top = [loop for loop in loops if loop.parent is None]
        reachable = postorder(blocks[0], lambda b: b.successors)
        outside = set(reachable).difference(*(loop.blocks for loop in top))
        self.root = Region(None, None)
        waiting = [_Plan(self.root, blocks[0], [b for b in reachable if b in outside], top)]
        while waiting:
            waiting += reversed(self._build(*waiting.pop()))

    def _build(
        self, region: Region, entry: Block, blocks: list[Block], children: list[Loop]
    ) -> list[_Plan]:
        """Fills in a region; returns what its inner loops are built of."""
        self.regions.append(region)
        owner: dict[Block, Node] = {}
        inner: list[Region] = []
        for child in children:
            each = self.loop_region[child] = Region(child, region)
            owner[child.header] = each.node = Node(region, child.header, each)
            inner.append(each)
        for block in blocks:
            owner[block] = self.node_of[block] = Node(region, block)
        for node in owner.values():
            sources = (
                _loop_exits(node)
                if node.inner
                else [(node.block, s) for s in node.block.successors]
            )
            for source, target in dict.fromkeys(sources):
                is_back = region.loop is not None and target is region.loop.header
                inside = target in owner and not is_back
                node.edges.append(Edge(source, target, owner[target] if inside else None, is_back))
        region.nodes = postorder(owner[entry], self._late_first)[::-1]
        for index, node in enumerate(region.nodes):
            node.index = index
        loops = [(each, each.loop) for each in inner if each.loop]
        return [_Plan(each, loop.header, loop.own, loop.children) for each, loop in loops]

    def _late_first(self, node: Node) -> list[Node]:
        """Successors in the order of the depth-first visit; the one visited last runs first.

        Sides without a barrier run first. What their lanes write before they return is then there
        for the other lanes behind the barrier, as if all lanes ran at the same time.
        """
        return sorted(node.successors, key=lambda n: n.block not in self.to_barrier)


def regions(known: Analyses) -> RegionTree:
    """The regions of the program."""
    return RegionTree(known.program.blocks, known(loops), known(predecessors))


def _behind(following: list[list[int]], ends: list[bool]) -> list[int | None]:
    """For each node, where all paths from it join, if what lies between is reached from it only.

    `following`: the successors of each node, which have higher numbers.
    """
    end = len(following)
    if end == 1:
        return [None]
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for number, numbers in enumerate(following):
        for other in [*numbers, *([end] if ends[number] or not numbers else [])]:
            before[other].append(number)
    meeting = dominators(end, lambda n: before[n])
    above = dominators(0, lambda n: following[n])
    depth: dict[int, int] = {}
    for node, dominator in above.items():
        depth[node] = 0 if node == dominator else depth[dominator] + 1
    outermost = [end] * end  #: the least depth at which a path begins that joins those of a node
    result: list[int | None] = []
    for node in reversed(range(end)):
        where = meeting[node]
        for inside in following[node] if where != end else []:
            while inside != where:
                begins = depth[above[inside]]
                outermost[node] = min(outermost[node], begins, outermost[inside])
                inside = meeting[inside]
        alone = where != end and outermost[node] >= depth[node]
        result.append(where if alone else None)
    return result[::-1]


def _reaching_barrier(blocks: list[Block], preds: dict[Block, list[Block]]) -> set[Block]:
    """Blocks from which a threadgroup barrier can be reached."""
    work = [b for b in blocks if any(i.op == "call" and i.arg == BARRIER for i in b.instrs)]
    found = set(work)
    while work:
        for block in preds[work.pop()]:
            if block not in found:
                found.add(block)
                work.append(block)
    return found


def _loop_exits(node: Node) -> list[tuple[Block, Block]]:
    assert node.inner is not None and node.inner.loop is not None
    return node.inner.loop.exits
