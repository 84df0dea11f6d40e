"""Where masks come from: which nodes have their mask in one slot, by the plans (linearize.py)."""

from __future__ import annotations

from anymetal.ir.model import Block
from anymetal.simd.linearize import RegionPlan
from anymetal.simd.regions import Node, Region, RegionTree


class MaskRoots:
    """Whose mask slot each node's mask is in. The root region stands for the mask of the gang."""

    def __init__(self, tree: RegionTree, plans: dict[Region, RegionPlan]) -> None:
        self.tree = tree
        self.plans = plans
        self.roots: dict[Node, Node | Region] = {}

    def of(self, node: Node) -> Node | Region:
        if node not in self.roots:
            self.roots[node] = self._find(node)
        return self.roots[node]

    def always_full(self, block: Block) -> bool:
        """Whether no lane but one that the whole gang lacks is ever inactive in this block."""
        return self.of(self.tree.node_of[block]) is self.tree.root

    def _find(self, node: Node) -> Node | Region:
        while True:
            region = node.region
            plan = self.plans[region]
            if node in plan.alias:
                node = plan.alias[node]
            elif node in plan.collect:
                return node
            elif node is region.entry:
                if plan.divergent or region.node is None:
                    return region
                node = region.node
            else:
                roots = {self.of(s) for s in region.nodes if node in s.successors}
                return roots.pop() if len(roots) == 1 else node
