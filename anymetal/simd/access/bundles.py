"""Bundles: instructions that do the same to each member of a group of neighbours.

    v.x * 2, v.y * 2, v.z * 2, v.w * 2        where v.x … v.w are a group of loads

A group of loads is a bundle, and so are instructions that do the same to the members of another
bundle. A slot is what the members of a bundle have as operand at one position, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anymetal.ir import calls
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.simd.access.groups import Group

Slot = tuple[Value, ...]

COMMUTATIVE = frozenset(("add", "mul", "and", "or", "xor", "fadd", "fmul"))
_ELEMENTWISE = COMMUTATIVE | frozenset(
    "sub fsub fneg fdiv frem udiv sdiv urem srem shl lshr ashr icmp fcmp select freeze bitcast "
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp phi".split()
)
#: Calls that look at other lanes, and one that needs a uniform operand.
_OTHER = ("__am_", "llvm.powi.")


class Bundle:
    def __init__(self, members: tuple[Instr, ...], slots: Sequence[Slot] = ()) -> None:
        self.members = members
        self.slots = slots  #: empty for a group of loads

    @property
    def count(self) -> int:
        return len(self.members)


class Bundles:
    """All bundles that can be traced back to a group of loads.

    `fits`: whether all lanes are active at an instruction, and it is no phi that blends lanes.
    """

    def __init__(
        self,
        program: Program,
        users: dict[Value, list[Instr]],
        groups: dict[Instr, Group],
        fits: Callable[[Instr], bool],
    ) -> None:
        self.fits = fits
        self.all: list[Bundle] = []
        self.of: dict[Value, tuple[Bundle, int]] = {}  #: a member's bundle, and its number there
        self.users = users
        self.place = {instr: number for number, instr in enumerate(program.instructions())}
        for group in dict.fromkeys(groups.values()):
            if group.anchor.op == "load" and fits(group.anchor) and not group.anchor.type.is_ptr:
                self._add(Bundle(tuple(group.members)))
        found = -1 if self.all else 0
        while len(self.all) > found:  # phis of loops bring new ones
            found = len(self.all)
            for block in reverse_postorder(program.blocks[0]):
                self._grow(block)

    def bundle_of(self, values: Slot) -> Bundle | None:
        """The bundle that has these members, in this order."""
        bundle, _ = self.of.get(values[0], (None, 0))
        return bundle if bundle is not None and bundle.members == values else None

    def _add(self, bundle: Bundle) -> None:
        self.all.append(bundle)
        for number, member in enumerate(bundle.members):
            self.of[member] = bundle, number

    # -- counterparts ---------------------------------------------------------------------

    def _grow(self, block: Block) -> None:
        for instr in block.instrs:
            if instr in self.of or not _is_elementwise(instr) or not self.fits(instr):
                continue
            for value in instr.operands:
                bundle, number = self.of.get(value, (None, 0))
                if bundle is not None and number == 0 and self._follow(instr, bundle):
                    break

    def _follow(self, first: Instr, bundle: Bundle) -> bool:
        """Adds the bundle of `first`, a user of member 0, if all members have such users."""
        members = [first]
        for number in range(1, bundle.count):
            uses = self.users.get(bundle.members[number], [])
            found = next((u for u in uses if self._matches(u, members, number)), None)
            if found is None:
                return False
            members.append(found)
        slots = list(zip(*(m.operands for m in members), strict=True))
        new = Bundle(tuple(members), slots)
        if not all(self._is_there(slot, new) for slot in slots):
            return False
        self._add(new)
        for slot in slots:
            self._propose(slot)
        return True

    def _matches(self, instr: Instr, members: list[Instr], number: int) -> bool:
        """Whether an instruction does to members `number` of bundles what members[0] does to
        members 0. The operands of commutative operations are put into the same order."""
        first = members[0]
        alike = (instr.op, instr.type, instr.arg, instr.flags, instr.block) == (
            first.op, first.type, first.arg, first.flags, first.block,
        )  # fmt: skip
        if not alike or instr in self.of or instr in members or not _same_options(first, instr):
            return False
        orders = [instr.operands]
        if instr.op in COMMUTATIVE:
            orders.append(instr.operands[::-1])
        for operands in orders:
            pairs = list(zip(first.operands, operands, strict=True))
            if all(self._corresponds(a, b, number) for a, b in pairs) and _same_options(
                first, instr
            ):
                instr.operands = operands
                return True
        return False

    def _corresponds(self, a: Value, b: Value, number: int) -> bool:
        bundle, at = self.of.get(a, (None, 0))
        if bundle is None:
            return b not in self.of
        return at == 0 and self.of.get(b) == (bundle, number)

    def _is_there(self, slot: Slot, bundle: Bundle) -> bool:
        """Whether the values of a slot are computed in front of the members."""
        if bundle.members[0].op == "phi" or self.bundle_of(slot) is not None:
            return True
        first = min(bundle.members, key=lambda m: self.place[m])
        return all(
            not isinstance(v, Instr)
            or v.block is not first.block
            or self.place[v] < self.place[first]
            for v in slot
        )

    def _propose(self, slot: Slot) -> None:
        """Makes a slot of phis of one block, as for values that a loop carries, a bundle."""
        phis = [v for v in slot if isinstance(v, Instr) and v.op == "phi" and v not in self.of]
        if len(phis) < len(slot) or len(set(phis)) < len(slot) or not self.fits(phis[0]):
            return
        if all((p.block, p.arg) == (phis[0].block, phis[0].arg) for p in phis):
            slots = list(zip(*(p.operands for p in phis), strict=True))
            self._add(Bundle(tuple(phis), slots))


def _same_options(a: Instr, b: Instr) -> bool:
    """Whether two calls have the same constant operands, some of which say what is computed."""
    texts = [[v.text if isinstance(v, Const) else "" for v in instr.operands] for instr in (a, b)]
    return a.op != "call" or texts[0] == texts[1]


def _is_elementwise(instr: Instr) -> bool:
    """Whether each lane of the result depends on that lane of the operands only."""
    if any(v.type.is_ptr or isinstance(v.type, t.Struct) for v in (instr, *instr.operands)):
        return False
    if instr.op == "call":
        if not calls.is_known(instr.arg) or not instr.has_result:
            return False
        return instr.arg == calls.SCALE or not instr.arg.startswith(_OTHER)
    return instr.op in _ELEMENTWISE
