"""Linearization: which block runs after which when a whole gang executes the program.

Partial control-flow linearization after Moll and Hack (PLDI 2018): uniform branches stay branches,
the targets of a divergent branch run one after the other, and what one path has still to visit is
carried along as "deferred". Each region is planned by itself, with its inner loops as single nodes.
A divergent loop ends each iteration in one place, END, where the lanes that leave are sorted out.

The plan also says how each node gets its mask: inherited from a dominating node (`alias`), assigned
by whoever jumps there (`assign`), or collected from several edges (`collect`).
"""

from __future__ import annotations

from anymetal.analysis.effects import ACCESSES
from anymetal.analysis.regions import Edge, Node, Region, RegionTree
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import is_long
from anymetal.ir.cfg import Loop, dominates, dominators
from anymetal.ir.model import Block


class End:
    """The end of one iteration of a divergent loop, or of the function."""

    index = 1 << 30
    name = "end"


END = End()
Target = Node | End

#: A skipped block saves work only if it holds more than this many plain instructions.
WORTH_SKIPPING = 12


class RegionPlan:
    """Where control goes, and how masks flow, inside one region."""

    def __init__(self, region: Region, divergent: bool) -> None:
        self.region = region
        self.divergent = divergent  #: a loop that lanes leave in different iterations
        self.route: dict[Edge, Target] = {}  #: out of nodes that branch for real
        self.fall: dict[Node, Target] = {}  #: out of nodes that are linearized
        self.skip: dict[Node, Target] = {}  #: where to go if no lane is active
        self.alias: dict[Node, Node] = {}  #: node -> dominating node with its mask
        self.collect: set[Node] = set()
        self.direct: set[Node] = set()  #: reached by original edges only


