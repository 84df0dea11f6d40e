"""Under which conditions values are needed.

    value = -x[i];                       // needed only where `inside` holds,
    sum += inside ? value : 0;           // and so is the load of x[i]

An operand of a pure operation is needed where its result is. A selection needs either of its values
only as its condition says; what is behind a branch is reached only under the branch's condition; an
address is needed where memory is accessed there. What stores, branches and other lanes use is
always needed.

A need is a disjunction of conjunctions of literals, such as `(a and not b) or c`. Where it would
grow large, or names a condition that cannot be known yet when the value is computed, a weaker one
takes its place. Values are visited once, users first; what a later iteration of a loop uses counts
as always needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators, innermost, predecessors
from anymetal.analysis.effects import DIVISIONS, LOADS, is_pure
from anymetal.ir import types as t
from anymetal.ir.cfg import postorder
from anymetal.ir.model import Block, Const, Instr, Value

#: A condition, and how it must come out.
Literal = tuple[Instr, bool]
#: A conjunction, outer conditions first: inner ones may be undefined where those do not hold.
Term = tuple[Literal, ...]
#: A disjunction.
Need = tuple[Term, ...]

ALWAYS: Need = ((),)
NEVER: Need = ()

#: Larger needs become weaker ones.
_MOST_TERMS, _MOST_LITERALS = 4, 6
_MOST_TERMS_MEANWHILE = 16
#: Branches around a use that are looked at.
_MOST_BRANCHES = 8
#: Instructions that may be copied to compute a condition earlier.
_MOST_COPIED = 12
#: Operations that may be copied for that.
_CHEAP = frozenset(
    "add sub mul shl lshr ashr and or xor zext sext trunc icmp fcmp select freeze gep".split()
)


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
    """The literals that all terms have."""
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
    """The needs of a program's values; users have to be asked about before their operands."""

    def __init__(self, known: Analyses) -> None:
        program = known.program
        self.blocks = program.blocks
        self.loop_of = known(innermost)
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
        #: The depth in the dominator tree of the highest block in which a value could be computed,
        #: and how many instructions that would take.
        self.level: dict[Instr, int] = {}
        self._size: dict[Instr, int] = {}
        for block in self.idom:
            for instr in block.instrs:
                self._set_level(instr, self.depth[block])
        #: The needs of values that were visited; of loads, the conditions that they wait for.
        self.known: dict[Instr, Need] = {}
        #: Conditions of selections and the like, where both values are computed.
        self.choices: set[Instr] = set()
        #: Values that must be defined even where they are not needed.
        self.defined: set[Instr] = set()

    def _dominator_tree(self, preds: dict[Block, list[Block]]) -> None:
        """Finds each block's depth, the condition of the branch in front of it, and the next block
        up the tree that has such a condition."""
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
        """Numbers the dominator tree: a block and those that it dominates are one range."""
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
            if size <= _MOST_COPIED and level < depth:  # else nothing is gained
                self._size[instr], self.level[instr] = size, level

    def is_known_in(self, value: Instr, block: Block) -> bool:
        """Whether a value is computed in a block or above it."""
        assert value.block is not None
        return self.dominates(value.block, block)

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether `a` dominates `b` (a block dominates itself)."""
        first, last = self.span[a]
        return first <= self.span[b][1] <= last

    def made_of(self, value: Instr, block: Block) -> list[Instr]:
        """The values known in a block from which `value` could be computed there."""
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
        """The condition under which control takes an edge; always true at the end of a loop."""
        loop = self.loop_of.get(source)
        ends = loop is not None and any(b not in loop.blocks for b in source.successors)
        if ends or len(set(source.successors)) < 2:
            return ()
        return _literal(source.terminator.operands[0], source.successors[0] is target)

    def visit(self, value: Instr) -> Need:
        """The need of `value`, in conditions that can be known in its block."""
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
        """The conditions of the branches on the way from a block to one that it dominates."""
        result: Term = ()
        at: Block | None = place
        for _ in range(_MOST_BRANCHES):
            if at is None or self.depth[at] <= self.depth[home]:
                break
            term, at = self.branch[at]
            result = term + result
        return result

    def _visible(self, term: Term, level: int) -> Term:
        """The literals of a term that can be computed in the dominators down to a level.

        Their blocks all dominate the use, as that of the value does, so they lie on one path of the
        tree.
        """
        kept = [(c, holds) for c, holds in term if self.level[c] <= level]
        return tuple(kept[:_MOST_LITERALS])

    def _needed_by(self, value: Instr, user: Instr, number: int) -> Need:
        """The need of an operand because of one user."""
        if user.op in LOADS:
            return self.known.get(user, ALWAYS)
        if not is_pure(user):
            return ALWAYS
        if user in self.defined or (user.op in DIVISIONS and number == 1):
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
            whole = other.op == "sext" or user.op == "mul"  # all or no bits of the value
            if whole and other.operands[0].type == t.I1:
                term = _literal(other.operands[0], True)
        if term:
            self.defined.add(value)
        return term
