"""Under which conditions values are needed.

    value = -x[i];                       // needed only where `inside` holds,
    sum += inside ? value : 0;           // and so is the load that it is made of

A value that goes into a pure operation is needed where the result is. A selection needs one of its
values only where its condition says so, a branch leads to what is behind it only under its own, and
an address is needed where memory is accessed there. Stores, branches and other lanes need what they
get always.

A need is a disjunction of conjunctions of literals, such as `(a and not b) or c`. Wherever it would
grow large, or name a condition that cannot be known yet where the value is computed, it is replaced
by a weaker one. Values are visited once, users first; what a later iteration of a loop needs counts
as needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators, loops, predecessors
from anymetal.analysis.effects import LOADS, is_pure
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop, postorder
from anymetal.ir.model import Block, Const, Instr, Value

#: A condition, and how it must come out.
Literal = tuple[Instr, bool]
#: All of them, those first that say whether the others have a meaning.
Term = tuple[Literal, ...]
#: Any of them.
Need = tuple[Term, ...]

ALWAYS: Need = ((),)
NEVER: Need = ()

#: Beyond these a need becomes a weaker one.
_MOST_TERMS, _MOST_LITERALS = 4, 6
_MOST_TERMS_MEANWHILE = 16
#: Branches around a use that are looked at.
_MOST_BRANCHES = 8
#: Instructions that may be copied to know a condition earlier.
_MOST_COPIED = 12
#: What a condition that is known earlier may be made of, from its block up to there.
_CHEAP = frozenset(
    "add sub mul shl lshr ashr and or xor zext sext trunc icmp fcmp select freeze gep".split()
)
_DIVISIONS = ("udiv", "sdiv", "urem", "srem")


def either(terms: Iterable[Term]) -> Need:
    """The disjunction, simplified: `a or (a and b)` is `a`, `(a and b) or (a and not b)` too."""
    result: list[Term] = []
    for term in terms:
        _add(result, term)
        if len(result) > _MOST_TERMS_MEANWHILE:
            result = [_common(result)]
        if result == [()]:
            break
    return tuple(result) if len(result) <= _MOST_TERMS else (_common(result),)


def _common(terms: list[Term]) -> Term:
    """What all of them say."""
    common = set(terms[0]).intersection(*terms[1:])
    return tuple(x for x in terms[0] if x in common)


def _add(terms: list[Term], term: Term) -> None:
    new = set(term)
    if any((condition, not holds) in new for condition, holds in new):
        return
    for other in terms:
        old = set(other)
        if old <= new:
            return
        rest = new - old
        if len(rest) == 1 and old - new == {(c, not h) for c, h in rest}:
            terms.remove(other)
            _add(terms, tuple(x for x in other if x in new))
            return
    terms[:] = [other for other in terms if not new <= set(other)]
    terms.append(term)


def _literal(condition: Value, holds: bool) -> Term:
    while isinstance(condition, Instr) and condition.op == "xor":
        value, other = condition.operands
        if not isinstance(other, Const) or other.int_value in (None, 0):
            break
        condition, holds = value, not holds
    return ((condition, holds),) if isinstance(condition, Instr) else ()


class Needs:
    """What is needed of the values of a program, to be asked for users before their operands."""

    def __init__(self, known: Analyses) -> None:
        program = known.program
        self.blocks = program.blocks
        self.loop_of: dict[Block, Loop] = {}
        for loop in known(loops):  # outer ones first
            self.loop_of.update(dict.fromkeys(loop.blocks, loop))
        self.idom = known(dominators)
        self.depth: dict[Block, int] = {}
        self.branch: dict[Block, tuple[Term, Block | None]] = {}
        self.span: dict[Block, tuple[int, int]] = {}
        self._dominator_tree(known(predecessors))
        self.users: dict[Value, list[tuple[Instr, int]]] = {}
        for instr in program.instructions():
            for number, operand in enumerate(instr.operands):
                if isinstance(operand, Instr):
                    self.users.setdefault(operand, []).append((instr, number))
        #: The depth of the highest block in which a value could be computed, and with how many
        #: instructions.
        self.level: dict[Instr, int] = {}
        self._size: dict[Instr, int] = {}
        for block in self.idom:
            for instr in block.instrs:
                self._set_level(instr, self.depth[block])
        #: Of values that were visited; of loads, when they are done.
        self.known: dict[Instr, Need] = {}
        #: Conditions by which one of two values is chosen, where both are computed.
        self.choices: set[Instr] = set()
        #: Values that must not be undefined even where they are not needed.
        self.defined: set[Instr] = set()

    def _dominator_tree(self, preds: dict[Block, list[Block]]) -> None:
        """Depths, and for each block the branch in front of it and the next block up with one."""
        for block in self.idom:  # a dominator comes before what it dominates
            above = self.idom[block]
            if above is block:
                self.depth[block], self.branch[block] = 0, ((), None)
                continue
            self.depth[block] = self.depth[above] + 1
            term = self._edge(above, block) if preds[block] == [above] else ()
            higher = above if self.branch[above][0] else self.branch[above][1]
            self.branch[block] = (term, higher)
        self._number_tree()

    def _number_tree(self) -> None:
        """Numbers the tree of dominators: those that a block dominates, and it, are a range."""
        below: dict[Block, list[Block]] = {block: [] for block in self.idom}
        for block, above in self.idom.items():
            if above is not block:
                below[above].append(block)
        order = postorder(self.blocks[0], lambda b: below[b])
        for number, block in enumerate(order):
            first = min((self.span[b][0] for b in below[block]), default=number)
            self.span[block] = (first, number)

    def _set_level(self, instr: Instr, depth: int) -> None:
        self.level[instr], self._size[instr] = depth, 0
        if instr.op in _CHEAP:
            made_of = [v for v in instr.operands if isinstance(v, Instr)]
            size = 1 + sum(self._size[v] for v in made_of)
            level = max((self.level[v] for v in made_of), default=0)
            if size <= _MOST_COPIED and level < depth:  # else it is as good where it stands
                self._size[instr], self.level[instr] = size, level

    def is_known_in(self, value: Instr, block: Block) -> bool:
        """Whether a value that could be computed in a block is computed there, or above."""
        assert value.block is not None
        return self.dominates(value.block, block)

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether `a` dominates `b` (a block dominates itself)."""
        first, last = self.span[a]
        return first <= self.span[b][1] <= last

    def made_of(self, value: Instr, block: Block) -> list[Instr]:
        """What a value that could be computed in a block is made of that is known there."""
        found: list[Instr] = []
        work = [value]
        while work:
            one = work.pop()
            if self.is_known_in(one, block):
                found.append(one)
            else:
                work.extend(v for v in one.operands if isinstance(v, Instr))
        return found

    def _edge(self, source: Block, target: Block) -> Term:
        """The condition under which a block goes to another one; not whether a loop ends."""
        loop = self.loop_of.get(source)
        ends = loop is not None and any(b not in loop.blocks for b in source.successors)
        if ends or len(set(source.successors)) < 2:
            return ()
        return _literal(source.terminator.operands[0], source.successors[0] is target)

    def visit(self, value: Instr) -> Need:
        """Where `value` is needed, in terms that are known in its block."""
        home = value.block
        assert home is not None
        need = either(self._terms(value, home))
        self.known[value] = need
        return need

    def _terms(self, value: Instr, home: Block) -> Iterator[Term]:
        for user, number in self.users.get(value, []):
            place = user.block
            assert place is not None
            inside = self._needed_by(value, user, number)
            reached: Term = ()
            level = self.depth[home]
            if user.op == "phi":
                level = min(level, self.depth[place] - 1)
                source = user.arg[number]
                reached, place = self._edge(source, place), source
            reached = self._way(home, place) + reached
            for term in inside:
                yield self._visible(reached, self.depth[home]) + self._visible(term, level)

    def _way(self, home: Block, place: Block) -> Term:
        """The branches that lead from a block to one that it dominates."""
        result: Term = ()
        at: Block | None = place
        for _ in range(_MOST_BRANCHES):
            if at is None or self.depth[at] <= self.depth[home]:
                break
            term, at = self.branch[at]
            result = term + result
        return result

    def _visible(self, term: Term, level: int) -> Term:
        """What of a term can be computed in the dominators down to a level.

        All of its conditions dominate the use, as the value does: so they lie on one line, and
        between the value and its use none of those above is computed anew.
        """
        kept = [(c, holds) for c, holds in term if self.level[c] <= level]
        return tuple(kept[:_MOST_LITERALS])

    def _needed_by(self, value: Instr, user: Instr, number: int) -> Need:
        """Where a user needs one of its operands, once it is reached."""
        if user.op in LOADS:
            return self.known.get(user, ALWAYS)
        if not is_pure(user):
            return ALWAYS
        if user in self.defined or (user.op in _DIVISIONS and number == 1):
            self.defined.add(value)
        need = self.known.get(user, ALWAYS)
        term = self._chosen(value, user, number)
        self.choices.update(condition for condition, _ in term)
        return tuple(outer + term for outer in need)

    def _chosen(self, value: Instr, user: Instr, number: int) -> Term:
        """The condition under which an operation looks at an operand."""
        if user.op == "select":
            return _literal(user.operands[0], number == 1) if number else ()
        if user.op not in ("and", "or", "mul"):
            return ()
        other = user.operands[1 - number]
        term: Term = ()
        if user.type == t.I1:
            term = _literal(other, user.op != "or")
        elif isinstance(other, Instr) and other.op in ("zext", "sext") and user.op != "or":
            whole = other.op == "sext" or user.op == "mul"  # not one bit of the value
            if whole and other.operands[0].type == t.I1:
                term = _literal(other.operands[0], True)
        if term:
            self.defined.add(value)
        return term
