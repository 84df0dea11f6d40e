"""Random well-defined expressions: indices, integers, conditions.

Floats, vectors and cross-lane functions have modules of their own, each a helper of `Values`.
"""

from __future__ import annotations

from functools import partial

from anymetal.testing.fuzz.lanes import CrossLanes
from anymetal.testing.fuzz.operands import Operands, Options
from anymetal.testing.fuzz.reals import Reals
from anymetal.testing.fuzz.scope import Scope
from anymetal.testing.fuzz.tree import (
    Attribute,
    Binary,
    Buffer,
    Call,
    Cast,
    CastLoad,
    Constant,
    Expr,
    FunctionCall,
    Load,
    PointerLoad,
    Ternary,
    Unary,
    Variable,
    foldable,
)
from anymetal.testing.fuzz.types import (
    BOOL,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    USHORT,
    Type,
    common,
    promote,
)
from anymetal.testing.fuzz.vectors import Vectors

UNIFORM_ATTRIBUTES = (
    ("threadgroup_position_in_grid", "xyz"),
    ("threads_per_threadgroup", "xyz"),
    ("dispatch_threads_per_threadgroup", "xyz"),
    ("threads_per_grid", "xyz"),
    ("threadgroups_per_grid", "xyz"),
    ("simdgroups_per_threadgroup", ""),
    ("quadgroups_per_threadgroup", ""),
    ("threads_per_simdgroup", ""),
)
VARYING_ATTRIBUTES = (
    ("thread_position_in_grid", "xyz"),
    ("thread_position_in_threadgroup", "xyz"),
    ("thread_index_in_threadgroup", ""),
    ("thread_index_in_simdgroup", ""),
    ("simdgroup_index_in_threadgroup", ""),
    ("thread_index_in_quadgroup", ""),
    ("quadgroup_index_in_threadgroup", ""),
)
RECORD_FIELDS = ("a", "b", "c", "d[0]", "d[1]")
RECORD_BYTES = 12


