"""Layout propagation: values of float4s stay in the order of memory from load to store.

    v = x[i]; y[i] = v * 2        x0 y0 z0 w0 x1 y1 …  is loaded, multiplied and stored as it lies

In the order of lanes, one vector has `v.x` of all lanes, another one `v.y`, and so on: shuffles
take a run of float4s apart (simd/code/deinterleave.py), and put it together where it is stored. But
while the same happens to all components, vectors may hold them as memory does.

A web is a set of connected bundles (bundles.py). In the order of memory it takes groups of loads,
and gives to groups of stores and atomic additions, without a shuffle; sums over all lanes take
elements in any order (reduction_variables.py). Any other user of its values gets them in the order
of lanes, by the instruction `in_lane_order`. What else a bundle takes must be the same for all
lanes and members. A web is changed if all lanes are active and it saves more shuffles than these
cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from anymetal.analysis import flow
from anymetal.analysis.cache import Analyses
from anymetal.analysis.regions import RegionTree, regions
from anymetal.analysis.uniformity import VARYING, Shapes
from anymetal.analysis.uniformity import shapes as shapes_of
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rules import ORDERED, TO_LANES
from anymetal.ir.sizes import is_power_of_two
from anymetal.simd.access.bundles import Bundle, Bundles, Slot
from anymetal.simd.access.groups import Group
from anymetal.simd.access.reduction_variables import ReductionVariables

_DEEPER = 8  #: iterations of a loop, as far as costs are estimated


def in_memory_order(known: Analyses, groups: Mapping[Instr, Group], needed: set[Value]) -> bool:
    """Marks groups whose members are to be in the order of memory, and adds the conversions.

    `needed`: values that addresses in other blocks are computed from.
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


class _Webs(NamedTuple):
    tree: RegionTree
    bundles: Bundles
    reductions: ReductionVariables
    shapes: Shapes
    groups: dict[Instr, Group]
    fits: Callable[[Instr], bool]

    def choose(self, fixed: set[Value]) -> set[Group]:
        """Changes the program for all webs where it pays; returns their groups. `fixed`: values
        that are used without being an operand."""
        ordered: set[Group] = set()
        for web in self._connected():
            if any(not fixed.isdisjoint(b.members) or not self._is_possible(b) for b in web):
                continue
            groups = {group for bundle in web for group in self._groups(bundle)}
            if self._saved(groups) > self._spent(web):
                ordered |= groups
                for bundle in web:
                    self._give_back(bundle)
        return ordered

    def _saved(self, groups: set[Group]) -> int:
        return sum(_shuffles(len(g.members)) * self._weight(g.anchor) for g in groups)

    def _spent(self, web: list[Bundle]) -> int:
        results = [b for b in web if self._others(b)]
        return sum(_shuffles(b.count) * self._weight(b.members[0]) for b in results)

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
        """Whether operands are right in any order, and conversions of results can be placed."""
        first = bundle.members[0]
        if not all(map(self._is_at_hand, bundle.slots)):
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
        """Users of the members that need the order of lanes."""
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
        """Whether a user belongs to a group of stores or atomic additions of the whole bundle."""
        group = self.groups.get(user)
        if group is None or user.op == "load" or not self.fits(user):
            return False
        values = tuple(member.operands[user.op == "atomicrmw"] for member in group.members)
        return values == bundle.members and (user.op == "store" or is_power_of_two(bundle.count))

    def _groups(self, bundle: Bundle) -> set[Group]:
        """The groups that load, store or add a bundle."""
        first = bundle.members[0]
        users = [u for u in self.bundles.users.get(first, []) if self._takes(u, bundle)]
        return {self.groups[i] for i in [first, *users] if i in self.groups}

    # -- operands from outside ------------------------------------------------------------

    def _is_at_hand(self, slot: Slot) -> bool:
        """Whether it is a bundle, or the same value in all lanes and members."""
        if self.bundles.bundle_of(slot) is not None:
            return True
        return self.shapes[slot[0]].is_uniform and all(_is_same(v, slot[0]) for v in slot)

    def _give_back(self, bundle: Bundle) -> None:
        """Converts members into the order of lanes for users that need it."""
        users = set(self._others(bundle))
        if not users:
            return
        instrs = _block(bundle.members[0]).instrs
        at = instrs.index(self._last(bundle)) + 1
        while instrs[at].op == "phi":
            at += 1
        for number, member in enumerate(bundle.members):
            new = self._conversion(bundle, number)
            instrs.insert(at + number, new)
            for user in users:
                user.operands = [new if v is member else v for v in user.operands]

    def _conversion(self, bundle: Bundle, number: int) -> Instr:
        member = bundle.members[number]
        new = Instr(member.type, TO_LANES, list(bundle.members), number, "", member.loc)
        new.block = member.block
        self.shapes.shapes[new] = VARYING  # the answer about shapes stays right
        return new


def _block(instr: Instr) -> Block:
    assert instr.block is not None
    return instr.block


def _is_same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.text == b.text)


def _shuffles(count: int) -> int:
    """How many shuffles, counted in registers, take a group apart or put it together."""
    return count * (count - 1).bit_length()