class Linearizer:
    """Plans all regions, in rounds: if something has to be made divergent, all are planned anew."""

    def __init__(self, tree: RegionTree, shapes: Shapes) -> None:
        self.tree = tree
        self.shapes = shapes
        self.has_forced = False  #: something was made divergent
        self.forced = True  #: in this round
        self.deferred: dict[Node, set[Target]] = {}
        while self.forced:
            self.forced = False
            self.plans = {region: self._plan_routes(region) for region in tree.regions}
        for plan in self.plans.values():
            self._plan_masks(plan)
            while self._plan_skips(plan):
                # A skip goes where the node's path would have gone: routes stay as they are.
                self._find_direct(plan)
                self._plan_masks(plan)

    def _force(
        self, *, loop: Loop | None = None, block: Block | None = None, join: Block | None = None
    ) -> None:
        """Makes something divergent. The round goes on, although its earlier plans may be out of
        date now: divergence only grows, so whatever else it finds is needed in the next round,
        too."""
        self.shapes.force(loop=loop, block=block, join=join)
        self.forced = self.has_forced = True

    def _plan_routes(self, region: Region) -> RegionPlan:
        plan = RegionPlan(region, region.loop in self.shapes.divergent_loops)
        self.deferred.update((node, set()) for node in region.nodes)
        in_order = [self._route(plan, node) for node in region.nodes]
        self._find_direct(plan)
        if all(in_order):
            self._find_joins(plan)
        return plan

    # -- routes ---------------------------------------------------------------------------

    def _route(self, plan: RegionPlan, node: Node) -> bool:
        """Decides where a node leads; False if something had to be made divergent."""
        waiting = self.deferred[node]
        in_order = not waiting or self.shapes.diverges(node) or self._keeps_order(plan, node)
        if self.shapes.diverges(node) or not node.edges:
            targets = {self._target(e) for e in node.edges} | waiting
            plan.fall[node] = self._go(targets or {END})
            return in_order
        for edge in node.edges:
            if edge.node is not None or plan.divergent:
                plan.route[edge] = self._go({self._target(edge)} | waiting)
        return in_order

    def _keeps_order(self, plan: RegionPlan, node: Node) -> bool:
        """Whether a uniform node may jump to its targets while lanes are deferred: these must not
        run before any target. Else the node is made divergent, and what follows runs in
        order."""
        for edge in node.edges:
            if edge.node is None and not plan.divergent:
                assert plan.region.loop is not None
                self._force(loop=plan.region.loop)  # which this edge leaves
                return False
            target = self._target(edge)
            first = min({target} | self.deferred[node], key=_index)
            if first is not target and len(node.edges) > 1:
                if node.inner is not None:
                    assert node.inner.loop is not None
                    self._force(loop=node.inner.loop)
                else:
                    self._force(block=node.block)
                return False
        return True

    def _go(self, targets: set[Target]) -> Target:
        """The first of the targets in order; it takes over the others as deferred."""
        first = min(targets, key=_index)
        if isinstance(first, Node):
            self.deferred[first] |= targets - {first}
        return first

    @staticmethod
    def _target(edge: Edge) -> Target:
        return END if edge.node is None else edge.node

    # -- direct nodes ---------------------------------------------------------------------

    def _find_direct(self, plan: RegionPlan) -> None:
        indirect: set[Target] = set(plan.fall.values()) | set(plan.skip.values())
        for node in plan.fall:
            indirect.update(node.successors)
        for edge, target in plan.route.items():
            if target is not edge.node and edge.node is not None:
                indirect |= {target, edge.node}
        plan.direct = {node for node in plan.region.nodes if node not in indirect}

    def _find_joins(self, plan: RegionPlan) -> None:
        """Makes blocks divergent joins if other lanes may come there than those that chose to:
        values of their phis have to be blended."""
        for node in plan.region.nodes:
            block = node.block
            if node.inner is None and node not in plan.direct and block not in self.shapes.joins:
                if any(len(phi.operands) > 1 for phi in block.phis):
                    self._force(join=block)

    # -- masks ----------------------------------------------------------------------------

    def _plan_masks(self, plan: RegionPlan) -> None:
        region = plan.region
        plan.alias.clear()
        plan.collect.clear()
        if len(region.nodes) == 1:
            return
        end = object()

        def original(node: object) -> list[object]:
            if node is end or not isinstance(node, Node):
                return []
            leaves = any(e.node is None for e in node.edges) or not node.edges
            return [*node.successors, *([end] if leaves else [])]

        incoming: dict[object, list[object]] = {}
        for node in region.nodes:
            for successor in original(node):
                incoming.setdefault(successor, []).append(node)
        idom = dominators(region.entry, lambda n: n.successors)
        post = dominators(end, lambda n: incoming.get(n, []))
        linear = dominators(region.entry, lambda n: self._linear_successors(plan, n))
        for node in region.nodes[1:]:
            above = idom[node]
            if dominates(post, node, above) and dominates(linear, above, node):
                plan.alias[node] = above
            elif node not in plan.direct:
                plan.collect.add(node)

    def _linear_successors(self, plan: RegionPlan, node: Node) -> list[Node]:
        targets: list[Target] = [plan.route[e] for e in node.edges if e in plan.route]
        targets += [table[node] for table in (plan.fall, plan.skip) if node in table]
        return [target for target in dict.fromkeys(targets) if isinstance(target, Node)]

    # -- skips ----------------------------------------------------------------------------

    def _plan_skips(self, plan: RegionPlan) -> bool:
        found = False
        for node in plan.region.nodes:
            if node in plan.collect and node not in plan.skip:
                waiting = set(self.deferred[node])
                if not waiting and plan.region.loop is None:
                    waiting = {END}  # all other lanes may be in a loop without end
                # In a loop, if no lanes are deferred, all its lanes are here: nothing to skip.
                if waiting and self._worth_skipping(plan, node):
                    plan.skip[node] = self._go(waiting)
                    found = True
        return found

    def _worth_skipping(self, plan: RegionPlan, node: Node) -> bool:
        """Whether a block is skipped if no lane is active. Memory must not be touched then; a
        little arithmetic may run idle."""
        if node.inner is not None or any(i.op in (*ACCESSES, "call") for i in node.block.instrs):
            return True
        if len(node.block.instrs) > WORTH_SKIPPING:
            return True
        if any(i.op == "call" and is_long(i.arg) for i in node.block.instrs):
            return True
        # Nodes that inherit its mask rely on an active lane, too.
        return any(e.node is None or self._takes_mask(plan, e.node, node) for e in node.edges)

    @staticmethod
    def _takes_mask(plan: RegionPlan, node: Node, source: Node) -> bool:
        """Whether `node`, which follows on `source`, runs under its mask."""
        if node not in plan.alias:
            return node not in plan.collect
        while node in plan.alias:
            node = plan.alias[node]
            if node is source:
                return True
        return False


def _index(target: Target) -> int:
    return target.index
