"""The new blocks that `join_inner_loops` puts in front of an inner loop.

    ask:     are sums left from an earlier iteration?      ─────────────┐
    check:   may the next iterations be joined?    ──── no ────────┐    │
    start:   what their loops begin with                           │    │
    joint:   their inner loops, as far as all of them go           │    │
    ready:   what there is for this iteration, and for later ones ◄┴────┘
    inner:   the loop as it was, from there on, unless nothing is left of it

What later iterations will need is carried by phis of the outer loop.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.induction import Induction
from anymetal.ir import types as t
from anymetal.ir.calls import ALL
from anymetal.ir.cfg import Loop, reverse_postorder
from anymetal.ir.model import Block, Const, Instr, Program, Value, predecessors
from anymetal.ir.walk import from_below

#: Iterations of inner loops that are joined: fewer do not pay; as many as the most, times the
#: largest step, do not make an index wrap twice.
UNROLLED = 4
LEAST_TRIPS, MOST_TRIPS = 2 * UNROLLED, 1 << 20


class Nest(NamedTuple):
    """An outer loop and its only inner loop, which is one block."""

    outer: Loop
    inner: Block
    before: Block  #: the block in front of the inner loop
    counter: Induction  #: of the inner loop: it is left when this meets its limit
    guards: list[tuple[Value, bool]]  #: the inner loop is reached if these come out so
    steps: dict[Value, Induction]  #: of both loops, by phi
    stores: list[Instr]  #: of the outer loop
    differ: set[Value]  #: instructions of the inner loop that depend on the outer iteration
    strides: dict[Instr, int]  #: by how many bytes addresses of its loads grow in an iteration
    alike: bool  #: all of this is the same in all lanes
    compared: list[Instr]  #: loads of the inner loop that stores might lead to


class _Ahead:
    """Computes values of an iteration of the outer loop, counted from this one, in a block."""

    def __init__(self, nest: Nest, number: int, block: Block) -> None:
        self.nest = nest
        self.block = block
        self.number = number
        self.there: dict[Value, Value] = {}

    def __call__(self, value: Value) -> Value:
        return from_below(value, self.there, self._parts, self._computed)

    def at(self, block: Block) -> _Ahead:
        """The same for what is computed in a block behind this one."""
        later = _Ahead(self.nest, self.number, block)
        later.there = dict(self.there)
        return later

    def within(self, places: dict[Value, Value]) -> _Ahead:
        """The same where phis of the inner loop have these values."""
        later = self.at(self.block)
        later.there.update(places)
        return later

    def do(self, op: str, type_: t.Type, operands: list[Value], arg: object = None) -> Instr:
        """One more instruction."""
        return self.block.append(Instr(type_, op, operands, arg))

    def _parts(self, value: Value) -> list[Value]:
        inside = isinstance(value, Instr) and value.block in self.nest.outer.blocks
        return value.operands if isinstance(value, Instr) and inside and value.op != "phi" else []

    def _computed(self, value: Value) -> Value:
        if not isinstance(value, Instr) or value.block not in self.nest.outer.blocks:
            return value
        if value.op == "phi":
            step = self.nest.steps[value].step
            result: Value = value
            for _ in range(self.number):
                result = self.do("add", value.type, [result, step])
            return result
        operands = [self.there[v] for v in value.operands]
        copy = self.do(value.op, value.type, operands, value.arg)
        copy.loc = value.loc  # without flags: the iteration may not exist
        return copy


class Joined:
    """Joins iterations of a nest."""

    def __init__(self, program: Program, nest: Nest, count: int) -> None:
        self.program, self.nest, self.count = program, nest, count
        name = nest.inner.name
        self.ask, self.check, self.start, self.joint, self.ready = self.blocks = [
            Block(f"{name}${part}") for part in ("ask", "check", "start", "joint", "ready")
        ]
        self.phis = nest.inner.phis
        #: (phi of the inner loop, how many outer iterations later) -> what is carried
        self.carried: dict[tuple[Instr, int], Instr] = {}
        #: (load, iteration) -> its first address
        self.firsts: dict[tuple[Instr, int], Value] = {}
        self.behind = next(b for b in nest.inner.successors if b is not nest.inner)
        self.ends = self._may_end()
        self.left = self._phi(t.I32, "left")
        for phi in self.phis:
            for later in range(1, count) if phi in nest.differ else (1,):
                self.carried[phi, later] = self._phi(phi.type, f"later{later}")

    def _phi(self, type_: t.Type, name: str) -> Instr:
        return Instr(type_, "phi", [], [], "", None, f"{self.nest.inner.name}${name}")

    def _may_end(self) -> bool:
        """Whether an inner loop may be passed by if nothing is left of it: what is used behind it
        is what its phis would have next."""
        inner, counter = self.nest.inner, self.nest.counter
        known = {_value_from(phi, inner) for phi in self.phis}
        used = [_value_from(phi, inner) for phi in self.behind.phis]
        new = [v for v in used if isinstance(v, Instr) and v.block is inner and v not in known]
        return not new and counter.tests[0].operands[0] is counter.update

    def make(self) -> None:
        trips, ahead = self._check()
        last = self._joint(trips, ahead)
        carried = self._ready(last)
        self._place()
        self._carry(carried)

    # -- may they be joined? --------------------------------------------------------------------

    def _check(self) -> tuple[Value, list[_Ahead]]:
        """How many iterations of the inner loops are joined, and values of the iterations."""
        nest, check = self.nest, self.check
        zero = Const(t.I32, "0")
        have = self.ask.append(Instr(t.I1, "icmp", [self.left, zero], "ne"))
        self.ask.append(Instr(t.VOID, "br", [have], [self.ready, check]))
        ahead = [_Ahead(nest, number, check) for number in range(self.count)]
        conditions = [c for one in ahead[1:] for c in self._exists(one, ahead[one.number - 1])]
        trips, enough = self._trips(ahead)
        conditions += [enough, *self._keeps_apart(trips, ahead)]
        whole = conditions[0]
        for condition in conditions[1:]:
            whole = ahead[0].do("and", t.I1, [whole, condition])
        # What is the same in all lanes need not be asked of them.
        alike = self.nest.alike
        vote = ahead[0].do(*("freeze", t.I1, [whole]) if alike else ("call", t.I1, [whole], ALL))
        check.append(Instr(t.VOID, "br", [vote], [self.start, self.ready]))
        return trips, ahead

    def _exists(self, one: _Ahead, before: _Ahead) -> list[Value]:
        """Conditions that say that the iteration exists and gets to its inner loop."""
        end = self.nest.outer.latches[0].terminator
        wanted = [(before(end.operands[0]), end.arg[0] is self.nest.outer.header)]
        wanted += [(one(value), holds) for value, holds in self.nest.guards]
        no = Const(t.I1, "false")
        return [v if holds else one.do("icmp", t.I1, [v, no], "eq") for v, holds in wanted]

    def _trips(self, ahead: list[_Ahead]) -> tuple[Value, Value]:
        """How many iterations the inner loops have at least, but for one if it cannot be seen that
        none is left; and whether these are enough."""
        counter = self.nest.counter
        type_, (test,) = counter.phi.type, counter.tests
        assert counter.start is not None
        fewest: Value = Const(type_, str(MOST_TRIPS))
        for one in ahead:
            ends = [one(counter.start), one(test.operands[1])]
            up = counter.growth > 0
            trips: Value = one.do("sub", type_, ends[::-1] if up else ends)
            if test.operands[0] is counter.update and not self.ends:
                trips = one.do("add", type_, [trips, Const(type_, "-1")])
            fewer = one.do("icmp", t.I1, [trips, fewest], "ult")
            fewest = one.do("select", type_, [fewer, trips, fewest])
        least = Const(type_, str(LEAST_TRIPS))
        return fewest, ahead[0].do("icmp", t.I1, [fewest, least], "uge")

    def _keeps_apart(self, trips: Value, ahead: list[_Ahead]) -> list[Value]:
        """Conditions that say that no iteration stores to what a later one reads early, and that no
        address that grows wraps."""
        nest = self.nest
        conditions: list[Value] = []
        stores = {_place(s): s for s in nest.stores}.values()
        for load in nest.strides:
            for reader in ahead if load in nest.differ else ahead[:1]:
                low, high, order = self._range(load, trips, reader)
                conditions.append(order)
                if load not in nest.compared:
                    continue
                # What is the same for all is read for the last of them, too.
                before = reader.number if load in nest.differ else self.count - 1
                conditions += [
                    self._is_apart(store, writer, low, high)
                    for store in stores
                    for writer in ahead[:before]
                ]
        return conditions

    def _range(self, load: Instr, trips: Value, one: _Ahead) -> tuple[Value, Value, Value]:
        """Where what is loaded begins and ends, and whether that is so: no index wraps."""
        nest = self.nest
        starts: dict[Value, Value] = {}
        ends: dict[Value, Value] = {}
        for phi in self.phis:
            step = nest.steps.get(phi)
            if step is None or step.start is None or not _reaches(phi, load):
                continue
            starts[phi] = one(step.start)
            steps = one.do("add", trips.type, [trips, Const(trips.type, "-1")])
            travel = _resized(one, steps, phi.type)
            travel = one.do("mul", phi.type, [travel, Const(phi.type, str(step.growth))])
            ends[phi] = one.do("add", phi.type, [starts[phi], travel])
        pointer = load.operands[0]
        first, last = (one.within(places)(pointer) for places in (starts, ends))
        self.firsts[load, one.number] = first
        low, high = (last, first) if nest.strides[load] < 0 else (first, last)
        order = one.do("icmp", t.I1, [low, high], "ule")
        return low, one.do("gep", high.type, [high], (load.type.size,)), order

    def _is_apart(self, store: Instr, writer: _Ahead, low: Value, high: Value) -> Value:
        """Whether a store touches nothing between two addresses."""
        first = writer(store.operands[1])
        end = writer.do("gep", first.type, [first], (store.operands[0].type.size,))
        below = writer.do("icmp", t.I1, [end, low], "ule")
        above = writer.do("icmp", t.I1, [high, first], "ule")
        return writer.do("or", t.I1, [below, above])

    # -- the joined loops -----------------------------------------------------------------------

    def _joint(self, trips: Value, ahead: list[_Ahead]) -> list[dict[Value, Value]]:
        """Writes them; returns for each iteration what phis have in the end."""
        nest, joint, inner = self.nest, self.joint, self.nest.inner
        starts = [one.at(self.start) for one in ahead]
        for one in starts:
            for instr in inner.instrs:
                for value in instr.operands:
                    if not (isinstance(value, Instr) and value.block is inner):
                        one(value)  # what the loops need from outside
        turns = joint.append(Instr(t.I64, "phi", [], [self.start, joint]))
        heads: list[tuple[Instr, Instr, int]] = []
        now: list[dict[Value, Value]] = []
        for one in starts:
            now.append(dict(one.there))
            for phi in self.phis:
                if one.number and phi not in nest.differ:
                    now[-1][phi] = now[0][phi]
                    continue
                begin = one.there[phi.operands[phi.arg.index(nest.before)]]
                head = Instr(phi.type, "phi", [begin], [self.start, joint])
                now[-1][phi] = joint.append(head)
                heads.append((head, phi, one.number))
        for turn in range(UNROLLED):
            self._turn(turn, turns, now)
        for head, phi, number in heads:
            head.operands.append(now[number][phi])
        more = joint.append(Instr(t.I64, "add", [turns, Const(t.I64, str(UNROLLED))]))
        turns.operands = [zero(t.I64), more]
        whole = _resized(starts[0], trips, t.I64)
        whole = starts[0].do("and", t.I64, [whole, Const(t.I64, str(-UNROLLED))])
        self.start.append(Instr(t.VOID, "br", [], [joint]))
        done = joint.append(Instr(t.I1, "icmp", [more, whole], "eq"))
        joint.append(Instr(t.VOID, "br", [done], [self.ready, joint]))
        return now

    def _turn(self, turn: int, turns: Instr, now: list[dict[Value, Value]]) -> None:
        """Writes one iteration of all of them; `now` has their values, and gets those behind it."""
        nest, joint, inner = self.nest, self.joint, self.nest.inner
        for instr in inner.body:
            for number, values in enumerate(now):
                if number and instr not in nest.differ:
                    values[instr] = now[0][instr]
                    continue
                copy = instr.copy(f"{number}.{turn}")
                copy.operands = [values[v] for v in instr.operands]
                first = self.firsts.get((instr, number))
                if first is not None:
                    stride = nest.strides[instr]
                    if stride < 0:  # scales of addresses are positive
                        count = joint.append(Instr(t.I64, "sub", [zero(t.I64), turns]))
                    else:
                        count = turns
                    offsets = (abs(stride), turn * stride)
                    place = Instr(first.type, "gep", [first, count], offsets)
                    copy.operands[0] = joint.append(place)
                values[instr] = joint.append(copy)
        for values in now:
            values.update({p: values[_value_from(p, inner)] for p in self.phis})

    # -- what is handed on ----------------------------------------------------------------------

    def _ready(self, last: list[dict[Value, Value]]) -> dict[Instr, Value]:
        """Writes the last block; returns what is carried on."""
        nest, ways = self.nest, [self.ask, self.check, self.joint]
        heads: list[Instr] = []

        def choose(type_: t.Type, *values: Value) -> Instr:
            heads.append(Instr(type_, "phi", list(values), list(ways)))
            return heads[-1]

        fewer = Instr(t.I32, "add", [self.left, Const(t.I32, "-1")])
        self.ask.insert(-1, [fewer])
        joined = Const(t.I32, str(self.count - 1))
        result: dict[Instr, Value] = {self.left: choose(t.I32, fewer, Const(t.I32, "0"), joined)}
        for phi in self.phis:
            at = phi.arg.index(nest.before)
            now = choose(phi.type, self.carried[phi, 1], phi.operands[at], last[0][phi])
            phi.operands[at], phi.arg[at] = now, self.ready
            if phi not in nest.differ:
                result[self.carried[phi, 1]] = now
                continue
            for later in range(1, self.count):
                then = self.carried.get((phi, later + 1)) or zero(phi.type)
                new = choose(phi.type, then, zero(phi.type), last[later][phi])
                result[self.carried[phi, later]] = new
        self.ready.refill([*heads, Instr(t.VOID, "br", [], [nest.inner])])
        if self.ends:
            self._pass_by()
        return result

    def _pass_by(self) -> None:
        """Leads past the inner loop if nothing is left of it."""
        inner, ready, counter = self.nest.inner, self.ready, self.nest.counter
        values = {_value_from(p, inner): _value_from(p, ready) for p in self.phis}
        yes, no = Const(t.I1, "true"), Const(t.I1, "false")
        joined = Instr(t.I1, "phi", [yes, no, yes], [self.ask, self.check, self.joint])
        limit, now = counter.tests[0].operands[1], _value_from(counter.phi, ready)
        met = Instr(t.I1, "icmp", [now, limit], "eq")
        over = Instr(t.I1, "and", [joined, met])
        ready.instrs.pop()
        ready.insert(0, [joined])
        ready.insert(len(ready.instrs), [met, over])
        ready.append(Instr(t.VOID, "br", [over], [self.behind, inner]))
        for phi in self.behind.phis:
            value = _value_from(phi, inner)
            phi.operands.append(values.get(value, value))
            phi.arg.append(ready)

    def _place(self) -> None:
        nest = self.nest
        end = nest.before.terminator
        end.arg = [self.ask if b is nest.inner else b for b in end.arg]
        at = self.program.blocks.index(nest.inner)
        self.program.blocks[at:at] = self.blocks

    def _carry(self, ready: dict[Instr, Value]) -> None:
        """Leads what is carried to the next iteration, around branches that pass by."""
        outer = self.nest.outer
        inside = {*outer.blocks, *self.blocks}
        preds = predecessors(self.program.blocks)
        order = [b for b in reverse_postorder(self.program.blocks[0]) if b in inside]
        for carried, now in ready.items():
            values: dict[Block, Value] = {outer.header: carried, self.ready: now}
            for block in order:
                if block in values:
                    continue
                ways = [b for b in preds[block] if b in values]
                values[block] = values[ways[0]]
                if any(values[b] is not values[ways[0]] for b in ways):
                    phi = Instr(carried.type, "phi", [values[b] for b in ways], ways)
                    block.insert(0, [phi])
                    values[block] = phi
            for block in preds[outer.header]:
                carried.operands.append(values[block] if block in inside else zero(carried.type))
                carried.arg.append(block)
        outer.header.insert(0, list(ready))


def zero(type_: t.Type) -> Const:
    """What stands where nobody will look."""
    if type_.is_ptr:
        return Const(type_, "null")
    if type_.is_int:
        return Const(type_, "false" if type_ == t.I1 else "0")
    return Const(type_, "0.0")


def _value_from(phi: Instr, block: Block) -> Value:
    """What a phi has if control comes from a block."""
    value: Value = phi.operands[phi.arg.index(block)]
    return value


def _place(store: Instr) -> tuple[object, ...]:
    """Equal for stores to the same bytes."""
    value, pointer = store.operands
    if isinstance(pointer, Instr) and pointer.op == "gep":
        return (*pointer.operands, pointer.arg, value.type.size)
    return pointer, value.type.size


def _resized(one: _Ahead, value: Value, type_: t.Type) -> Value:
    """A number below MOST_TRIPS as another type."""
    if value.type == type_:
        return value
    return one.do("zext" if value.type.size < type_.size else "trunc", type_, [value])


def _reaches(phi: Instr, load: Instr) -> bool:
    """Whether the address of a load depends on a phi of its own block."""
    work: list[Value] = [load.operands[0]]
    while work:
        value = work.pop()
        if value is phi:
            return True
        if isinstance(value, Instr) and value.block is phi.block and value.op != "phi":
            work += value.operands
    return False
