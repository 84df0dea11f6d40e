"""Reduction variables: values that are only summed up over all lanes, so their order does not
matter.

    total += v.x + v.y + v.z + v.w;        …        total = simd_sum(total);

Here lanes may hold the components of `v` in any order, if each is added once. A reduction variable
of an operation is used by nothing but other ones, and by reductions of that operation over all
lanes. Its terms are counted: a bundle is complete if all its members are added equally often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from anymetal.analysis.uniformity import Shapes
from anymetal.ir.cfg import postorder, reverse_postorder
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.access.bundles import Bundle, Bundles

#: Reductions and scans: the operation that combines two lanes.
_OPERATIONS = {
    "add_f32": "fadd", "mul_f32": "fmul", "min_f32": "llvm.minnum.f32",
    "max_f32": "llvm.maxnum.f32", "add_i32": "add", "add_u32": "add", "mul_i32": "mul",
    "mul_u32": "mul", "min_i32": "llvm.smin.i32", "max_i32": "llvm.smax.i32",
    "min_u32": "llvm.umin.i32", "max_u32": "llvm.umax.i32",
    "and_u32": "and", "or_u32": "or", "xor_u32": "xor",
}  # fmt: skip
#: Operations for which it does not matter how often a term occurs.
_IDEMPOTENT = frozenset(("and", "or")) | {o for o in _OPERATIONS.values() if o.startswith("llvm.")}
_PREFIX = "__am_reduce_"

#: A term of a sum: bundles that are multiplied, and which member of each.
Term = tuple[tuple[object, ...], int]
Terms = Counter[Term]


class ReductionVariables:
    """The reduction variables of a program, and which bundles occur in one incompletely.

    `fits`: see Bundles.
    """

    def __init__(
        self,
        program: Program,
        bundles: Bundles,
        fits: Callable[[Instr], bool],
        shapes: Shapes,
    ) -> None:
        self.bundles = bundles
        self.fits = fits
        self.shapes = shapes
        self.of: dict[Value, str] = {}  #: the operation that a value is such a variable of
        self.broken: set[Bundle] = set()
        self.together: list[list[Bundle]] = []  #: bundles that are multiplied by each other
        self.summed: dict[Value, tuple[Terms, list[Value]]] = {}  #: see _sum
        order = [i for b in reverse_postorder(program.blocks[0]) for i in b.instrs]
        for operation in dict.fromkeys(filter(None, map(_reduces, order))):
            self._find(order, operation)
        self._count(order)
        while any(map(self._breaks, self.together)):
            pass

    def takes(self, user: Instr) -> bool:
        """Whether this instruction uses a bundle's member as a term of a reduction."""
        return user in self.of or (_reduces(user) != "" and self.fits(user))

    # -- what is one ----------------------------------------------------------------------

    def _find(self, order: list[Instr], operation: str) -> None:
        """The largest set of instructions used only by each other and by reductions."""
        found = {i for i in order if self._may_be(i, operation)}
        before = -1
        while before != len(found):
            before = len(found)
            for instr in reversed(order):  # users first: they decide about their operands
                if instr in found and not all(
                    (user in found and instr not in _factors(user, operation))
                    or (_reduces(user) == operation and self.fits(user))
                    for user in self.bundles.users.get(instr, [])
                ):
                    found.remove(instr)
        self.of.update(dict.fromkeys(found, operation))

    def _may_be(self, instr: Instr, operation: str) -> bool:
        if instr in self.bundles.of or instr in self.of or not self.fits(instr):
            return False
        if instr.op == "phi" or (instr.op == "fmul" and operation == "fadd"):
            return True
        kind = instr.arg.replace("fmuladd", "fma") if instr.op == "call" else instr.op
        if not (kind == operation or (kind == "llvm.fma.f32" and operation == "fadd")):
            return False
        exact = operation in _IDEMPOTENT or not instr.type.is_float
        return exact or "reassoc" in instr.flags or "fast" in instr.flags

    # -- what comes in --------------------------------------------------------------------

    def _count(self, order: list[Instr]) -> None:
        for instr in order:
            if instr in self.of and instr.op != "phi":
                factors = _factors(instr, self.of[instr])
                rest = [] if instr.op == "fmul" and factors else instr.operands[len(factors) :]
                self.summed[instr] = self._product(factors), rest
        for instr in order:
            if instr.op == "phi" and instr in self.of:
                operation = self.of[instr]
            elif _reduces(instr) and self.fits(instr):
                operation = _reduces(instr)
            else:
                continue
            for value in instr.operands:
                self._check(self._terms(value), operation)

    def _terms(self, value: Value) -> Terms:
        """The terms of a value, and how often each occurs."""
        total: Terms = Counter()
        times = Counter({value: 1})
        for one in reversed(postorder(value, lambda v: self._sum(v)[1])):  # sums before terms
            own, rest = self._sum(one)
            for term, count in own.items():
                total[term] += count * times[one]
            for part in rest:
                times[part] += times[one]
        return total

    def _sum(self, value: Value) -> tuple[Terms, list[Value]]:
        """The terms that a value adds by itself, and the values that it is a sum of."""
        own = self._product([value]) if value in self.bundles.of else Counter[Term]()
        return self.summed.get(value, (own, []))

    def _product(self, factors: list[Value]) -> Terms:
        """The term of a product; gives up bundles that meet other members or varying values."""
        members = [self.bundles.of[v] for v in factors if v in self.bundles.of]
        others = [v for v in factors if v not in self.bundles.of]
        bundles = [bundle for bundle, _ in members]
        self.together.append(bundles)
        numbers = {number for _, number in members}
        if len(numbers) > 1 or not all(self.shapes[v].is_uniform for v in others):
            self.broken.update(bundles)
        names = tuple(sorted([*bundles, *others], key=id))
        return Counter([(names, min(numbers))]) if numbers else Counter()

    def _breaks(self, bundles: list[Bundle]) -> bool:
        """Gives up all bundles that are multiplied by one given up; whether any was new."""
        before = len(self.broken)
        if not self.broken.isdisjoint(bundles):
            self.broken.update(bundles)
        return len(self.broken) > before

    def _check(self, terms: Terms, operation: str) -> None:
        for names in {names for names, _ in terms}:
            bundles = [name for name in names if isinstance(name, Bundle)]
            counts = {terms[names, number] for number in range(max(b.count for b in bundles))}
            if 0 in counts or (len(counts) > 1 and operation not in _IDEMPOTENT):
                self.broken.update(bundles)


def _factors(instr: Instr, operation: str) -> list[Value]:
    """The operands that are multiplied before the product is added."""
    if operation != "fadd":
        return []
    fused = instr.op == "call" and instr.arg.startswith(("llvm.fma.", "llvm.fmuladd."))
    return instr.operands[:2] if fused or instr.op == "fmul" else []


def _reduces(instr: Instr) -> str:
    """The operation of a reduction over lanes; empty if it is none."""
    if instr.op != "call" or not instr.arg.startswith(_PREFIX):
        return ""
    return _OPERATIONS[instr.arg.removeprefix(_PREFIX)]
