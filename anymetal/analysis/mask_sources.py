"""Which blocks have the same mask, so that it is kept in one stack slot (see linearization.py)."""

from __future__ import annotations

from anymetal.analysis.linearization import RegionPlan
from anymetal.analysis.regions import Node, Region, RegionTree
from anymetal.ir.model import Block


class MaskRoots:
    """The node whose slot each node's mask is in; the root region stands for the gang's mask."""

    def __init__(self, tree: RegionTree, plans: dict[Region, RegionPlan]) -> None:
        self.tree = tree
        self.roots: dict[Node, Node | Region] = {}
        for region in tree.regions:  # outer ones first
            self._find(region, plans[region])

    def of(self, node: Node) -> Node | Region:
        return self.roots[node]

    def always_full(self, block: Block) -> bool:
        """Whether all lanes that the gang has are active whenever this block runs."""
        return self.of(self.tree.node_of[block]) is self.tree.root

    def _find(self, region: Region, plan: RegionPlan) -> None:
        """Finds the roots of a region's nodes, which come in topological order."""
        sources: dict[Node, set[Node | Region]] = {node: set() for node in region.nodes}
        for node in region.nodes:
            self.roots[node] = self._root(node, plan, sources[node])
            for successor in node.successors:
                sources[successor].add(self.roots[node])

    def _root(self, node: Node, plan: RegionPlan, sources: set[Node | Region]) -> Node | Region:
        region = node.region
        if node in plan.alias:
            return self.roots[plan.alias[node]]
        if node in plan.collect:
            return node
        if node is region.entry:
            return region if plan.divergent or region.node is None else self.roots[region.node]
        return next(iter(sources)) if len(sources) == 1 else node
