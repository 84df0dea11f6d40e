"""Random well-defined statements: divergence, loops, barriers, stores.

A barrier needs all live threads of the threadgroup: statements that contain one are generated
only where `flow.uniform` holds. What one thread writes and another reads goes through the
patterns of `_exchange`, `_reduction` and `_histogram`, with barriers between.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.testing.fuzz.reals import VARIABLE_BOUND
from anymetal.testing.fuzz.scope import Leaving, Local, PointerLocal, PrivateArray, Scope
from anymetal.testing.fuzz.tree import (
    Advance,
    Arm,
    Assign,
    Atomic,
    AtomicLoad,
    Barrier,
    Binary,
    Block,
    Break,
    Buffer,
    Cast,
    CastLoad,
    Component,
    Constant,
    Continue,
    CrossLane,
    Declare,
    DeclareArray,
    DeclarePointer,
    Expr,
    If,
    Load,
    Loop,
    LoopKind,
    LoopOp,
    PointerLoad,
    Return,
    Statement,
    Switch,
    Swizzle,
    Variable,
)
from anymetal.testing.fuzz.types import BOOL, FLOAT, INT, LONG, UCHAR, UINT, Type, promote
from anymetal.testing.fuzz.values import Values

_DEEPEST = 4
_LID, _TGSIZE = Variable(UINT, "lid"), Variable(UINT, "tgsize")


class Statements:
    """Generates blocks of statements within a budget."""

    def __init__(self, scope: Scope, budget: int) -> None:
        self.scope = scope
        self.rng = scope.rng
        self.values = Values(scope)
        self.budget = budget

    def sequence(self, most: int) -> Block:
        """Up to `most` statements (patterns count as one)."""
        result: list[Statement] = []
        for _ in range(most):
            if self.budget <= 0:
                break
            self.budget -= 1
            result += self._statement()
        return tuple(result)

    def _statement(self) -> list[Statement]:
        scope, flow, features = self.scope, self.scope.flow, self.scope.features
        options: list[tuple[int, Callable[[], list[Statement]]]] = [
            (10, self._declare),
            (14, self._assign),
        ]
        if flow.depth < _DEEPEST:
            options += [(10, self._if), (10, self._loop), (3, self._switch)]
        if flow.depth > 0 or scope.chance(0.3):
            options.append((16 if flow.continues else 6, self._exit))
        if features.arrays:
            options.append((4, self._array))
        if flow.function is None:
            options.append((5, self._store))
            if features.pointers:
                options.append((5, self._walk))
            if features.atomics:
                options.append((6, self._atomic))
            if features.cross_lane and flow.cross_lane:
                options.append((8, self._cross_lane))
            if features.threadgroup and flow.uniform:
                options += [(10, self._exchange), (3, self._reduction), (4, self._histogram)]
        weights = [weight for weight, _ in options]
        return self.rng.choices(options, weights)[0][1]()

    # ----------------------------------------------------------------------- straight line

    def _type(self) -> Type:
        features = self.scope.features
        if features.vectors and self.scope.chance(0.35):
            return self.values.vectors.any_type()
        return self.rng.choice((*features.types, BOOL))

    def _declare(self) -> list[Statement]:
        kind = self._type()
        uniform = self.scope.flow.uniform and self.scope.chance(0.25)
        return [self.declare(kind, self.values.value(kind, 3, uniform), uniform)]

    def declare(self, kind: Type, value: Expr, uniform: bool = False) -> Declare:
        """A new local variable, in scope from here on."""
        variable = Variable(kind, self.scope.fresh("v"))
        self.scope.locals.append(Local(variable, uniform, writable=True))
        return Declare(variable, value)

    def _cross_lane(self) -> list[Statement]:
        kinds = [t for t in self.scope.features.types if t.is_integer and t.bits <= 32]
        kind = self.rng.choice(kinds)
        return [self.declare(kind, self.values.lanes.make(kind, 2))]

    def _assign(self) -> list[Statement]:
        scope = self.scope
        targets = [
            local
            for local in scope.locals
            if local.writable and (scope.flow.uniform or not local.uniform)
        ]
        if scope.arrays and scope.chance(0.3):
            return self._array_store(self.rng.choice(scope.arrays))
        if not targets:
            return self._declare()
        local = self.rng.choice(targets)
        if local.variable.type.is_vector and scope.chance(0.6):
            return self._part_assign(local)
        return self._update(local.variable, local.uniform)

    def _update(self, target: Variable | Component | Load, uniform: bool) -> list[Statement]:
        """`target = value;` or a compound assignment to a scalar or vector."""
        kind, values = target.type, self.values
        if kind.is_float:
            if isinstance(target, Variable) and self.scope.chance(0.3):
                most, fraction = VARIABLE_BOUND[kind.base]
                step = Assign(target, self.rng.choice(("+=", "-=")), values.value(kind, 2, uniform))
                back = values.reals.narrowed(kind, target, (2 * most, fraction))
                return [step, Assign(target, "=", back)]
            return [Assign(target, "=", values.value(kind, 3, uniform))]
        if kind.kind == "bool" or self.scope.chance(0.4):
            return [Assign(target, "=", values.value(kind, 3, uniform))]
        op = self.rng.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        if op in "/%":
            if kind.is_vector:
                return [Assign(target, op + "=", values.splat(kind, self.rng.randint(1, 9)))]
            return [Assign(target, op + "=", values.divisor(promote(kind), 2, uniform))]
        return [Assign(target, op + "=", values.value(kind, 2, uniform))]

    def _part_assign(self, local: Local) -> list[Statement]:
        """`v.x = …`, `v.zx = …` or `v[i] = …`."""
        variable, kind = local.variable, local.variable.type
        if self.scope.chance(0.4):
            index = self.values.vectors.component(kind, local.uniform)
            return self._update(Component(kind.element, variable, index), local.uniform)
        letters = self.rng.choice(("xyzw", "rgba"))[: kind.width]
        picked = "".join(self.rng.sample(letters, self.rng.randint(1, kind.width)))
        part = kind.vector(len(picked))
        value = self.values.value(part, 2, local.uniform)
        op = "=" if kind.is_float or self.scope.chance(0.6) else self.rng.choice(("+=", "^=", "*="))
        return [Assign(Swizzle(part, variable, picked), op, value)]

    def _array(self) -> list[Statement]:
        kind = self._type()
        size = self.rng.choice((2, 4, 4, 8, 16, 3, 6))
        values = tuple(self.values.value(kind, 1) for _ in range(size))
        name = self.scope.fresh("a")
        self.scope.arrays.append(PrivateArray(name, kind, size))
        return [DeclareArray(name, kind, values)]

    def _array_store(self, array: PrivateArray) -> list[Statement]:
        place = Load(array.type, array.name, self.values.index(array.size))
        return self._update(place, uniform=False)

    def _store(self) -> list[Statement]:
        outputs = [b for b in self.scope.buffers if b.space == "output" and not b.atomic]
        return self.store(self.rng.choice(outputs), slot=None)

    def store(self, buffer: Buffer, slot: int | None) -> list[Statement]:
        """Writes one of the thread's own slots of an output."""
        threads = self.scope.launch.threads
        slots = buffer.size // threads
        tid: Expr = Variable(UINT, "tid")
        if slot is None and slots in (2, 4) and not buffer.name.endswith("s"):
            wide = buffer.type.vector(slots)
            whole = CastLoad(wide, buffer.name, wide, tid, "")
            return [Assign(whole, "=", self.values.value(wide, 2))]
        slot = self.rng.randrange(slots) if slot is None else slot
        # One output interleaves the slots of a thread, another keeps them apart.
        if slots > 1 and buffer.name.endswith("s"):
            tid = Binary(UINT, "+", tid, Constant(UINT, slot * threads))
        elif slots > 1:
            scaled = Binary(UINT, "*", tid, Constant(UINT, slots))
            tid = Binary(UINT, "+", scaled, Constant(UINT, slot)) if slot else scaled
        return self._update(Load(buffer.type, buffer.name, tid), uniform=False)

    def _walk(self) -> list[Statement]:
        """A pointer that steps through a buffer or a private array."""
        scope, rng = self.scope, self.rng
        inputs = [(b.name, b.type, b.size) for b in scope.inputs()]
        arrays = [(a.name, a.type, a.size) for a in scope.arrays if not a.type.is_vector]
        places = [p for p in inputs + arrays if p[2] >= 8 and p[2] & (p[2] - 1) == 0]
        name, kind, size = rng.choice(places)
        half = size // 2  # it starts in the first half, so there is room for another

        def start(buffer: str) -> Load:
            return Load(kind, buffer, self.values.index(half))

        first, condition, second = start(name), None, None
        if scope.chance(0.3) and (name, kind, size) in inputs:
            twins = [p[0] for p in inputs if p[1:] == (kind, size)]
            condition, second = self.values.condition(1), start(rng.choice(twins))
        pointer, iterations, step = scope.fresh("p"), rng.randint(1, 4), rng.randint(1, 3)
        if half <= iterations * step:
            iterations = step = 1
        declaration = DeclarePointer(pointer, kind, first, condition, second)
        scope.pointers.append(PointerLocal(pointer, kind, half - iterations * step))
        counter = Variable(INT, scope.fresh("i"))
        limit: Expr = Constant(INT, iterations)
        if iterations in (1, 3) and scope.chance(0.6):
            limit = Binary(INT, "&", self.values.integer(INT, 1), limit)
        with scope.block(uniform=False, breaks="divergent", continues="divergent"):
            scope.locals.append(Local(counter, uniform=False, writable=False))
            body: Block = (Advance(pointer, Constant(INT, step)), *self.sequence(2))
        sums = [v for v in self.values.locals(kind, False) if kind.is_integer and self._writable(v)]
        if sums:
            load = PointerLoad(kind, pointer, Constant(INT, 0))
            body = (Assign(rng.choice(sums), "+=", load), *body)
        return [declaration, Loop("for", counter, Constant(INT, 0), limit, 1, None, body)]

    def _writable(self, variable: Variable) -> bool:
        return any(
            local.writable and not local.uniform
            for local in self.scope.locals
            if local.variable == variable
        )

    # ------------------------------------------------------------------------ control flow

    def _guard(self) -> tuple[Expr, bool]:
        """A condition, and whether all threads of the threadgroup agree on it."""
        uniform = self.scope.chance(0.3)
        return self.values.condition(2, uniform), uniform

    def _if(self) -> list[Statement]:
        condition, uniform = self._guard()
        stay = self.scope.flow.uniform and uniform
        with self.scope.block(uniform=stay):
            then = self.sequence(3)
        otherwise: Block = ()
        if self.scope.chance(0.45):
            with self.scope.block(uniform=stay):
                otherwise = self.sequence(3)
        return [If(condition, then, otherwise)] if then or otherwise else []

    def _exit(self) -> list[Statement]:
        """`if (condition) { …; break; }`, or continue, or return."""
        scope, flow = self.scope, self.scope.flow
        choices: list[tuple[str, bool]] = []
        for name, target in (("break", flow.breaks), ("continue", flow.continues)):
            if target == "divergent" or (target == "uniform" and flow.uniform):
                choices += [(name, target == "uniform")] * 2
        if scope.chance(0.5) or not choices:
            choices.append(("return", scope.chance(0.2)))
        name, uniform = self.rng.choice(choices)
        condition = self.values.condition(2, uniform)
        inside = bool(flow.breaks or flow.continues)
        with scope.block(
            uniform=flow.uniform and uniform, cross_lane=flow.cross_lane and not inside
        ):
            body = self.sequence(2) if scope.chance(0.4) else ()
            last: Statement = Break() if name == "break" else Continue()
            if name == "return":
                kind = flow.function
                last = Return(self.values.value(kind, 2) if kind is not None else None)
        return [If(condition, (*body, last))]

    def _loop(self) -> list[Statement]:
        scope, rng = self.scope, self.rng
        together = scope.flow.uniform and scope.chance(0.5)
        shapes: tuple[LoopKind, ...] = ("for", "for", "for", "while", "do", "forever")
        kind = rng.choice((INT, INT, UINT, UINT, UCHAR, LONG))
        counter = Variable(kind, scope.fresh("i"))
        start, limit, op, step = self._range(kind, together)
        condition = self.values.condition(1, together) if scope.chance(0.25) else None
        if scope.features.cross_lane and scope.flow.cross_lane and scope.chance(0.15):
            # A loop that its lanes leave together.
            start, limit, op, step = Constant(kind, 0), Constant(kind, rng.randint(1, 6)), "+=", 1
            name = rng.choice(("simd_any", "simd_all"))
            condition, together = CrossLane(BOOL, name, (self.values.condition(1),)), False
        leaving: Leaving = "uniform" if together else "divergent"
        with scope.block(uniform=together, breaks=leaving, continues=leaving):
            scope.locals.append(Local(counter, uniform=together, writable=False))
            body = self.sequence(3)
        return [Loop(rng.choice(shapes), counter, start, limit, step, condition, body, op)]

    def _range(self, kind: Type, together: bool) -> tuple[Expr, Expr, LoopOp, int]:
        """Start, limit and step of a loop of a few iterations."""
        scope, rng = self.scope, self.rng
        way = rng.random()
        if way < 0.15 and kind.kind == "int":
            return self._trip(kind, together), Constant(kind, rng.randint(-1, 1)), "-=", 1
        if way < 0.25:
            most = Constant(kind, rng.randint(3, 100))
            return Constant(kind, rng.randint(1, 3)), most, "<<=", rng.randint(1, 2)
        if way < 0.35:
            return self._trip(kind, together), Constant(kind, 0), ">>=", 1
        if way < 0.5 and kind == UINT and not together and scope.flow.function is None:
            first = Variable(UINT, rng.choice(("lane", "lid")))
            return first, Constant(UINT, rng.choice((32, 64, 70, 100))), "+=", 32
        start = Constant(kind, 0) if scope.chance(0.6) else self._trip(kind, together)
        return start, self._trip(kind, together), "+=", rng.choice((1, 1, 1, 2, 3))

    def _trip(self, kind: Type, uniform: bool) -> Expr:
        """A small count: a constant, or a value that only the run decides."""
        if self.scope.chance(0.3):
            return Constant(kind, self.rng.randint(1, 6))
        mask = self.rng.choice((3, 7))
        work = promote(kind)
        value = Binary(work, "&", self.values.value(work, 1, uniform), Constant(work, mask))
        return value if work == kind else Cast(kind, value)

    def _switch(self) -> list[Statement]:
        scope, rng = self.scope, self.rng
        uniform = scope.chance(0.3)
        count = rng.randint(2, 5)
        mask = 3 if count < 4 else 7
        raw = self.values.integer(INT, 2, uniform)
        labels = list(range(mask + 1))
        rng.shuffle(labels)
        falls = [scope.chance(0.25) for _ in range(count)]
        together = scope.flow.uniform and uniform
        cross = scope.flow.cross_lane and not any(falls)
        leaving: Leaving = "uniform" if together else "divergent"
        default = rng.randrange(count) if scope.chance(0.7) else -1
        arms = []
        for place in range(count):
            picked = tuple(labels.pop() for _ in range(rng.randint(1, 2)) if labels)
            if not picked and place != default:
                continue
            with scope.block(uniform=together, cross_lane=cross, breaks=leaving):
                body = self.sequence(2)
            tail: Block = () if falls[place] else (Break(),)
            arms.append(Arm(picked, place == default, (*body, *tail)))
        return [Switch(Binary(INT, "&", raw, Constant(INT, mask)), tuple(arms))] if arms else []

    # ------------------------------------------------------------- memory of several threads

    def _shared(self) -> list[Buffer]:
        return [
            buffer
            for buffer in self.scope.buffers
            if buffer.space == "threadgroup" and buffer.name not in self.scope.readable
        ]

    def _exchange(self) -> list[Statement]:
        """Every thread writes its slot; after a barrier all may read every slot."""
        scope = self.scope
        if scope.launch.grid[1:] == (1, 1) and scope.chance(0.2):
            return self._device_exchange()
        arrays = [buffer for buffer in self._shared() if not buffer.atomic]
        if not arrays:
            return self._declare()
        buffer = self.rng.choice(arrays)
        own = Load(buffer.type, buffer.name, _LID)
        write: Statement = Assign(own, "=", self.values.value(buffer.type, 2))
        if scope.chance(0.2):
            write = If(self.values.condition(1), (write,))
        barrier = Barrier(self.rng.choice(("mem_threadgroup", "mem_threadgroup", "mem_none")))
        if barrier.flags == "mem_none":
            barrier = Barrier("mem_device | mem_flags::mem_threadgroup")
        scope.readable.append(buffer.name)
        before = scope.flow
        # The middle must not jump over the second barrier.
        with scope.block(breaks="", continues="", depth=before.depth):
            middle: list[Statement] = []
            uniform = scope.chance(0.3)
            value = self.values.value(buffer.type, 1, uniform)
            if not uniform and not buffer.type.is_float:
                value = Load(buffer.type, buffer.name, self._neighbour())
            kept = Variable(buffer.type, scope.fresh("v"))
            scope.locals.append(Local(kept, uniform, writable=True))
            middle = [Declare(kept, value), *self.sequence(2)]
        scope.locals.append(Local(kept, uniform, writable=True))
        scope.readable.remove(buffer.name)
        return [write, barrier, *middle, Barrier()]

    def _device_exchange(self) -> list[Statement]:
        """The same through an output, between the threads of a threadgroup."""
        outputs = [b for b in self.scope.buffers if b.space == "output" and not b.atomic]
        buffer = self.rng.choice([b for b in outputs if b.size == self.scope.launch.threads])
        tid = Variable(UINT, "tid")
        write = Assign(Load(buffer.type, buffer.name, tid), "=", self.values.value(buffer.type, 2))
        there = Binary(UINT, "+", Binary(UINT, "-", tid, _LID), self._neighbour())
        barrier = Barrier("mem_device")
        read = self.declare(buffer.type, Load(buffer.type, buffer.name, there))
        return [write, barrier, read, barrier]

    def _neighbour(self) -> Expr:
        far = Binary(UINT, "+", _LID, Constant(UINT, self.rng.randint(1, 40)))
        return Binary(UINT, "%", far, _TGSIZE)

    def _reduction(self) -> list[Statement]:
        """A tree sum over the threadgroup, in halves, with a barrier in a uniform loop."""
        scope = self.scope
        arrays = [b for b in self._shared() if b.type in (INT, UINT) and not b.atomic]
        if not arrays:
            return self._exchange()
        buffer = self.rng.choice(arrays)
        kind = buffer.type
        own = Load(kind, buffer.name, _LID)
        counter, half = Variable(INT, scope.fresh("i")), Variable(UINT, scope.fresh("v"))
        top = (buffer.size - 1).bit_length()
        there = Binary(UINT, "+", _LID, half)
        inside = Binary(
            BOOL, "&&", Binary(BOOL, "<", _LID, half), Binary(BOOL, "<", there, _TGSIZE)
        )
        add = Assign(own, self.rng.choice(("+=", "^=")), Load(kind, buffer.name, there))
        body: Block = (
            Declare(half, Binary(UINT, ">>", Constant(UINT, 1 << top), counter)),
            If(inside, (add,)),
            Barrier(),
        )
        limit = Constant(INT, top + 1)
        write = Assign(own, "=", self.values.value(kind, 2))
        total = Variable(kind, scope.fresh("v"))
        scope.locals.append(Local(total, uniform=True, writable=True))
        return [
            write,
            Barrier(),
            Loop("for", counter, Constant(INT, 1), limit, 1, None, body),
            Declare(total, Load(kind, buffer.name, Constant(UINT, 0))),
            Barrier(),
        ]

    def _histogram(self) -> list[Statement]:
        """Threadgroup atomics until a barrier, then everyone may look."""
        scope = self.scope
        arrays = [b for b in self._shared() if b.atomic and b.name not in scope.open_atomics]
        if not arrays:
            return self._exchange()
        buffer = self.rng.choice(arrays)
        scope.open_atomics.append(buffer.name)
        with scope.block(breaks="", continues="", depth=scope.flow.depth):
            body = (*self.sequence(2), self._atomic_on(buffer))
        scope.open_atomics.remove(buffer.name)
        index = self.values.index(buffer.size)
        result = self.declare(buffer.type, AtomicLoad(buffer.type, buffer.name, index))
        return [*body, Barrier(), result, Barrier()]

    def _atomic(self) -> list[Statement]:
        targets = [b for b in self.scope.buffers if b.atomic and b.space == "output"]
        targets += [b for b in self.scope.buffers if b.name in self.scope.open_atomics]
        return [self._atomic_on(self.rng.choice(targets))] if targets else self._declare()

    def _atomic_on(self, buffer: Buffer) -> Statement:
        op = buffer.name.partition("_")[2]  # one operation a buffer, so that order is no matter
        index = self.values.index(buffer.size)
        if buffer.type == FLOAT:
            small = Binary(INT, "&", self.values.integer(INT, 1), Constant(INT, 15))
            return Atomic(op, buffer.name, index, Cast(FLOAT, small))
        return Atomic(op, buffer.name, index, self.values.integer(buffer.type, 2))
