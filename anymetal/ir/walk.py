"""Questions about values that are answered from their operands up, or from there to their users.

Chains of instructions are as long as a user writes them, and use what they have twice. So no such
question calls itself: each value is asked about once, after those that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from anymetal.ir.cfg import postorder
from anymetal.ir.model import Instr, Value

Node = TypeVar("Node", bound=Hashable)
Answer = TypeVar("Answer")


def from_below(
    node: Node,
    known: dict[Node, Answer],
    parts: Callable[[Node], Iterable[Node]],
    answer: Callable[[Node], Answer],
) -> Answer:
    """The answer for a node, which finds those for its parts in `known`; all of them stay there.

    What a node is made of must not lead back to it: `parts` stops at phis, or says itself what
    holds while a loop goes round.
    """
    if node not in known:
        for one in postorder(node, lambda n: [p for p in parts(n) if p not in known]):
            known[one] = answer(one)
    return known[node]


def made_from(instrs: Iterable[Instr], roots: Iterable[Value]) -> set[Value]:
    """The roots and what of the instructions is made of them, loads at such addresses included."""
    users: dict[Value, list[Instr]] = {}
    for instr in instrs:
        for operand in instr.operands:
            users.setdefault(operand, []).append(instr)
    found: set[Value] = set(roots)
    work = list(found)
    while work:
        new = [user for user in users.get(work.pop(), []) if user not in found]
        found.update(new)
        work += new
    return found