class Values(Operands):
    """Generates expressions of a wanted type from what is in scope."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.vectors = Vectors(self)
        self.lanes = CrossLanes(self)
        self.reals = Reals(self, self.vectors, self.lanes)

    # ------------------------------------------------------------------------------- helpers

    def value(self, kind: Type, depth: int, uniform: bool = False) -> Expr:
        """Any expression of this type; floats keep to the bound of variables."""
        if kind.is_float:
            return self.reals.narrowed(kind, *self.reals.make(kind, depth, uniform))
        if kind.is_vector:
            return self.vectors.make(kind, depth, uniform)
        make = self.condition if kind == BOOL else partial(self.integer, kind)
        return make(depth, uniform)

    def int_constant(self, kind: Type) -> Constant:
        """A literal, often one from the edge of the type."""
        low, high = kind.limits
        interesting = (0, 1, 2, 3, 5, 7, 31, 100, 255, high, low, high - 1, high // 3)
        number = self.choose(interesting) if self.scope.chance(0.6) else self.rng.randint(-9, 40)
        return Constant(kind, max(low, min(high, number)))

    def _attribute(self, uniform: bool) -> Expr:
        table = UNIFORM_ATTRIBUTES if uniform or self.scope.chance(0.3) else VARYING_ATTRIBUTES
        name, components = self.choose(table)
        return Attribute(UINT, name, self.choose(components) if components else "")

    # ------------------------------------------------------------------------------- indices

    def index(self, size: int, uniform: bool = False) -> Expr:
        """An index in range: consecutive lanes, strided, uniform or arbitrary."""
        threads = self.scope.launch.threads
        if size & (size - 1):  # only powers of two can be masked
            return self._resized(Binary(UINT, "%", self.integer(UINT, 1, uniform), uint(size)))
        tid = next((v for v in self.locals(UINT, uniform) if v.name == "tid"), None)
        if tid is not None and self.scope.chance(0.5):
            steps = [step for step in (1, 1, 2, 3, 4) if step * threads <= size]
            if steps:
                step = self.choose(steps)
                room = size - step * threads
                place: Expr = tid if step == 1 else Binary(UINT, "*", tid, uint(step))
                if room and self.scope.chance(0.4):
                    place = Binary(UINT, "+", place, uint(self.rng.randint(0, min(room, 9))))
                return self._resized(place)
        if self.scope.chance(0.2):
            return self._resized(uint(self.rng.randrange(size)))
        kind = self.choose((UINT, INT))
        mask = Constant(kind, size - 1)
        return self._resized(Binary(kind, "&", self.integer(kind, 1, uniform), mask))

    def _resized(self, index: Expr) -> Expr:
        """Sometimes an index of another width: the address arithmetic differs."""
        if self.scope.chance(0.15):
            return Cast(self.choose((ULONG, LONG, USHORT, INT)), index)
        return index

    def load(self, buffer: Buffer, uniform: bool) -> Expr:
        """An element of an input."""
        index = None if buffer.size == 0 else self.index(buffer.size, uniform)
        return Load(buffer.type, buffer.name, index)

    def memory_leaves(self, kind: Type, uniform: bool) -> Options:
        """Loads of a scalar type from everything that is readable here."""
        scope, options = self.scope, Options()
        if scope.flow.function is not None:
            return options
        inputs = scope.inputs(kind)
        if inputs:
            options.append((6, lambda: self.load(self.choose(inputs), uniform)))
        shared = [name for name in scope.readable if scope.buffer(name).type == kind]
        if shared:
            options.append((8, lambda: self._threadgroup_load(self.choose(shared), uniform)))
        if uniform:
            return options
        arrays = [array for array in scope.arrays if array.type == kind]
        if arrays:
            options.append((5, lambda: self._array_load(kind, self.choose(arrays).name)))
        pointers = [pointer for pointer in scope.pointers if pointer.type == kind]
        if pointers:
            options.append((6, lambda: self._pointer_load(kind)))
        if scope.features.casts and scope.inputs(INT):
            options.append((2, lambda: self._record_load(kind)))
        return options

    def _threadgroup_load(self, name: str, uniform: bool) -> Expr:
        buffer = self.scope.buffer(name)
        lid, size = Variable(UINT, "lid"), Variable(UINT, "tgsize")
        one, step = uint(1), uint(self.rng.randint(1, 33))
        places: list[Expr] = [Binary(UINT, "%", self.integer(UINT, 1, uniform), size)]
        if not uniform:
            places += [
                lid,
                Binary(UINT, "%", Binary(UINT, "+", lid, step), size),
                Binary(UINT, "-", Binary(UINT, "-", size, one), lid),
            ]
        return Load(buffer.type, name, self.choose(places))

    def _array_load(self, kind: Type, name: str) -> Expr:
        array = next(a for a in self.scope.arrays if a.name == name)
        return Load(kind, name, self.index(array.size))

    def _pointer_load(self, kind: Type) -> Expr:
        pointer = self.choose([p for p in self.scope.pointers if p.type == kind])
        offset: Expr = Constant(INT, self.rng.randint(0, min(pointer.room, 3)))
        return PointerLoad(kind, pointer.name, offset)

    def _record_load(self, kind: Type) -> Expr:
        buffer = self.choose(self.scope.inputs(INT))
        types = {"a": INT, "c": Type("short", "int", 16), "d": Type("uchar", "uint", 8)}
        fields = [f for f in RECORD_FIELDS if types.get(f[0]) == kind]
        records = buffer.size * 4 // RECORD_BYTES
        if not fields or records == 0:
            return self.load(buffer, False) if kind == INT else self.value(kind, 0)
        return CastLoad(kind, buffer.name, None, self.index(records), self.choose(fields))

    # ------------------------------------------------------------------------------ integers

    def integer(self, kind: Type, depth: int, uniform: bool = False) -> Expr:
        """A scalar of an integer type."""
        options: Options = [(4, lambda: self.int_constant(kind))]
        names = self.locals(kind, uniform)
        if names:
            options.append((14, lambda: self.choose(names)))
        if kind == UINT and self.scope.flow.function is None:
            options.append((5, lambda: self._attribute(uniform)))
        options += self.memory_leaves(kind, uniform)
        if depth > 0:
            options += self._integer_operations(kind, depth - 1, uniform)
        return self.pick(options)

    def _integer_operations(self, kind: Type, depth: int, uniform: bool) -> Options:
        scope = self.scope
        options: Options = [
            (14, lambda: self._arithmetic(kind, depth, uniform)),
            (4, lambda: self._shift(kind, depth, uniform)),
            (3, lambda: self._quotient(kind, depth, uniform)),
            (3, lambda: self._unary(kind, depth, uniform)),
            (5, lambda: self.integer_function(kind, depth, uniform)),
            (6, lambda: self._integer_cast(kind, depth, uniform)),
            (5, lambda: self.ternary(kind, depth, uniform)),
        ]
        if scope.features.vectors and kind.bits <= 32:
            options.append((4, lambda: self.vectors.part(kind, depth, uniform)))
        if scope.features.specials and scope.flow.function is None:
            options.append((3, lambda: self._special_cast(kind, uniform)))
        if kind.bits <= 32 and not uniform:
            options += self.lanes.options(kind, depth)
        options += self._calls(kind, depth, uniform)
        return options

    def _partner(self, kind: Type) -> Type:
        """Another type that combines with `kind` to `kind`."""
        integers = [t for t in self.scope.features.types if t.is_integer]
        fitting = [t for t in integers if common(kind, t) == kind]
        return self.choose(fitting) if fitting and self.scope.chance(0.3) else kind

    def _arithmetic(self, kind: Type, depth: int, uniform: bool) -> Expr:
        work, op = promote(kind), self.choose("++--**&|^")
        if work != kind:
            operands = [self.integer(kind, depth, uniform) for _ in range(2)]
            return Cast(kind, Binary(work, op, operands[0], operands[1]))
        left = self.integer(kind, depth, uniform)
        right = self.value(self._partner(kind), depth, uniform)
        if self.scope.chance(0.3):
            left, right = right, left
        return Binary(kind, op, left, right)

    def _shift(self, kind: Type, depth: int, uniform: bool) -> Expr:
        work, op = promote(kind), self.choose(("<<", ">>"))
        left = self.integer(kind, depth, uniform)
        if foldable(left):  # Clang would fold too large a shift before Metal's rule applies
            count: Expr = Constant(INT, self.rng.randrange(work.bits))
        elif self.scope.chance(0.5):
            count = Constant(INT, self.rng.randint(0, work.bits + 9))
        else:
            count = self.integer(self.choose((INT, UINT)), depth, uniform)
        result = Binary(work, op, left, count)
        return result if work == kind else Cast(kind, result)

    def _quotient(self, kind: Type, depth: int, uniform: bool) -> Expr:
        work, op = promote(kind), self.choose("/%")
        left = self.integer(work, depth, uniform)
        right = self.divisor(work, depth, uniform or self.scope.chance(0.4))
        result = Binary(work, op, left, right)
        if work != kind:
            return Cast(kind, result)
        if self.scope.chance(0.3):  # a divisor that is 0 in lanes that do not divide
            raw = self.choose(self.locals(kind, uniform) or [None])
            if raw is not None:
                # 0 and, for signed types, -1 are the two that do not divide.
                unsigned = Type(ULONG.base if kind.bits == 64 else UINT.base, "uint", kind.bits)
                moved = Binary(unsigned, "+", Cast(unsigned, raw), Constant(unsigned, 1))
                safe = Binary(BOOL, ">", moved, Constant(unsigned, 1))
                return Ternary(kind, safe, Binary(kind, op, left, raw), self.int_constant(kind))
        return result

    def divisor(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A divisor that is neither 0 nor -1."""
        if self.scope.chance(0.3):
            return Constant(kind, self.choose((1, 2, 3, 5, 7, 8, 10, 17, 64, 100)))
        some = self.integer(kind, depth, uniform)
        one = Constant(kind, 1)
        if kind.kind == "uint":
            return Binary(kind, "|", some, one)
        small = Binary(kind, "&", some, Constant(kind, self.choose((63, 1023, kind.limits[1]))))
        positive = Binary(kind, "|", small, one)
        if self.scope.chance(0.3):
            return Binary(kind, "-", Constant(kind, -2), small)
        return positive

    def _unary(self, kind: Type, depth: int, uniform: bool) -> Expr:
        work = promote(kind)
        result = Unary(work, self.choose(("-", "~")), self.integer(kind, depth, uniform))
        return result if work == kind else Cast(kind, result)

    def integer_function(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A function of <metal_integer> on scalars or vectors of any integer type."""

        def operand() -> Expr:
            return self.value(kind, depth, uniform)

        names = ["min", "max", "clamp", "popcount", "clz", "ctz", "reverse_bits", "rotate", "abs"]
        names += ["select"]
        if kind.bits <= 32:
            names += ["hadd", "rhadd", "addsat", "subsat", "mulhi", "absdiff", "extract_bits"]
        if kind.is_vector:
            names = [name for name in names if name != "extract_bits"]
        name = self.choose(names)
        if name in ("popcount", "clz", "ctz", "reverse_bits"):
            return Call(kind, name, (operand(),))
        if name == "abs":
            work = kind if kind.is_vector else promote(kind)
            odd = Binary(work, "|", operand(), self.splat(kind, 1))
            exact = odd if odd.type == kind else Cast(kind, odd)
            return Call(kind, name, (exact,))
        if name == "clamp":
            low, high = sorted((self.rng.randint(0, 60), self.rng.randint(0, 100)))
            bounds = (self.splat(kind, low), self.splat(kind, high))
            return Call(kind, name, (operand(), *bounds))
        if name == "select":
            return Call(kind, name, (operand(), operand(), self.mask(kind, depth, uniform)))
        if name == "absdiff":
            unsigned = Type(("" if kind.kind == "uint" else "u") + kind.base, "uint", kind.bits)
            result = Call(unsigned.vector(kind.width), name, (operand(), operand()))
            return result if result.type == kind else Cast(kind, result)
        if name == "extract_bits":
            offset = self.rng.randrange(kind.bits)
            count = self.rng.randint(1, kind.bits - offset)
            return Call(kind, name, (operand(), uint(offset), uint(count)))
        return Call(kind, name, (operand(), operand()))

    def _integer_cast(self, kind: Type, depth: int, uniform: bool) -> Expr:
        source = self.choose((*self.scope.features.types, BOOL))
        if source.is_float:
            expression, _ = self.reals.make(source, depth, uniform)
            if foldable(expression):
                return self.int_constant(kind)
            if kind == INT and source == FLOAT and self.scope.chance(0.3):
                # fabs clears the sign of a zero, which is nobody's promise.
                return Call(kind, "as_type", (Call(FLOAT, "fabs", (expression,)),))
            return Cast(kind, expression)
        if source.is_integer and source.bits == kind.bits and source != kind:
            if self.scope.chance(0.3):
                return Call(kind, "as_type", (self.integer(source, depth, uniform),))
        return Cast(kind, self.value(source, depth, uniform))

    def _special_cast(self, kind: Type, uniform: bool) -> Expr:
        """Float to integer where only saturation and NaN -> 0 give an answer."""
        special = self.scope.buffer("special")
        return Cast(kind, Load(FLOAT, special.name, self.index(special.size, uniform)))

    def ternary(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """`condition ? yes : no`, of which each lane evaluates one."""
        condition = self.condition(depth, uniform)
        yes, no = self.value(kind, depth, uniform), self.value(kind, depth, uniform)
        return Ternary(kind, condition, yes, no)

    def _calls(self, kind: Type, depth: int, uniform: bool) -> Options:
        functions = [f for f in self.scope.functions if f.result == kind]
        if not functions or self.scope.flow.function is not None:
            return []

        def call() -> Expr:
            function = self.choose(functions)
            arguments = [self.value(p.type, depth, uniform) for p in function.parameters]
            return FunctionCall(kind, function.name, tuple(arguments))

        return [(8, call)]

    # ---------------------------------------------------------------------------- conditions

    def condition(self, depth: int, uniform: bool = False) -> Expr:
        """A bool."""
        options: Options = [(6, lambda: self._comparison(max(depth, 1) - 1, uniform))]
        names = self.locals(BOOL, uniform)
        if names:
            options.append((4, lambda: self.choose(names)))
        options += self.memory_leaves(BOOL, uniform)
        if depth > 0:
            options += [
                (2, lambda: self._logic(depth - 1, uniform)),
                (1, lambda: Unary(BOOL, "!", self.condition(depth - 1, uniform))),
            ]
            if self.scope.features.specials and self.scope.flow.function is None:
                options.append((1, lambda: self._special_test(uniform)))
            if self.scope.features.vectors:
                options.append((1, lambda: self._vector_test(depth - 1, uniform)))
            if self.lanes.options(INT, 0) and not uniform:
                options.append((2, lambda: self.lanes.vote(depth - 1)))
        return self.pick(options)

    def _comparison(self, depth: int, uniform: bool) -> Expr:
        op = self.choose(("==", "!=", "<", "<=", ">", ">="))
        kind = self.choose(self.scope.features.types)
        left = self.value(kind, depth, uniform)
        if kind.is_integer and self.scope.chance(0.4):  # a likely outcome both ways
            bits = Constant(kind, self.choose((1, 3, 7, 15)))
            left = Binary(promote(kind), "&", left, bits)
            return Binary(BOOL, op, left, Constant(left.type, self.rng.randint(0, int(bits.value))))
        return Binary(BOOL, op, left, self.value(kind, depth, uniform))

    def _logic(self, depth: int, uniform: bool) -> Expr:
        left, right = self.condition(depth, uniform), self.condition(depth, uniform)
        return Binary(BOOL, self.choose(("&&", "||")), left, right)

    def _special_test(self, uniform: bool) -> Expr:
        special = self.scope.buffer("special")
        value = Load(FLOAT, special.name, self.index(special.size, uniform))
        if self.scope.chance(0.5):
            return Call(BOOL, self.choose(("isnan", "isinf", "isfinite")), (value,))
        other = Load(FLOAT, special.name, self.index(special.size, uniform))
        return Binary(BOOL, self.choose(("==", "!=", "<", "<=", ">", ">=")), value, other)

    def _vector_test(self, depth: int, uniform: bool) -> Expr:
        kind = self.vectors.any_type()
        return Call(BOOL, self.choose(("any", "all")), (self.mask(kind, depth, uniform),))

    def mask(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A bool for each component of `kind`."""
        if not kind.is_vector:
            return self.condition(depth, uniform)
        sides = [self.value(kind, depth, uniform) for _ in range(2)]
        op = self.choose(("==", "!=", "<", "<=", ">", ">="))
        return Binary(BOOL.vector(kind.width), op, sides[0], sides[1])


def uint(number: int) -> Constant:
    """An unsigned literal."""
    return Constant(UINT, number)
