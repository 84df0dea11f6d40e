"""Control-flow analyses that every pass shares: order, dominators, natural loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import TypeVar

from anymetal.ir.model import Block, predecessors
from anymetal.ir.problem import Problem

Node = TypeVar("Node", bound=Hashable)


def postorder(entry: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Depth-first postorder of everything reachable, without recursion."""
    seen, order = {entry}, []
    stack = [(entry, iter(successors(entry)))]
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successors(successor))))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def reverse_postorder(entry: Block) -> list[Block]:
    return postorder(entry, lambda b: b.successors)[::-1]


class Dominators(dict[Node, Node]):
    """The immediate dominator of each reachable node (the entry's is itself), dominators first."""

    @cached_property
    def spans(self) -> dict[Node, tuple[int, int]]:
        """A range of numbers for each node: first and last of the nodes that it dominates."""
        sizes = dict.fromkeys(self, 1)
        for node in reversed(self):
            if self[node] != node:
                sizes[self[node]] += sizes[node]
        result: dict[Node, tuple[int, int]] = {}
        free: dict[Node, int] = {}  #: the next number for a node below
        for node, above in self.items():
            start = 0 if node == above else free[above]
            result[node] = start, start + sizes[node]
            free[node] = start + 1
            free[above] = free[above] if node == above else start + sizes[node]
        return result


def dominators(entry: Node, successors: Callable[[Node], Iterable[Node]]) -> Dominators[Node]:
    """The dominators of a graph.

    SEMI-NCA: Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems" (2005).
    """
    nodes, above = _depth_first(entry, successors)
    number = {node: i for i, node in enumerate(nodes)}
    preds: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        for successor in successors(node):
            preds[number[successor]].append(i)
    found = list(above)
    semi = list(range(len(nodes)))
    label = list(semi)
    for i in reversed(range(1, len(nodes))):
        semi[i] = min([found[i], *(semi[_lowest(p, i, above, label, semi)] for p in preds[i])])
    for i in range(1, len(nodes)):
        while found[i] > semi[i]:
            found[i] = found[found[i]]
    order = reversed(postorder(entry, successors))
    return Dominators((node, nodes[max(found[number[node]], 0)]) for node in order)


def _depth_first(
    entry: Node, successors: Callable[[Node], Iterable[Node]]
) -> tuple[list[Node], list[int]]:
    """Nodes in depth-first order, and the node each was reached from (-1: the entry)."""
    nodes: list[Node] = []
    above: list[int] = []
    seen: set[Node] = set()
    stack = [(entry, -1)]
    while stack:
        node, source = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [(s, len(nodes)) for s in successors(node) if s not in seen]
            nodes.append(node)
            above.append(source)
    return nodes, above


def _lowest(node: int, last: int, above: list[int], label: list[int], semi: list[int]) -> int:
    """The node with the lowest semidominator on the path from `node` up to the first node not
    behind `last`; the path is compressed for the next time."""
    way = []
    while above[node] > last:
        way.append(node)
        node = above[node]
    for below in reversed(way):
        above[below] = above[node]
        if semi[label[node]] < semi[label[below]]:
            label[below] = label[node]
        node = below
    return label[node]


def dominates(idom: Dominators[Node], a: Node, b: Node) -> bool:
    """Whether `a` dominates `b` (a node dominates itself)."""
    if a == b:
        return True
    if a not in idom or b not in idom:
        return False
    first, end = idom.spans[a]
    return first <= idom.spans[b][0] < end


class Loop:
    """A natural loop: one header, one latch (LLVM's loop-simplify form)."""

    def __init__(self, header: Block, position: dict[Block, int]) -> None:
        self.header = header
        self.latches: list[Block] = []
        self.blocks = {header}
        self.own = [header]  #: blocks that are in no inner loop
        self.exits: list[tuple[Block, Block]] = []  #: edges that leave it, in the program's order
        self.parent: Loop | None = None
        self.children: list[Loop] = []
        self._position = position

    @cached_property
    def ordered(self) -> list[Block]:
        """The blocks in the order of the program."""
        return sorted(self.blocks, key=self._position.__getitem__)


def find_loops(blocks: list[Block], idom: Dominators[Block] | None = None) -> list[Loop]:
    """All natural loops, outer ones first. Raises Problem on irreducible control flow.

    `idom`: the dominators of the blocks, if they are known.

    The blocks of a deep nest belong to many loops. So a loop takes those of inner ones as a whole,
    and looks only at what is its own.
    """
    idom = idom or dominators(blocks[0], lambda b: b.successors)
    order = list(idom)
    position = {block: i for i, block in enumerate(order)}
    preds = predecessors(order)
    loops: dict[Block, Loop] = {}
    for block in order:
        for target in dict.fromkeys(block.successors):
            if position[target] <= position[block]:
                if not dominates(idom, target, block):
                    raise Problem(f"thread program: irreducible loop at {target.name}")
                loops.setdefault(target, Loop(target, position)).latches.append(block)
    result = sorted(loops.values(), key=lambda loop: position[loop.header])
    innermost: dict[Block, Loop] = {}
    for loop in reversed(result):
        _collect(loop, preds, innermost)
        _find_exits(loop, position)
    return result


def _collect(loop: Loop, preds: dict[Block, list[Block]], innermost: dict[Block, Loop]) -> None:
    """The blocks of a loop, whose inner loops have theirs."""
    innermost[loop.header] = loop
    work = list(loop.latches)
    while work:
        block = work.pop()
        if block in loop.blocks:
            continue
        inner = innermost.get(block)
        if inner is None:
            innermost[block] = loop
            loop.blocks.add(block)
            loop.own.append(block)
            work += preds[block]
        else:
            while inner.parent is not None:
                inner = inner.parent
            inner.parent = loop
            loop.children.append(inner)
            loop.blocks |= inner.blocks
            work += (p for p in preds[inner.header] if p not in inner.blocks)


def _find_exits(loop: Loop, position: dict[Block, int]) -> None:
    loop.children.sort(key=lambda inner: position[inner.header])
    leaving = [(block, target) for block in loop.own for target in dict.fromkeys(block.successors)]
    leaving += (edge for inner in loop.children for edge in inner.exits)
    loop.exits = [edge for edge in leaving if edge[1] not in loop.blocks]
    loop.exits.sort(key=lambda edge: position[edge[0]])
