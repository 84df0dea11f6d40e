"""Walks over values, from their operands up or down to their users.

Chains of instructions can be as long as a user writes them, and share parts. So no walk is
recursive, and each value is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from typing import TypeVar

from anymetal.ir.cfg import postorder
from anymetal.ir.model import Block, Instr, Value

Node = TypeVar("Node", bound=Hashable)
Answer = TypeVar("Answer")


def from_below(
    node: Node,
    known: dict[Node, Answer],
    parts: Callable[[Node], Iterable[Node]],
    answer: Callable[[Node], Answer],
) -> Answer:
    """The answer for a node; `known` has, and keeps, the answers for its parts, which are found
    first.

    Parts must not lead back to their node: `parts` stops at phis, or knows itself what holds in a
    loop.
    """
    if node not in known:
        for one in postorder(node, lambda n: [p for p in parts(n) if p not in known]):
            known[one] = answer(one)
    return known[node]


def users_in(instrs: Iterable[Instr]) -> dict[Value, list[Instr]]:
    """Which of these instructions use each value, in their order."""
    users: dict[Value, list[Instr]] = {}
    for instr in instrs:
        for operand in dict.fromkeys(instr.operands):
            users.setdefault(operand, []).append(instr)
    return users


def made_from(users: Mapping[Value, list[Instr]], roots: Iterable[Value]) -> set[Value]:
    """The roots and all of their users, direct or not, as addresses, too."""
    found: set[Value] = set(roots)
    work = list(found)
    while work:
        new = [user for user in users.get(work.pop(), []) if user not in found]
        found.update(new)
        work += new
    return found


def made_in(blocks: Container[Block | None], value: Value) -> list[Instr]:
    """The instructions of these blocks, often those of a loop, that a value is made of."""

    def parts(one: Instr) -> list[Instr]:
        return [v for v in one.operands if isinstance(v, Instr) and v.block in blocks]

    if not isinstance(value, Instr) or value.block not in blocks:
        return []
    return postorder(value, parts)
