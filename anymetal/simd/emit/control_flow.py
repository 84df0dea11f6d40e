"""Control flow of a gang: blocks in the order that the plan says (analysis/linearization.py).

A block is skipped if no lane is active. It reads its phis, then comes the body, then lanes are sent
on: they write the phis of their successors and hand on their masks, and control jumps where the
plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anymetal.analysis import flow
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.analysis.induction import trips
from anymetal.analysis.linearization import END, RegionPlan, Target
from anymetal.analysis.regions import Edge, Node, Region, regions
from anymetal.analysis.uniformity import shapes
from anymetal.emission.marks import Role
from anymetal.ir import types as t
from anymetal.ir.calls import BARRIER
from anymetal.ir.model import Block, Instr
from anymetal.simd.code.coroutine import computed_here
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.values import SCALAR, VECTOR
from anymetal.simd.lanes.matrices import Matrices

#: Iterations of a loop without others inside that take no time worth stopping: milliseconds, where
#: asking takes a tenth of a short one.
_SOON = 1 << 14


def _without_barriers(known: Analyses) -> set[Block]:
    """The blocks in whose innermost loop no gang waits for others."""
    waiting = {i.block for i in known.program.instructions() if i.op == "call" and i.arg == BARRIER}
    return {block for block, loop in known(innermost).items() if waiting.isdisjoint(loop.blocks)}


class ControlFlow(GangEmitter):
    """Writes the blocks of a function and the ways between them.

    `emit` writes an instruction under a mask; `mark_as` says that what follows is code of one, or
    serves it in another role. `entry_mask` are the lanes that there are. `suspends`: the gang may
    wait for others.
    """

    def __init__(
        self, c: GangContext, entry_mask: Mask, matrices: Matrices,
        emit: Callable[[Instr, Mask], None], mark_as: Callable[[Instr, Role], None],
        suspends: bool,
    ) -> None:  # fmt: skip
        super().__init__(c)
        self.tree, self.shapes = c.known(regions), c.known(shapes)
        self.plans, self.roots = c.known(flow.plans), c.known(flow.mask_roots)
        self.entry_mask = entry_mask
        self.matrices = matrices
        self.emit, self.mark_as = emit, mark_as
        self.without_barriers = _without_barriers(c.known) if suspends else set()
        self.slots: dict[object, str] = {}  #: of masks and phis
        counted = c.known(trips).items()
        #: Ends of innermost loops that are over soon.
        self.soon_over = {
            loop.latches[0] for loop, n in counted if n <= _SOON and not loop.children
        }

    # -- regions and labels -----------------------------------------------------------

    @staticmethod
    def _label(node: Node) -> str:
        return f"b.{node.name}"

    def _target_label(self, region: Region, target: Target) -> str:
        if isinstance(target, Node):
            return self._label(target)
        return f"{self._label(region.node)}$end" if region.node else "function.end"

    def run(self) -> None:
        """Writes all regions, each behind the block in front of it."""
        stack = [self._region(self.tree.root)]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(self._region(inner))

    def _region(self, region: Region) -> Iterator[Region]:
        """Writes a region; yields inner loops where they have to be written."""
        plan = self.plans[region]
        self._reset(plan)
        for node in region.nodes:
            if node is not region.entry or region.loop is None:
                if node is region.entry:
                    self.w.do(f"br label %{self._label(node)}")
                self.w.label(self._label(node))
            self._skip(plan, node)
            if node.inner is not None:
                yield from self._loop(node)
            else:
                self._block(plan, node)

    def _reset(self, plan: RegionPlan) -> None:
        """Masks that are collected from several edges start empty."""
        for node in plan.region.nodes:  # in order: the same kernel gives the same code
            if node in plan.collect:
                self._store_empty(node)

    def _slot(self, key: object) -> str:
        if key not in self.slots:
            self.slots[key] = self.w.alloca(self.masks.kept_type, "mask")
        return self.slots[key]

    def _load_mask(self, key: object) -> str:
        return self._load_mask_of(self._slot(key))

    def _load_mask_of(self, slot: str) -> str:
        return self.masks.taken(self.w.value(f"load {self.masks.kept_type}, ptr {slot}"))

    # -- masks ------------------------------------------------------------------------

    def _mask_root(self, node: Node) -> Node | Region | None:
        """Whose mask slot a node's mask is in; None if all lanes of the gang are active."""
        root = self.roots.of(node)
        return None if root is self.tree.root and self.entry_mask is None else root

    def is_masked(self, block: Block) -> bool:
        """Whether some lanes may be inactive in this block."""
        return self._mask_root(self.tree.node_of[block]) is not None

    def _mask(self, node: Node) -> Mask:
        root = self._mask_root(node)
        if root is None or root is self.tree.root:
            return self.entry_mask
        return self._load_mask(root)

    def _hand_mask(self, plan: RegionPlan, node: Node, mask: Mask) -> None:
        """Lanes of `mask` go to `node`, perhaps beside others that came before."""
        if node in plan.collect:
            self._store_mask(node, self.masks.either(self._load_mask(node), mask))
        elif self._mask_root(node) is node:
            self._store_mask(node, mask)

    def _store_mask(self, key: object, mask: Mask) -> None:
        kept = self.masks.kept(self.masks.text(mask))
        self.w.do(f"store {self.masks.kept_type} {kept}, ptr {self._slot(key)}")

    def _skip(self, plan: RegionPlan, node: Node) -> None:
        if node in plan.skip:
            some = self.masks.any(self._mask(node))
            body = f"{self._label(node)}$active"
            away = self._target_label(plan.region, plan.skip[node])
            self.w.do(f"br i1 {some}, label %{body}, label %{away}")
            self.w.label(body)

    # -- loops ------------------------------------------------------------------------

    def _loop(self, node: Node) -> Iterator[Region]:
        assert node.inner is not None
        plan = self.plans[node.inner]
        header = self._label(node.inner.entry)
        if not plan.divergent:
            self.w.do(f"br label %{header}")
            self.w.label(header)
            yield node.inner
            return
        mask = self._mask(node)
        self._store_mask(node.inner, mask)
        for edge in node.edges:
            self._store_empty(node.inner.key(edge))
        self.w.do(f"br label %{header}")
        self.w.label(header)
        self._store_empty((node.inner, "back"))
        yield node.inner
        self._loop_end(node)

    def _store_empty(self, key: object) -> None:
        self.w.do(f"store {self.masks.kept_type} zeroinitializer, ptr {self._slot(key)}")

    def _loop_end(self, node: Node) -> None:
        """The end of an iteration: it goes on while a lane is live. Then lanes go on by the edge by
        which each of them left."""
        assert node.inner is not None
        end = f"{self._label(node)}$end"
        back = (node.inner, "back")
        done = self.w.fresh("left")
        self.w.label(end)
        some = self.masks.any(self._load_mask(back))
        self.w.do(f"br i1 {some}, label %{end}.live, label %{done}")
        self.w.label(f"{end}.live")
        self._store_mask(node.inner, self._load_mask(back))
        self._poll(self._label(node.inner.entry), node.block.terminator)
        self.w.label(done)
        plan = self.plans[node.region]
        for edge in node.edges:
            self._arrive(plan, edge, self._load_mask(node.inner.key(edge)))
        self.w.do(f"br label %{self._target_label(node.region, plan.fall[node])}")

    def _poll(self, target: str, instr: Instr) -> None:
        """A back edge tests the cancel flag, so that a kernel can be stopped."""
        if instr.block in self.soon_over:
            self.w.do(f"br label %{target}")
            return
        self.mark_as(instr, "poll")
        flag = self.w.value("load volatile i32, ptr %cancel")
        stop = self.w.value(f"icmp ne i32 {flag}, 0")
        self.w.do(f"br i1 {stop}, label %function.end, label %{target}")

    # -- edges ------------------------------------------------------------------------

    def _arrive(self, plan: RegionPlan, edge: Edge, mask: Mask) -> None:
        """Lanes of `mask` take `edge`: hand them to its target, or to the loop's end."""
        plan, edge = self._outwards(plan, edge)
        if edge.node is not None:
            self._hand_mask(plan, edge.node, mask)
        elif plan.divergent:
            key = (plan.region, "back") if edge.is_back else plan.region.key(edge)
            self._store_mask(key, self.masks.either(self._load_mask(key), mask))

    def _outwards(self, plan: RegionPlan, edge: Edge) -> tuple[RegionPlan, Edge]:
        """An edge out of uniform loops, as an edge of the region where it ends."""
        while edge.node is None and not edge.is_back and not plan.divergent:
            assert plan.region.node is not None
            edge = plan.region.node.edge_to(edge.target, edge.source)
            plan = self.plans[plan.region.node.region]
        return plan, edge

    def _jump_target(self, plan: RegionPlan, edge: Edge) -> str:
        """The label to jump to if all lanes take `edge`."""
        while edge not in plan.route and not edge.is_back:
            assert plan.region.node is not None
            edge = plan.region.node.edge_to(edge.target, edge.source)
            plan = self.plans[plan.region.node.region]
        if edge in plan.route:
            return self._target_label(plan.region, plan.route[edge])
        return self._label(plan.region.entry)

    # -- blocks -----------------------------------------------------------------------

    def _block(self, plan: RegionPlan, node: Node) -> None:
        block = node.block
        self.v.enter(block)
        mask = self._mask(node)
        for phi in self._phis(block):
            for form in self.v.forms(phi):
                self.v.define(phi, **{form: self._load_phi(phi, form)})
        self.matrices.enter(block)
        for instr in block.body:
            self.emit(instr, mask)
        self._leave(plan, node, mask)

    def _phis(self, block: Block) -> list[Instr]:
        return [phi for phi in block.phis if phi not in self.matrices.merged]

    def _phi_slot(self, phi: Instr, form: str) -> str:
        key = (phi, form)
        if key not in self.slots:
            type_ = (
                self.masks.kept_type if self._is_mask(phi, form) else self.v.form_type(phi, form)
            )
            self.slots[key] = self.w.alloca(type_, "phi")
        return self.slots[key]

    @staticmethod
    def _is_mask(phi: Instr, form: str) -> bool:
        return form == VECTOR and phi.type == t.I1

    def _is_number(self, phi: Instr, form: str) -> bool:
        """Whether it is a vector of numbers."""
        is_number = isinstance(phi.type, t.Int | t.Float)
        return form == VECTOR and is_number and not self._is_mask(phi, form)

    def _load_phi(self, phi: Instr, form: str) -> str:
        if self._is_mask(phi, form):
            return self._load_mask_of(self._phi_slot(phi, form))
        type_ = self.v.form_type(phi, form)
        return self.w.value(f"load {type_}, ptr {self._phi_slot(phi, form)}")

    def _store_phi(self, phi: Instr, form: str, name: str) -> None:
        slot = self._phi_slot(phi, form)
        if self._is_mask(phi, form):
            self.w.do(f"store {self.masks.kept_type} {self.masks.kept(name)}, ptr {slot}")
        else:
            self.w.do(f"store {self.v.form_type(phi, form)} {name}, ptr {slot}")

    # -- the end of a block -----------------------------------------------------------

    def _leave(self, plan: RegionPlan, node: Node, mask: Mask) -> None:
        block = node.block
        self.mark_as(block.terminator, "")
        if not node.edges:
            self.w.do(f"br label %{self._target_label(plan.region, plan.fall[node])}")
        elif node in plan.fall:
            self._leave_divergent(plan, node, mask)
        elif len(node.edges) == 1:
            self._take(plan, node.edges[0], mask)
        else:
            self._leave_uniform(plan, node, mask)
        assert block is self.v.block

    def _leave_uniform(self, plan: RegionPlan, node: Node, mask: Mask) -> None:
        end = node.block.terminator
        condition = self.v.scalar(end.operands[0])
        labels = [self.w.fresh(f"{self._label(node)}.to") for _ in end.arg]
        self.w.do(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        saved = dict(self.v.local)
        for label, target in zip(labels, end.arg, strict=True):
            self.w.label(label)
            self.v.local = dict(saved)  # each side knows what was computed before both
            self._take(plan, node.edge_to(target), mask)

    def _take(self, plan: RegionPlan, edge: Edge, mask: Mask) -> None:
        """All active lanes of the block take this edge."""
        self._move_phis(edge, mask)
        self._arrive(plan, edge, mask)
        target = self._jump_target(plan, edge)
        if edge.is_back and edge not in plan.route:
            self._poll(target, edge.source.terminator)
            return
        if edge.is_back and plan.route[edge] is END and self._has_lanes(plan, edge.source):
            target += ".live"
        self.w.do(f"br label %{target}")

    def _has_lanes(self, plan: RegionPlan, block: Block) -> bool:
        """Whether a block of a divergent loop runs only with an active lane."""
        node = self.tree.node_of[block]
        return node in plan.skip or node is plan.region.entry

    def _leave_divergent(self, plan: RegionPlan, node: Node, mask: Mask) -> None:
        end = node.block.terminator
        condition = self.v.vector(end.operands[0])
        yes = self.masks.both(mask, condition)
        taken = [yes, self.masks.without(mask, yes)]
        pairs = [(node.edge_to(t), lanes) for t, lanes in zip(end.arg, taken, strict=True)]
        leaving = [(e, m) for e, m in pairs if plan.divergent and e.leaves]
        rare = leaving if len(leaving) == 1 and leaving[0][0].target.phis else []
        for edge, lanes in pairs:
            if (edge, lanes) not in rare:
                self._move_phis(edge, lanes)
                self._arrive(plan, edge, lanes)
        for edge, lanes in rare:
            self._leave_loop(plan, node, edge, lanes)
        self.w.do(f"br label %{self._target_label(plan.region, plan.fall[node])}")

    def _leave_loop(self, plan: RegionPlan, node: Node, edge: Edge, lanes: str) -> None:
        """Lanes may leave a divergent loop here. In most iterations none does: then phis are not
        blended, and if all lanes of the loop were active, they still are."""
        fall = plan.fall[node]
        others = self._target_label(plan.region, fall)
        leave = self.w.fresh("leave")
        sources = [s for s in plan.region.nodes if fall in s.successors]
        if self._has_lanes(plan, node.block) and fall in plan.skip and sources == [node]:
            others += "$active"
        kept = self.masks.kept(lanes)
        self.w.do(f"br i1 {self.masks.any(lanes)}, label %{leave}, label %{others}")
        before = dict(self.v.local)  # values that are computed on the way out stay there
        self.w.label(leave)
        lanes = self.masks.taken(kept)
        self._move_phis(edge, lanes)
        self._arrive(plan, edge, lanes)
        self.v.local = before

    def _move_phis(self, edge: Edge, mask: Mask) -> None:
        """Gives the phis of the target their values in lanes of `mask`."""
        phis = self._phis(edge.target)
        blends = edge.target in self.shapes.joins and mask is not None
        moves = []
        for phi in phis:
            value = phi.operands[phi.arg.index(edge.source)]
            for form in self.v.forms(phi):
                name = self.v.scalar(value) if form == SCALAR else self.v.vector(value)
                moves.append((phi, form, name))
        self.matrices.hand_over(self.matrices.leave(edge.source, edge.target))
        for phi, form, name in moves:  # all have been read: one may be another's value
            if blends and form == VECTOR:
                type_, old = self.v.form_type(phi, form), self._load_phi(phi, form)
                name = self.w.value(
                    f"select {self.masks.type} {mask}, {type_} {name}, {type_} {old}"
                )
            if edge.leaves and edge.source in self.without_barriers and self._is_number(phi, form):
                name = computed_here(self.w, phi.type, name)
            self._store_phi(phi, form, name)
