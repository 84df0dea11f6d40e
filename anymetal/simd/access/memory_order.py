"""Values in the order of memory.

Lane l of a gang owns the components of the l-th float4 of a run. To have `v.x` of all lanes in one
vector, the run has to be taken apart by shuffles (simd/code/deinterleave.py), and put together
again where it is stored. But as long as the same happens to all four, nobody needs that: the first
quarter of the run may stand for `v.x`, the second for `v.y`, and so on, as they lie in memory.

A web is what is connected of bundles (bundles.py). In the order of memory it takes groups of loads
as they come, goes to groups of stores and of atomic additions as it is, and into reduction
variables (reduction_variables.py). All lanes have to be active. Other uses of its values need each
lane to have its own, by the instruction `in_lane_order`; and operands that are not the same in all
lanes and all members have to be brought to it by `in_memory_order`. A web has to save more
shuffles than these two take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anymetal.analysis import flow
from anymetal.analysis.cache import Analyses
from anymetal.analysis.regions import RegionTree, regions
from anymetal.analysis.uniformity import VARYING, Shapes
from anymetal.analysis.uniformity import shapes as shapes_of
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rules import ORDERED, TO_LANES, TO_MEMORY
from anymetal.simd.access.bundles import Bundle, Bundles, Slot
from anymetal.simd.access.groups import Group, is_power_of_two
from anymetal.simd.access.reduction_variables import ReductionVariables

_DEEPER = 8  #: how much more often a loop runs than what is around it


def in_memory_order(known: Analyses, groups: Mapping[Instr, Group], needed: set[Value]) -> bool:
    """Marks the groups whose members are better in the order of memory, and puts the conversions
    into the program. What was known stays right, with the shapes of those.

    `needed` are the values that addresses elsewhere are made of.
    """
    program = known.program
    groups = {i: group for i, group in groups.items() if group.is_of_vectors}
    if not any(group.anchor.op == "load" for group in groups.values()):
        return False
    shapes, full = known(shapes_of), known(flow.full)

    def fits(instr: Instr) -> bool:
        return full(_block(instr)) and not (instr.op == "phi" and instr.block in shapes.joins)

    bundles = Bundles(program, known(flow.users), groups, fits)
    reductions = ReductionVariables(program, bundles, fits, shapes)
    webs = _Webs(known(regions), bundles, reductions, shapes, groups, fits)
    chosen = webs.choose(needed)
    for group in chosen:
        for member in group.members:
            member.flags = ORDERED
    return bool(chosen)


class _Webs:
    def __init__(
        self,
        tree: RegionTree,
        bundles: Bundles,
        reductions: ReductionVariables,
        shapes: Shapes,
        groups: dict[Instr, Group],
        fits: Callable[[Instr], bool],
    ) -> None:
        self.tree = tree
        self.bundles = bundles
        self.reductions = reductions
        self.shapes = shapes
        self.groups = groups
        self.fits = fits

    def choose(self, fixed: set[Value]) -> set[Group]:
        """Changes the program for all webs that are worth it; returns their groups. `fixed`: values
        that are asked for without being an operand."""
        ordered: set[Group] = set()
        for web in self._connected():
            if any(not fixed.isdisjoint(b.members) or not self._is_possible(b) for b in web):
                continue
            groups = {group for bundle in web for group in self._groups(bundle)}
            if self._saved(groups) > self._spent(web):
                ordered |= groups
                for bundle in web:
                    self._bring(bundle)
                    self._give_back(bundle)
        return ordered

    def _saved(self, groups: set[Group]) -> int:
        return sum(_shuffles(len(g.members)) * self._weight(g.anchor) for g in groups)

    def _spent(self, web: list[Bundle]) -> int:
        operands: dict[Slot, int] = {}
        for bundle in web:
            for slot in bundle.slots:
                cost = self._cost(slot) * self._weight(bundle.members[0])
                operands[slot] = max(cost, operands.get(slot, 0))
        results = [b for b in web if self._others(b)]
        return sum(operands.values()) + sum(
            _shuffles(b.count) * self._weight(b.members[0]) for b in results
        )

    def _weight(self, instr: Instr) -> int:
        assert instr.block is not None
        return int(_DEEPER ** (len(self.tree.node_of[instr.block].region.ancestors()) - 1))

    def _connected(self) -> list[list[Bundle]]:
        links = list(self.reductions.together)
        for bundle in self.bundles.all:
            found = map(self.bundles.bundle_of, bundle.slots)
            links.append([bundle, *(other for other in found if other is not None)])
        web_of = {bundle: [bundle] for bundle in self.bundles.all}
        for first, *others in filter(None, links):
            for other in others:
                if web_of[other] is not web_of[first]:
                    web_of[first].extend(web_of[other])
                    web_of.update(dict.fromkeys(web_of[other], web_of[first]))
        return list({id(web): web for web in web_of.values()}.values())

    # -- uses -----------------------------------------------------------------------------

    def _is_possible(self, bundle: Bundle) -> bool:
        """Whether there is a place for the conversions of operands and of results."""
        first = bundle.members[0]
        if first.op == "phi" and any(map(self._cost, bundle.slots)):
            return False
        last = self._last(bundle)
        return all(
            user.block is not first.block
            or user.op == "phi"
            or self._place(user) > self._place(last)
            for user in self._others(bundle)
        )

    def _place(self, instr: Instr) -> int:
        return self.bundles.place[instr]

    def _last(self, bundle: Bundle) -> Instr:
        return max(bundle.members, key=self._place)

    def _others(self, bundle: Bundle) -> list[Instr]:
        """Users of the members that need each lane to have its own."""
        return [
            user
            for number, member in enumerate(bundle.members)
            for user in self.bundles.users.get(member, [])
            if not self._is_accounted_for(bundle, number, user)
        ]

    def _is_accounted_for(self, bundle: Bundle, number: int, user: Instr) -> bool:
        member = bundle.members[number]
        other, at = self.bundles.of.get(user, (None, 0))
        if other is not None:
            slots = [slot for slot in other.slots if slot[at] is member]
            return at == number and all(slot == bundle.members for slot in slots)
        if self.reductions.takes(user):
            return bundle not in self.reductions.broken
        return self._takes(user, bundle)

    def _takes(self, user: Instr, bundle: Bundle) -> bool:
        """Whether a group of stores or atomic additions takes the whole bundle."""
        group = self.groups.get(user)
        if group is None or user.op == "load" or not self.fits(user):
            return False
        values = tuple(member.operands[user.op == "atomicrmw"] for member in group.members)
        return values == bundle.members and (user.op == "store" or is_power_of_two(bundle.count))

    def _groups(self, bundle: Bundle) -> set[Group]:
        """The groups of accesses that load or take a bundle."""
        first = bundle.members[0]
        users = [u for u in self.bundles.users.get(first, []) if self._takes(u, bundle)]
        return {self.groups[i] for i in [first, *users] if i in self.groups}

    # -- operands from outside ------------------------------------------------------------

    def _cost(self, slot: Slot) -> int:
        """Shuffles that bring the operands of a bundle into the order, for one register each."""
        first = slot[0]
        if self.bundles.bundle_of(slot) is not None:
            return 0
        same = all(_is_same(v, first) for v in slot)
        if all(self.shapes[v].is_uniform for v in slot):
            return 0 if same else 1  # in front of a loop, as a rule
        return len(slot) if same else _shuffles(len(slot))

    def _bring(self, bundle: Bundle) -> None:
        """Operands from outside into the order of memory."""
        for position, slot in enumerate(bundle.slots):
            if self._cost(slot):
                for number, member in enumerate(bundle.members):
                    new = self._conversion(TO_MEMORY, slot, number, member)
                    _block(member).instrs.insert(_block(member).instrs.index(member), new)
                    member.operands[position] = new

    def _give_back(self, bundle: Bundle) -> None:
        """Members to users that need each lane to have its own."""
        users = set(self._others(bundle))
        if not users:
            return
        instrs = _block(bundle.members[0]).instrs
        at = instrs.index(self._last(bundle)) + 1
        while instrs[at].op == "phi":
            at += 1
        for number, member in enumerate(bundle.members):
            new = self._conversion(TO_LANES, bundle.members, number, member)
            instrs.insert(at + number, new)
            for user in users:
                user.operands = [new if v is member else v for v in user.operands]

    def _conversion(self, op: str, values: Slot, number: int, member: Instr) -> Instr:
        new = Instr(values[0].type, op, list(values), number, "", member.loc)
        new.block = member.block
        self.shapes.shapes[new] = VARYING  # as whoever asks anew will be told
        return new


def _block(instr: Instr) -> Block:
    assert instr.block is not None
    return instr.block


def _is_same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.text == b.text)


def _shuffles(count: int) -> int:
    """How many vectors come out of shuffles when groups are taken apart or put together."""
    return count * (count - 1).bit_length()
