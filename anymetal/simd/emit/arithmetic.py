"""Instructions that compute: arithmetic, comparisons, casts, selections and elementwise calls.

Each is emitted in the forms that its shape asks for (simd/code/values.py). What Metal defines and
LLVM leaves undefined, or cannot do in SIMD, is settled here: division of integers, arithmetic of
half and bfloat where the processor has none, subnormal arguments of mathematical functions.
"""

from __future__ import annotations

import re

from anymetal.analysis.effects import DIVISIONS
from anymetal.emission import narrow_floats
from anymetal.emission.writer import suffix
from anymetal.ir import types as t
from anymetal.ir.calls import NATIVE, libm_name, name_of_intrinsic
from anymetal.ir.model import Const, Instr, Value
from anymetal.simd.code.deinterleave import in_chunks
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.values import VECTOR
from anymetal.simd.emit import wide_division
from anymetal.simd.emit.extremes import CHOICES, LANES, extreme
from anymetal.simd.emit.saturation import saturated
from anymetal.simd.emit.vecmath import vector_symbol

#: Operands of LLVM intrinsics that stay scalar.
_IMMEDIATES = {"ctlz": (1,), "cttz": (1,), "abs": (1,), "is.fpclass": (1,), "powi": (1,)}


class Arithmetic(GangEmitter):
    """Emits one computing instruction at a time."""

    def emit(self, instr: Instr) -> None:
        shape = self.v.shape(instr)
        scalar = vector = ""
        if not shape.is_varying:
            scalar = self._scalar(instr)
        if VECTOR in self.v.forms(instr):
            vector = self._vector(instr)
        self.v.define(instr, scalar, vector)

    def of_lanes(self, instr: Instr, operands: list[str]) -> str:
        """What the instruction makes of other vectors than those of its operands."""
        types = [self.w.vector(v.type) for v in instr.operands]
        return self._form(instr, operands, types, self.w.vector(instr.type), self.w.width)

    # -- scalar and vector forms ----------------------------------------------------------

    def _scalar(self, instr: Instr) -> str:
        names = [self.v.scalar(v) for v in instr.operands]
        strided = any(self.v.shape(v).is_strided for v in instr.operands)
        if instr.op == "zext" and strided:
            return self._extended_base(instr, names[0])
        if instr.op == "gep":
            return self._gep_scalar(instr, names)
        types = [str(v.type) for v in instr.operands]
        return self._form(_of_base(instr) if strided else instr, names, types, str(instr.type), 0)

    def _vector(self, instr: Instr) -> str:
        if instr.op == "gep":
            return self._gep_vector(instr)
        operands = [self.v.vector(v) for v in instr.operands]
        types = [self.w.vector(v.type) for v in instr.operands]
        if instr.op == "select" and self.v.shape(instr.operands[0]).is_uniform:
            operands[0], types[0] = self.v.scalar(instr.operands[0]), "i1"
            if instr.type == t.I1 and self.masks.in_bytes:  # LLVM makes a jump of it
                sides = [self.masks.kept(mask) for mask in operands[1:]]
                names, kinds = [operands[0], *sides], ["i1", *[self.masks.kept_type] * 2]
                kept = self._form(instr, names, kinds, self.masks.kept_type, self.w.width)
                return self.masks.taken(kept)
        if instr.op == "xor":
            operands = self._negated_for_all(instr) or operands
        return self._form(instr, operands, types, self.w.vector(instr.type), self.w.width)

    def _negated_for_all(self, instr: Instr) -> list[str] | None:
        """Operands of u ^ sext(!c), with a uniform u, as ~u ^ sext(c): this negates one scalar and
        saves a second comparison if c is computed, too (`set ? votes : ~votes`)."""
        for word, spread in (instr.operands, instr.operands[::-1]):
            condition = _negated(spread)
            if condition and self.v.shape(word).is_uniform and self.v.at_hand(condition):
                type_ = instr.type
                scalar = self.w.value(f"xor {type_} {self.v.scalar(word)}, -1")
                bits = f"{self.w.vector(t.I1)} {self.v.vector(condition)}"
                wide = self.w.value(f"sext {bits} to {self.w.vector(type_)}")
                return [self.w.splat(type_, scalar), wide]
        return None

    def _form(
        self, instr: Instr, names: list[str], types: list[str], result: str, width: int
    ) -> str:
        """An instruction on scalars (width 0) or on vectors of `width` lanes."""
        op, flags = instr.op, instr.flags + " " if instr.flags else ""
        if op == "call":
            return self._call(instr, names, width)
        if op in DIVISIONS:
            return self._division(instr, names, width)
        if op not in _MOVES and self._through_float(instr):
            return self._narrow(instr, names, width)
        if op in ("icmp", "fcmp"):
            return self.w.value(f"{op} {flags}{instr.arg} {types[0]} {names[0]}, {names[1]}")
        if op == "select":
            pairs = ", ".join(f"{ty} {n}" for ty, n in zip(types, names, strict=True))
            return self.w.value(f"select {flags}{pairs}")
        if op in ("fneg", "freeze"):
            return self.w.value(f"{op} {flags}{types[0]} {names[0]}")
        if op == "extractvalue":
            return self.w.value(f"extractvalue {types[0]} {names[0]}, {instr.arg}")
        if op in ("fptosi", "fptoui"):
            return self._saturate(op, instr, names[0], width)
        if len(names) == 1:  # casts
            return self.w.value(f"{op} {flags}{types[0]} {names[0]} to {result}")
        return self.w.value(f"{op} {flags}{result} {names[0]}, {names[1]}")

    def _saturate(self, op: str, instr: Instr, name: str, width: int) -> str:
        source = instr.operands[0].type
        if width and isinstance(instr.type, t.Int) and instr.type.bits <= 32:
            if source == t.HALF:  # LLVM gets NaN wrong where the processor computes in half
                source, name = t.FLOAT, self._to_float(source, name, width)
            if source == t.FLOAT:
                return saturated(self.w, op == "fptosi", instr.type, name)
        callee = f"llvm.{op}.sat.{suffix(instr.type, width)}.{suffix(source, width)}"
        return self.w.call(
            self._type(instr.type, width), callee, [(self._type(source, width), name)]
        )

    def _type(self, type_: t.Type, width: int) -> str:
        return self.w.vector(type_) if width else str(type_)

    def _constant(self, type_: t.Type, text: str, width: int) -> str:
        return self.w.splat_constant(type_, text) if width else text

    # -- addresses and indices ------------------------------------------------------------

    def _extended_base(self, instr: Instr, base: str) -> str:
        """The base of a zero-extended index that may wrap between two lanes.

        No array has an element at an index just below 2^bits, so the lanes behind the wrap are the
        valid ones: the run starts below zero.
        """
        narrow, wide = instr.operands[0].type, instr.type
        assert isinstance(narrow, t.Int)
        shape = self.v.shape(instr)
        if "nneg" in instr.flags and shape.stride > 0:  # below zero in inactive lanes at most
            return self.w.value(f"sext {narrow} {base} to {wide}")
        extended = self.w.value(f"zext {narrow} {base} to {wide}")
        if shape.exact or shape.stride < 0:
            return extended
        last = self.w.value(f"add {narrow} {base}, {(self.w.width - 1) * shape.stride}")
        wraps = self.w.value(f"icmp ult {narrow} {last}, {base}")
        step = self.w.value(f"select i1 {wraps}, {wide} {-(1 << narrow.bits)}, {wide} 0")
        return self.w.value(f"add {wide} {extended}, {step}")

    def _gep_scalar(self, instr: Instr, names: list[str]) -> str:
        result = names[0]
        for name, value, scale in zip(names[1:], instr.operands[1:], instr.arg[:-1], strict=True):
            result = self.w.value(
                f"getelementptr {_unit(scale)}, ptr {result}, {value.type} {name}"
            )
        if instr.arg[-1]:
            result = self.w.value(f"getelementptr i8, ptr {result}, i64 {instr.arg[-1]}")
        return result

    def _gep_vector(self, instr: Instr) -> str:
        """Adds uniform parts first, so that a gather finds one scalar base and one index."""
        base, indices = instr.operands[0], instr.operands[1:]
        pairs = list(zip(indices, instr.arg[:-1], strict=True))
        uniform = [(v, s) for v, s in pairs if self.v.shape(v).is_uniform]
        varying = [(v, s) for v, s in pairs if not self.v.shape(v).is_uniform]
        scalar = self.v.shape(base).is_uniform
        type_, name = (
            ("ptr", self.v.scalar(base)) if scalar else (self.w.vector(t.PTR), self.v.vector(base))
        )
        for value, scale in uniform:
            index = self.v.scalar(value)
            name = self.w.value(
                f"getelementptr {_unit(scale)}, {type_} {name}, {value.type} {index}"
            )
        if instr.arg[-1]:
            name = self.w.value(f"getelementptr i8, {type_} {name}, i64 {instr.arg[-1]}")
        for value, scale in varying:
            index = f"{self.w.vector(value.type)} {self.v.vector(value)}"
            name = self.w.value(f"getelementptr {_unit(scale)}, {type_} {name}, {index}")
            type_ = self.w.vector(t.PTR)
        return name if type_ != "ptr" else self.w.splat(t.PTR, name)

    # -- integer division -----------------------------------------------------------------

    def _division(self, instr: Instr, names: list[str], width: int) -> str:
        """Division that never traps, not even in lanes, or in a whole gang, that are not active.

        The front end has replaced zero divisors, but where a condition excludes them LLVM has taken
        that out again, and blocks run without active lanes, too. MIN / -1 is handled here. Where
        64 bits do not become double in SIMD, LLVM divides lane by lane.
        """
        op, type_, divisor = instr.op, instr.type, names[1]
        assert isinstance(type_, t.Int)
        if isinstance(instr.operands[1], Const):
            return self.w.value(f"{op} {self._type(type_, width)} {names[0]}, {divisor}")
        if width and type_.bits <= 32:
            return self._division_by_double(instr, names)
        if width and self.machine.converts_longs:
            return self._division_of_longs(instr, names)
        vector, boolean = self._type(type_, width), self._type(t.I1, width)
        one, zero = self._constant(type_, "1", width), "zeroinitializer" if width else "0"
        divisor = self.w.value(f"freeze {vector} {divisor}")
        none = self.w.value(f"icmp eq {vector} {divisor}, {zero}")
        divisor = self.w.value(f"select {boolean} {none}, {vector} {one}, {vector} {divisor}")
        if op[0] == "u":
            return self.w.value(f"{op} {vector} {names[0]}, {divisor}")
        ones = self._constant(type_, "-1", width)
        minus = self.w.value(f"icmp eq {vector} {divisor}, {ones}")
        safe = self.w.value(f"select {boolean} {minus}, {vector} {one}, {vector} {divisor}")
        result = self.w.value(f"{op} {vector} {names[0]}, {safe}")
        if op == "srem":
            return result
        negated = self.w.value(f"sub {vector} {zero}, {names[0]}")
        return self.w.value(f"select {boolean} {minus}, {vector} {negated}, {vector} {result}")

    def _division_by_double(self, instr: Instr, names: list[str]) -> str:
        """Exact quotients of integers up to 32 bits by way of double.

        For |a|, b < 2^32 the quotient in double, truncated, is exact: a / b is at least 1 / b away
        from the next integer, much more than the rounding error. For a uniform divisor one
        reciprocal, rounded up, serves all lanes: (a / b)(1 + 2^-51) still truncates to the
        quotient, as (quotient + 1) * b * 2^-51 < 1.
        """
        op, type_ = instr.op, instr.type
        signed = op[0] == "s"
        vector, doubles = self.w.vector(type_), self.w.vector(t.DOUBLE)
        convert = "sitofp" if signed else "uitofp"
        a = self.w.value(f"{convert} {vector} {names[0]} to {doubles}")
        divisor = instr.operands[1]
        if self.v.shape(divisor).is_uniform:
            scalar = self.w.value(f"{convert} {type_} {self.v.scalar(divisor)} to double")
            one = self.w.value(f"fdiv double 1.0, {scalar}")
            up = self.w.value(f"fmul double {one}, 0x3FF0000000000002")
            ratio = self.w.value(f"fmul {doubles} {a}, {self.w.splat(t.DOUBLE, up)}")
        else:
            b = self.w.value(f"{convert} {vector} {names[1]} to {doubles}")
            ratio = self.w.value(f"fdiv {doubles} {a}, {b}")
        # MIN / -1 does not fit. Metal lets the result be any value, which freeze makes it.
        truncated = self.w.value(
            f"{'fptosi' if signed else 'fptoui'} {doubles} {ratio} to {vector}"
        )
        quotient = self.w.value(f"freeze {vector} {truncated}")
        if op in ("udiv", "sdiv"):
            return quotient
        product = self.w.value(f"mul {vector} {quotient}, {names[1]}")
        return self.w.value(f"sub {vector} {names[0]}, {product}")

    def _division_of_longs(self, instr: Instr, names: list[str]) -> str:
        divisor, signed = instr.operands[1], instr.op[0] == "s"
        if self.v.shape(divisor).is_uniform:
            by = wide_division.uniform(self.w, signed, self.v.scalar(divisor))
        else:
            by = wide_division.varying(self.w, signed, names[1])
        return wide_division.divided(self.w, instr.op, names[0], by)

    # -- half and bfloat --------------------------------------------------------------------

    def _through_float(self, instr: Instr) -> bool:
        """Whether the instruction has a narrow type that we compute in float, not LLVM."""
        types = {instr.type, *(v.type for v in instr.operands)}
        return t.BFLOAT in types or (t.HALF in types and not self.machine.converts(t.HALF))

    def _lane_by_lane_in_half(self, instr: Instr, width: int) -> bool:
        """Whether LLVM would compute it lane by lane."""
        narrow = width and instr.type == t.HALF and not self.machine.computes_in_half
        return bool(narrow) and name_of_intrinsic(instr.arg) in _NOT_IN_HALF

    def _narrow(self, instr: Instr, names: list[str], width: int) -> str:
        """Arithmetic in float, rounded after each operation."""
        operands = [
            self._to_float(v.type, n, width) if v.type in t.NARROW else n
            for v, n in zip(instr.operands, names, strict=True)
        ]
        floats = self._type(t.FLOAT, width)
        if instr.op == "call" and name_of_intrinsic(instr.arg) in _NOT_IN_HALF:
            fence = f"llvm.arithmetic.fence.{suffix(t.FLOAT, width)}"  # or LLVM narrows it again
            operands = [self.w.call(floats, fence, [(floats, name)]) for name in operands]
        if instr.op == "fpext":
            if instr.type == t.FLOAT:
                return operands[0]
            return self.w.value(f"fpext {floats} {operands[0]} to {self._type(instr.type, width)}")
        if instr.op == "fptrunc":
            if instr.operands[0].type != t.FLOAT:
                source = self._type(instr.operands[0].type, width)
                operands[0] = self.w.value(f"fptrunc {source} {operands[0]} to {floats}")
            return self._from_float(instr.type, operands[0], width)
        result_type = t.FLOAT if instr.type in t.NARROW else instr.type
        callee = _NARROW_SUFFIX.sub(".f32", instr.arg) if instr.op == "call" else instr.arg
        sources: list[Value] = [Value(t.FLOAT) if v.type in t.NARROW else v for v in instr.operands]
        twin = Instr(result_type, instr.op, sources, callee, instr.flags)
        types = [self._type(v.type, width) for v in sources]
        result = self._form(twin, operands, types, self._type(result_type, width), width)
        return self._from_float(instr.type, result, width) if instr.type in t.NARROW else result

    def _to_float(self, type_: t.Type, name: str, width: int) -> str:
        if type_ == t.HALF and self.machine.converts(t.HALF):
            return self.w.value(
                f"fpext {self._type(type_, width)} {name} to {self._type(t.FLOAT, width)}"
            )
        return narrow_floats.to_float(narrow_floats.Bits(self.w, width), type_, name)

    def _from_float(self, type_: t.Type, name: str, width: int) -> str:
        if self.machine.converts(type_) and (width or type_ == t.HALF):
            return self.w.value(
                f"fptrunc {self._type(t.FLOAT, width)} {name} to {self._type(type_, width)}"
            )
        return narrow_floats.from_float(narrow_floats.Bits(self.w, width), type_, name)

    # -- calls ----------------------------------------------------------------------------

    def _call(self, instr: Instr, names: list[str], width: int) -> str:
        callee: str = instr.arg
        base = name_of_intrinsic(callee)
        if callee.startswith("llvm."):
            if self._through_float(instr) or self._lane_by_lane_in_half(instr, width):
                return self._narrow(instr, names, width)
            if base in ("fptosi.sat", "fptoui.sat"):
                return self._saturate(base.removesuffix(".sat"), instr, names[0], width)
            if base in NATIVE:
                return self._intrinsic(instr, base, names, width)
        names = [
            self._without_subnormals(v, n, width)
            for v, n in zip(instr.operands, names, strict=True)
        ]
        if width:
            return self._vector_math(instr, names)
        if callee.startswith("llvm."):
            return self._intrinsic(instr, base, names, width)
        types = [str(v.type) for v in instr.operands]
        return self.w.call(
            str(instr.type), callee, list(zip(types, names, strict=True)), call_flags(instr)
        )

    def _without_subnormals(self, value: Value, name: str, width: int) -> str:
        """An argument of a libm function, with subnormals flushed to zero as in arithmetic.

        These functions read the bits of a subnormal, then scale it by a multiplication, which
        flushes it: log would give the logarithm of another number.
        """
        if value.type != t.FLOAT:
            return name
        callee = f"llvm.canonicalize.{suffix(t.FLOAT, width)}"
        floats = self._type(t.FLOAT, width)
        return self.w.call(floats, callee, [(floats, name)])

    def _intrinsic(self, instr: Instr, base: str, names: list[str], width: int) -> str:
        immediates = _IMMEDIATES.get(base, ())
        args = []
        for i, (value, name) in enumerate(zip(instr.operands, names, strict=True)):
            immediate = width and i in immediates
            args.append(
                (str(value.type), self.v.scalar(value))
                if immediate
                else (self._type(value.type, width), name)
            )
        if width and base in CHOICES and instr.type == t.FLOAT and self.machine.chooses:
            return in_chunks(self.w, names, LANES, lambda parts: extreme(self.w, base, *parts))
        callee = instr.arg
        if width:
            found = re.findall(r"\.(f16|bf16|f32|f64|i\d+|p0)", instr.arg)
            callee = f"llvm.{base}" + "".join(f".v{width}{s}" for s in found)
        return self.w.call(self._type(instr.type, width), callee, args, call_flags(instr))

    def _vector_math(self, instr: Instr, names: list[str]) -> str:
        """A libm function: in chunks by the vector library, else lane by lane."""
        found = self._vector_version(instr)
        if found is None:
            return self._lane_by_lane(instr, names)
        symbol, step = found
        chunk, attributes = f"<{step} x float>", "nounwind memory(none)"

        def one(parts: list[str]) -> str:
            return self.w.call(chunk, symbol, [(chunk, p) for p in parts], attributes=attributes)

        return in_chunks(self.w, names, step, one)

    def _vector_version(self, instr: Instr) -> tuple[str, int] | None:
        """The vector version of a libm function: symbol and lanes."""
        function = libm_name(instr.arg)
        if function is None or instr.type != t.FLOAT:
            return None
        found = vector_symbol(self.machine, function)
        return found if found and found[1] <= self.w.width else None

    def runs_lane_by_lane(self, instr: Instr) -> bool:
        """Whether a mathematical function is called once for each lane."""
        base = name_of_intrinsic(instr.arg)
        if base in NATIVE or base.startswith("__am_") or self._through_float(instr):
            return False
        return self.v.shape(instr).is_varying and self._vector_version(instr) is None

    def _lane_by_lane(self, instr: Instr, names: list[str]) -> str:
        """A pure function without vector version, called once for each lane."""
        result, vector = "poison", self.w.vector(instr.type)
        if isinstance(instr.type, t.Struct):
            return self._lane_by_lane_struct(instr, names)
        for lane in range(self.w.width):
            one = self._one_lane(instr, names, lane)
            result = self.w.value(
                f"insertelement {vector} {result}, {instr.type} {one}, i64 {lane}"
            )
        return result

    def _lane_by_lane_struct(self, instr: Instr, names: list[str]) -> str:
        assert isinstance(instr.type, t.Struct)
        columns = ["poison"] * len(instr.type.fields)
        for lane in range(self.w.width):
            one = self._one_lane(instr, names, lane)
            for i, field in enumerate(instr.type.fields):
                part = self.w.value(f"extractvalue {instr.type} {one}, {i}")
                columns[i] = self.w.value(
                    f"insertelement {self.w.vector(field)} {columns[i]}, {field} {part}, i64 {lane}"
                )
        result, whole = "poison", self.w.vector(instr.type)
        for i, field in enumerate(instr.type.fields):
            result = self.w.value(
                f"insertvalue {whole} {result}, {self.w.vector(field)} {columns[i]}, {i}"
            )
        return result

    def _one_lane(self, instr: Instr, names: list[str], lane: int) -> str:
        args = []
        for value, name in zip(instr.operands, names, strict=True):
            if self.v.shape(value).is_uniform:
                args.append((str(value.type), self.v.scalar(value)))
            else:
                picked = self.w.value(
                    f"extractelement {self.w.vector(value.type)} {name}, i64 {lane}"
                )
                args.append((str(value.type), picked))
        return self.w.call(str(instr.type), instr.arg, args, call_flags(instr))


