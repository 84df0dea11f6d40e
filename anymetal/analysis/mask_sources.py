"""Where masks come from: which nodes have their mask in one slot, by the plans
(linearization.py)."""

from __future__ import annotations

from anymetal.analysis.linearization import RegionPlan
from anymetal.analysis.regions import Node, Region, RegionTree
from anymetal.ir.model import Block


class MaskRoots:
    """Whose mask slot each node's mask is in. The root region stands for the mask of the gang."""

    def __init__(self, tree: RegionTree, plans: dict[Region, RegionPlan]) -> None:
        self.tree = tree
        self.roots: dict[Node, Node | Region] = {}
        for region in tree.regions:  # outer ones first
            self._find(region, plans[region])

    def of(self, node: Node) -> Node | Region:
        return self.roots[node]

    def always_full(self, block: Block) -> bool:
        """Whether no lane but one that the whole gang lacks is ever inactive in this block."""
        return self.of(self.tree.node_of[block]) is self.tree.root

    def _find(self, region: Region, plan: RegionPlan) -> None:
        """The roots of a region's nodes, of which each comes behind those that lead to it."""
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
