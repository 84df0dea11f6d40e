"""Control-flow analyses that every pass shares: order, dominators, natural loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
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


def dominators(entry: Node, successors: Callable[[Node], Iterable[Node]]) -> dict[Node, Node]:
    """Immediate dominator of every reachable node (the entry is its own).

    Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    order = postorder(entry, successors)
    number = {node: i for i, node in enumerate(order)}
    preds: dict[Node, list[Node]] = {node: [] for node in order}
    for node in order:
        for successor in successors(node):
            preds[successor].append(node)
    idom = {entry: entry}

    def intersect(a: Node, b: Node) -> Node:
        while a != b:
            while number[a] < number[b]:
                a = idom[a]
            while number[b] < number[a]:
                b = idom[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [p for p in preds[node] if p in idom]
            new = known[0]
            for p in known[1:]:
                new = intersect(p, new)
            if idom.get(node) != new:
                idom[node] = new
                changed = True
    return idom


def dominates(idom: dict[Node, Node], a: Node, b: Node) -> bool:
    """Whether `a` dominates `b` (a node dominates itself)."""
    while b != a:
        if b not in idom or idom[b] == b:
            return False
        b = idom[b]
    return True


@dataclass(eq=False)
class Loop:
    """A natural loop: one header, one latch (LLVM's loop-simplify form)."""

    header: Block
    blocks: set[Block]
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list)

    @property
    def exits(self) -> list[tuple[Block, Block]]:
        """Edges that leave the loop, in a fixed order."""
        return [
            (block, target)
            for block in self.ordered
            for target in dict.fromkeys(block.successors)
            if target not in self.blocks
        ]

    ordered: list[Block] = field(default_factory=list)


def find_loops(blocks: list[Block]) -> list[Loop]:
    """All natural loops, outer ones first. Raises Problem on irreducible control flow."""
    entry = blocks[0]
    order = reverse_postorder(entry)
    position = {block: i for i, block in enumerate(order)}
    idom = dominators(entry, lambda b: b.successors)
    preds = predecessors(order)
    loops: dict[Block, Loop] = {}
    for block in order:
        for target in block.successors:
            if position[target] <= position[block]:
                if not dominates(idom, target, block):
                    raise Problem(f"thread program: irreducible loop at {target.name}")
                loop = loops.setdefault(target, Loop(target, {target}))
                _collect(loop, block, preds)
    result = sorted(loops.values(), key=lambda loop: position[loop.header])
    for loop in result:
        loop.ordered = [b for b in order if b in loop.blocks]
        owners = [o for o in result if o is not loop and loop.header in o.blocks]
        if owners:
            loop.parent = min(owners, key=lambda o: len(o.blocks))
            loop.parent.children.append(loop)
    return result


def _collect(loop: Loop, latch: Block, preds: dict[Block, list[Block]]) -> None:
    work = [latch]
    while work:
        block = work.pop()
        if block not in loop.blocks:
            loop.blocks.add(block)
            work.extend(preds[block])