#: What is exact in float, and what LLVM does lane by lane in half if the processor cannot.
_NOT_IN_HALF = frozenset(
    "floor ceil trunc rint nearbyint round roundeven "
    "minnum maxnum minimum maximum minimumnum maximumnum".split()
)
_NARROW_SUFFIX = re.compile(r"\.b?f16\b")
_MOVES = frozenset(("bitcast", "select", "freeze", "extractvalue"))


def _negated(value: Value) -> Value | None:
    """The condition c of sext(!c)."""
    if not isinstance(value, Instr) or value.op != "sext" or value.operands[0].type != t.I1:
        return None
    inside = value.operands[0]
    if not isinstance(inside, Instr) or inside.op != "xor":
        return None
    condition, other = inside.operands
    return condition if isinstance(other, Const) and other.int_value == 1 else None


def _of_base(instr: Instr) -> Instr:
    """The instruction as it may be applied to the scalar base of strided values.

    The base belongs to lane 0, which may be inactive. Flags (nuw, disjoint, …) are promises for
    active lanes only; a broken one would make the base poison, for all lanes.
    """
    op = "add" if instr.op == "or" and "disjoint" in instr.flags else instr.op
    return Instr(instr.type, op, instr.operands, instr.arg)


def _unit(scale: int) -> str:
    """A type of `scale` bytes, for address arithmetic that LLVM recognises in gathers."""
    return {1: "i8", 2: "i16", 4: "i32", 8: "i64"}.get(scale, f"[{scale} x i8]")


def call_flags(instr: Instr) -> str:
    """The fast-math flags of a call; none for `fma`, which is one rounding in every mode: with
    flags LLVM might take it apart."""
    return "" if instr.arg.startswith("llvm.fma.") else instr.flags
