"""Loads happen only where their value is needed.

    value = x[i];                        // i may lie outside of x
    value = inside ? value : 0;

becomes `guarded_load x[i], inside`, which loads nothing in other lanes. Kernels are written like
this because a GPU lets most stray loads pass; here they could fault. A load whose uses all lie
behind a branch is moved behind it. Others wait for the condition under which their value reaches
anything (analysis/needs.py). What is computed from a value that was not loaded is garbage that
nobody uses.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import predecessors
from anymetal.analysis.effects import ACCESSES, is_plain, is_pure, writes
from anymetal.analysis.needs import ALWAYS, NEVER, Need, Needs, Term, either
from anymetal.analysis.objects import root_of
from anymetal.ir import types as t
from anymetal.ir.cfg import postorder
from anymetal.ir.model import Argument, Block, Const, Global, Instr, Value
from anymetal.ir.sizes import DESCRIPTION_BYTES

#: Instructions that may be moved to compute a condition in front of a load.
_MOST_MOVED = 300
#: Instructions of an address, or of a branch's condition, that are looked at.
_MOST_SOURCES = 60


def run(known: Analyses) -> bool:
    """Moves loads, and puts conditions on those that cannot be moved far enough."""
    program = known.program
    needs = Needs(known)
    moved = _Sinker(known, needs).run()
    guards = _Guards(needs).find()
    for block in program.blocks:
        if any(instr in guards for instr in block.instrs):
            _Schedule(block, guards, needs).run()
    return moved or bool(guards)


def _is_plain_load(instr: Instr) -> bool:
    return instr.op == "load" and is_plain(instr)


class _Sinker:
    """Moves each load to the lowest block that dominates all its uses, and with it what is computed
    from it before."""

    def __init__(self, known: Analyses, needs: Needs) -> None:
        self.needs = needs
        self.preds = known(predecessors)
        self.writers = {b for b in known.program.blocks if any(map(writes, b.instrs))}
        self.clear: dict[tuple[Block, Block], bool] = {}
        self.lowest: dict[Instr, Block] = {}  #: where a value is computed at the latest
        self.new_home: dict[Instr, Block] = {}

    def run(self) -> bool:
        """Whether anything moved."""
        blocks = list(self.needs.idom)
        for block in reversed(blocks):
            self._find_homes(block)
        if not self.new_home:
            return False
        arrivals: dict[Block, list[Instr]] = {}
        for block in blocks:
            for instr in block.instrs:
                if self._leaves(instr, block):
                    arrivals.setdefault(self.new_home[instr], []).append(instr)
        for block in blocks:
            block.instrs = [i for i in block.instrs if i not in self.new_home]
        for block, instrs in arrivals.items():
            block.insert(len(block.phis), instrs)
        return True

    def _find_homes(self, block: Block) -> None:
        """Finds new blocks for loads that nothing behind them in the block may overwrite."""
        written = False
        for instr in reversed(block.instrs):
            written = written or writes(instr)
            if _is_plain_load(instr):
                target = self._target(instr, block)
                if target is not block and not written and self._may_move(block, target):
                    self.new_home[instr] = self.lowest[instr] = target
            elif is_pure(instr) and instr.op != "phi":
                self.lowest[instr] = self._target(instr, block)

    def _target(self, value: Instr, block: Block) -> Block:
        """The lowest block that dominates all uses, but not in an inner loop. A phi uses its
        operand in the predecessor."""
        target: Block | None = None
        for user, number in self.needs.users.get(value, []):
            place = user.arg[number] if user.op == "phi" else self.lowest.get(user, user.block)
            assert place is not None
            target = place if target is None else self._common(target, place)
        target = target or block
        loop_of = self.needs.loop_of
        while loop_of.get(target) is not loop_of.get(block):
            target = self.needs.idom[target]
        return target

    def _common(self, a: Block, b: Block) -> Block:
        """The lowest block that dominates both; mostly that is `a`."""
        while not self.needs.dominates(a, b):
            a = self.needs.idom[a]
        return a

    def _leaves(self, instr: Instr, block: Block) -> bool:
        """Whether an instruction moves: because it is such a load, or because it uses one."""
        if instr not in self.new_home and instr in self.lowest:
            homes = [self.new_home[v] for v in instr.operands if v in self.new_home]
            if any(self.needs.depth[home] > self.needs.depth[block] for home in homes):
                self.new_home[instr] = self.lowest[instr]
        return instr in self.new_home

    def _may_move(self, source: Block, target: Block) -> bool:
        key = (source, target)
        if key not in self.clear:
            self.clear[key] = not (self._between(source, target) & self.writers)
        return self.clear[key]

    def _between(self, source: Block, target: Block) -> set[Block]:
        """Blocks on paths from `source` to `target`, which it dominates, without the two."""
        back = set(postorder(target, lambda b: [] if b is source else self.preds[b]))
        return back - {source, target}


class _Guards:
    """Decides which loads wait for which condition.

    The condition is known where the load stands, or can be computed in front of it. Loads are
    visited from the last one to the first: the parts of an address are needed where its load is
    done.
    """

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.guards: dict[Instr, Need] = {}
        self.sources: dict[Instr, frozenset[Instr]] = {}
        self.place: dict[Instr, int] = {}  #: in the block
        self.part: dict[Instr, int] = {}  #: writing instructions in front of it in the block

    def find(self) -> dict[Instr, Need]:
        for block in reversed(list(self.needs.idom)):
            self._block(block)
        return self.guards

    def _block(self, block: Block) -> None:
        part = 0
        for number, instr in enumerate(block.instrs):
            self.place[instr], self.part[instr] = number, part
            part += writes(instr)
        for instr in reversed(block.instrs):
            need = self.needs.visit(instr)
            if instr.op == "load":
                self.needs.known[instr] = self._guard(instr, need)

    def _guard(self, load: Instr, need: Need) -> Need:
        if not _is_plain_load(load) or need == NEVER or _is_there(load):
            return ALWAYS
        need = either(tuple(x for x in term if self._serves(x[0], load)) for term in need)
        if need != ALWAYS:
            self.guards[load] = need
        return need

    def _serves(self, condition: Instr, load: Instr) -> bool:
        """Whether a load can and should wait for a condition.

        It should if a value is chosen by the condition: that may be all that makes the address
        valid. Branches around uses are many, so only those count that may be bounds checks: both
        condition and address are made of one position, loaded value or counter.
        """
        if condition not in self.needs.choices:
            pointer = load.operands[0]
            if not isinstance(pointer, Instr) or not self._made_of(condition) & self._made_of(
                pointer
            ):
                return False
        return self._is_early(condition, load)

    def _made_of(self, value: Instr) -> frozenset[Instr]:
        """Some positions, loaded values and counters in a value; all, if they are few."""
        if value not in self.sources:
            found: set[Instr] = set()
            seen, work = {value}, [value]
            while work and len(seen) <= _MOST_SOURCES:
                one = work.pop()
                if one.op in (*ACCESSES, "call", "phi"):
                    found.add(one)
                    continue
                new = [v for v in one.operands if isinstance(v, Instr) and v not in seen]
                seen.update(new)
                work.extend(new)
            self.sources[value] = frozenset(found)
        return self.sources[value]

    def _is_early(self, condition: Instr, load: Instr) -> bool:
        """Whether a condition can be computed in front of a load.

        Its parts can move there unless they are made of the load, or of another load that has to
        wait, or would read memory on the other side of a store.
        """
        home, start = load.block, self.place[load]
        assert home is not None
        work = self.needs.made_of(condition, home)
        seen = set(work)
        while work:
            one = work.pop()
            if one.block is not home or self.place[one] < start:
                continue
            if one is load or len(seen) > _MOST_MOVED or not self._moves(one, load):
                return False
            for value in _waits_for(one, home, self.guards, self.needs):
                if value not in seen:
                    seen.add(value)
                    work.append(value)
        return True

    def _moves(self, instr: Instr, load: Instr) -> bool:
        if instr.op not in (*ACCESSES, "call"):
            return instr.op != "alloca"
        if writes(instr) or self.part[instr] != self.part[load]:
            return False
        return instr.op == "call" or _is_plain_load(instr)


def _waits_for(instr: Instr, block: Block, guards: dict[Instr, Need], needs: Needs) -> list[Instr]:
    """What must be computed before an instruction, apart from values of phis."""
    if instr.op == "phi":
        return []
    values = [v for v in instr.operands if isinstance(v, Instr)]
    for condition, _ in (literal for term in guards.get(instr, ()) for literal in term):
        values += needs.made_of(condition, block)
    return values


def _is_there(load: Instr) -> bool:
    """Whether a load reads memory that certainly exists."""
    pointer, offset = root_of(load.operands[0])
    size = 0
    if isinstance(pointer, Argument):
        size = DESCRIPTION_BYTES if pointer.describes else 0
    elif isinstance(pointer, Global):
        size = pointer.value_type.size
    elif isinstance(pointer, Instr) and pointer.op == "alloca":
        size = pointer.arg[0].size
    return 0 <= offset <= size - load.type.size


class _Schedule:
    """Reorders a block: guarded loads come just before their first use, or the next instruction
    that writes, and their conditions before them."""

    def __init__(self, block: Block, guards: dict[Instr, Need], needs: Needs) -> None:
        self.block = block
        self.guards = guards
        self.needs = needs
        self.open = dict.fromkeys(block.instrs)  #: what still waits for its place
        self.conditions: dict[Need | Term, Value] = {}
        self.copies: dict[Instr, Instr] = {}  #: of what later blocks compute

    def run(self) -> None:
        old, self.block.instrs = self.block.instrs, []
        waiting: list[Instr] = []
        for instr in old:
            if instr in self.guards:
                waiting.append(instr)
                continue
            if writes(instr) or instr.is_terminator:
                for load in waiting:
                    self._place(load)
                waiting = []
            self._place(instr)

    def _place(self, instr: Instr) -> None:
        """Appends the instruction, after what it waits for."""
        work = [instr]
        while work:
            one = work[-1]
            waits_for = _waits_for(one, self.block, self.guards, self.needs)
            before = [v for v in waits_for if v in self.open]
            if one not in self.open or not before:
                work.pop()
                if one in self.open:
                    del self.open[one]
                    self._put(one)
            work.extend(reversed(before))

    def _put(self, instr: Instr) -> None:
        need = self.guards.get(instr)
        if need is None:
            self.block.append(instr)
            return
        inverted = len(need) == 1 and len(need[0]) == 1 and not need[0][0][1]
        condition = self._known(need[0][0][0]) if inverted else self._any(need, instr)
        instr.op, instr.operands = "guarded_load", [instr.operands[0], condition]
        instr.flags = "inverted" if inverted else ""
        self.block.append(instr)
        if instr in self.needs.defined:
            frozen = self._new("freeze", [instr], instr)
            for user, number in self.needs.users[instr]:
                user.operands[number] = frozen

    # Selections, where `and` and `or` would do: what is asked second may be undefined, unless ...

    def _any(self, need: Need, load: Instr) -> Value:
        if need not in self.conditions:
            last = self._all(need[-1], load)
            for term in reversed(need[:-1]):
                first = self._all(term, load)
                last = self._new("select", [first, Const(t.I1, "true"), last], load)
            self.conditions[need] = last
        return self.conditions[need]

    def _all(self, term: Term, load: Instr) -> Value:
        if term not in self.conditions:
            (condition, holds), rest = term[0], term[1:]
            second = self._all(rest, load) if rest else Const(t.I1, "true")
            false = Const(t.I1, "false")
            result: Value = self._known(condition)
            if rest or not holds:
                values = [second, false] if holds else [false, second]
                result = self._new("select", [result, *values], load)
            self.conditions[term] = result
        return self.conditions[term]

    def _known(self, value: Instr) -> Instr:
        """The value, or a copy of the few instructions that compute it in a later block."""
        if self.needs.is_known_in(value, self.block):
            return value
        if value not in self.copies:
            operands = [self._known(v) if isinstance(v, Instr) else v for v in value.operands]
            copy = Instr(value.type, value.op, operands, value.arg, value.flags, value.loc)
            self.copies[value] = self.block.append(copy)
        return self.copies[value]

    def _new(self, op: str, operands: list[Value], load: Instr) -> Instr:
        return self.block.append(Instr(operands[-1].type, op, operands, None, "", load.loc))
