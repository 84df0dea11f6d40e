"""Inner loops of several outer iterations run as one, ahead of time and as far as all of them go.

    for j: sum = 0; for p < j: sum += x[row * n + p] * x[j * n + p]
           x[row * n + j] = finish(sum)

becomes

    for j:
        if no sums are left:
            if the next 4 iterations exist, and none stores to what a later one reads for p < last:
                for p < last: sum0 += x[row * n + p] * x[j * n + p]; … sum3 += … x[(j + 3) * n + p]
        sum, begin = what is there for this j, else 0, 0
        for p from begin: sum += x[row * n + p] * x[j * n + p]
        x[row * n + j] = finish(sum)

Four chains of additions run side by side, and `x[row * n + p]` is loaded once for four. Each sum is
added in its own order: not a bit changes. `last` is a multiple of 4 that none of the four passes;
each may have to go a little further in its own loop, and whatever the outer loop does behind it
stays as it is.

Loads move in front of the stores of earlier iterations. Where these may lead into one array, the
ranges that they touch are compared at run time, and all lanes are asked, so that the loops stay
uniform. An outer loop that waits for other threads is left alone.
"""

from __future__ import annotations

from anymetal.analysis import control
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, is_plain, is_pure, pointer_of
from anymetal.analysis.induction import Induction, inductions, only_exit
from anymetal.analysis.objects import Origin, disjoint, origins, read_only
from anymetal.analysis.uniformity import shapes
from anymetal.ir.cfg import Loop, dominates
from anymetal.ir.model import Argument, Block, Const, Instr, Value
from anymetal.ir.walk import from_below
from anymetal.passes.joined_loop import Joined, Nest

#: Iterations that are joined where all lanes do the same: a chain of additions takes an instruction
#: in four cycles or so.
UNIFORM_COUNT = 4
#: The same where lanes differ, if the processor has registers for so many sums.
MOST_SHARED = 4
#: Instructions of an iteration of the inner loop that each of the joined ones needs for itself.
MOST_DIFFERENT = 24
#: Such stores of the outer loop, and loads of the inner one, as are compared at run time.
MOST_COMPARED = 4

#: By how much indices may grow in an iteration: more might wrap twice.
MOST_GROWTH = 16

#: What may be computed for an iteration that may not exist.
_FREE = frozenset("add sub mul and or xor zext sext trunc icmp select freeze gep".split())
_FREE_CALLS = ("llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.abs.")
_NOWHERE: frozenset[Origin] = frozenset()


def run(known: Analyses) -> bool:
    """Joins iterations of all nests where it is allowed and pays."""
    nests = [nest for loop in known(control.loops) if (nest := _Finder(known, loop).nest())]
    counts = [_count(known, nest) for nest in nests]
    for nest, count in zip(nests, counts, strict=True):
        if count:
            Joined(known.program, nest, count).make()
    return any(counts)


def _count(known: Analyses, nest: Nest) -> int:
    """How many iterations are joined; 0 if it does not pay."""
    shape = known(shapes)
    body = nest.inner.instrs
    if sum(i in nest.differ for i in body) > MOST_DIFFERENT:
        return 0
    if {nest.outer, *nest.outer.children} & shape.divergent_loops:
        return 0
    if all(shape[i].is_uniform for i in body):
        return UNIFORM_COUNT
    shared = [pointer_of(i) for i in body if i.op in LOADS and i not in nest.differ]
    sums = sum(i in nest.differ and not shape[i].is_uniform for i in nest.inner.phis)
    if not sums or all(shape[p].is_uniform for p in shared):
        return 0
    # Sums may fill the registers: loads that they share, often gathers, cost more than spills.
    registers = known.machine.registers
    vectors = -(-known.width // known.machine.words) * sums
    most = registers // vectors
    return min(most, MOST_SHARED) if most > 1 else 0


class _Finder:
    """Looks at one loop."""

    def __init__(self, known: Analyses, outer: Loop) -> None:
        self.known = known
        self.outer = outer
        self.origins = known(origins)
        self.read_only = known(read_only)
        self.strides: dict[Value, int | None] = {}
        self.free: dict[Value, bool] = {}
        self.loadable: dict[Value, bool] = {}
        self.same: dict[Value, bool] = {}

    def nest(self) -> Nest | None:
        """The nest that the loop is the outer loop of, if its iterations may be joined."""
        outer = self.outer
        if only_exit(outer) is None or len(outer.latches) != 1 or len(outer.children) != 1:
            return None
        (child,) = outer.children
        inner = child.header
        before = [b for b in self.known(control.predecessors)[inner] if b is not inner]
        if len(child.blocks) != 1 or len(before) != 1 or len(inner.successors) != 2:
            return None
        instrs = [i for b in outer.blocks for i in b.instrs]
        if not all(i.op in ("phi", "br") or is_plain(i) or is_pure(i) for i in instrs):
            return None
        self.inner = inner
        self.stores = [i for i in instrs if i.op == "store"]
        self.steps: dict[Value, Induction] = {
            one.phi: one for loop in (outer, child) for one in self.known(inductions)[loop]
        }
        counter = self._counter(child)
        guards = self._guards(before[0])
        if counter is None or guards is None or not self._is_known_ahead(counter, guards):
            return None
        compared = [i for i in inner.body if i.op in LOADS and not self._is_safe(i)]
        compares = len(compared) <= MOST_COMPARED and len(self.stores) <= MOST_COMPARED
        if any(i.op == "store" for i in inner.body) or (compared and not compares):
            return None
        strides = {i: self._stride(pointer_of(i)) for i in inner.body if i.op in LOADS}
        if any(strides[load] is None for load in compared):
            return None
        if compared and not all(self._is_free(pointer_of(i)) for i in self.stores):
            return None
        differ = self._differ()
        asked = [pointer_of(i) for i in self.stores] + [condition for condition, _ in guards]
        known_strides = {i: n for i, n in strides.items() if n is not None}
        alike = all(self.known(shapes)[i].is_uniform for i in (*inner.instrs, *asked))
        return Nest(outer, inner, before[0], counter, guards, self.steps, self.stores, differ,
                    known_strides, alike, compared)  # fmt: skip

    def _counter(self, child: Loop) -> Induction | None:
        """What counts the iterations of the inner loop, one up or down, until it meets a limit."""
        end = self.inner.terminator
        for one in self.known(inductions)[child]:
            single = one.growth in (1, -1) and one.phi.type.size >= 4
            if one.start is None or not single or one.tests != [end.operands[0]]:
                continue
            leaves = {"eq": 0, "ne": 1}.get(one.tests[0].arg)
            if leaves is not None and end.arg[leaves] is not self.inner:
                return one
        return None

    def _guards(self, before: Block) -> list[tuple[Value, bool]] | None:
        """The conditions under which an outer iteration gets to the inner loop."""
        preds = self.known(control.predecessors)
        above, below = self.known(control.dominators), self.known(control.postdominators)
        guards = []
        block = before
        while block is not self.outer.header:
            branch = above[block]
            if not dominates(below, block, branch):
                if preds[block] != [branch] or branch.successors.count(block) != 1:
                    return None
                end = branch.terminator
                guards.append((end.operands[0], end.arg[0] is block))
            block = branch
        return guards

    def _is_known_ahead(self, counter: Induction, guards: list[tuple[Value, bool]]) -> bool:
        """Whether an earlier iteration can find out that one exists, how far its inner loop goes,
        and what that begins with."""
        assert counter.start is not None
        again = self.outer.latches[0].terminator.operands
        asked = [counter.start, counter.tests[0].operands[1], *(c for c, _ in guards), *again]
        return all(map(self._is_free, asked)) and all(
            self._may_load(value)
            for instr in self.inner.instrs
            for value in instr.operands
            if not self._is_inside(value)
        )

    # -- values of other iterations -----------------------------------------------------------

    def _is_inside(self, value: Value) -> bool:
        return isinstance(value, Instr) and value.block is self.inner

    def _is_around(self, value: Value) -> bool:
        """Whether a value is computed in the outer loop."""
        return isinstance(value, Instr) and value.block in self.outer.blocks

    def _parts(self, value: Value) -> list[Value]:
        around = isinstance(value, Instr) and value.op != "phi" and self._is_around(value)
        return value.operands if isinstance(value, Instr) and around else []

    def _is_counted(self, value: Value) -> bool:
        """Whether a phi of the outer loop counts its iterations."""
        return value in self.steps and not self._is_inside(value)

    def _is_simple(self, value: Instr) -> bool:
        """Whether an operation does no harm in an iteration that does not exist."""
        call = value.op == "call" and value.arg.startswith(_FREE_CALLS)
        shift = value.op in ("shl", "lshr", "ashr") and isinstance(value.operands[1], Const)
        return value.op in _FREE or call or shift

    def _is_free(self, value: Value) -> bool:
        """Whether a value may be computed for an iteration that may not exist."""

        def answer(value: Value) -> bool:
            if not isinstance(value, Instr) or not self._is_around(value):
                return True
            if value.op == "phi" or self._is_inside(value):
                return self._is_counted(value)
            return self._is_simple(value) and all(self.free[v] for v in value.operands)

        return from_below(value, self.free, self._parts, answer)

    def _may_load(self, value: Value) -> bool:
        """Whether a value may be computed early for an iteration that exists."""

        def answer(value: Value) -> bool:
            if not isinstance(value, Instr) or not self._is_around(value):
                return True
            if value.op == "phi" or self._is_inside(value):
                return self._is_counted(value)
            free = self._is_safe(value) if value.op in LOADS else is_pure(value)
            return free and all(self.loadable[v] for v in value.operands)

        return from_below(value, self.loadable, self._parts, answer)

    def _is_safe(self, load: Instr) -> bool:
        """Whether no store of the loop leads to what is loaded."""
        where = self.origins.get(pointer_of(load), _NOWHERE)
        if where and all(isinstance(o, Argument) and o in self.read_only for o in where):
            return True
        return all(disjoint(where, self.origins.get(pointer_of(s), _NOWHERE)) for s in self.stores)

    def _stride(self, pointer: Value) -> int | None:
        """By how many bytes an address grows in an iteration of the inner loop; None if that is not
        known, or not known ahead."""
        return from_below(
            pointer,
            self.strides,
            lambda v: (
                v.operands if isinstance(v, Instr) and self._is_inside(v) and v.op != "phi" else []
            ),
            self._growth,
        )

    def _growth(self, value: Value) -> int | None:
        if not isinstance(value, Instr) or not self._is_inside(value):
            return 0 if self._is_free(value) else None
        if value.op == "phi":
            one = self.steps.get(value)
            counts = one is not None and one.start is not None and self._is_free(one.start)
            return one.growth if one and counts and 0 < abs(one.growth) <= MOST_GROWTH else None
        parts = [self.strides[v] for v in value.operands]
        if any(part is None for part in parts):
            return None
        grown = [part or 0 for part in parts]
        if not any(grown):
            return 0 if self._is_simple(value) else None
        if value.op == "gep":
            scales: tuple[int, ...] = (1, *value.arg[:-1])
            return sum(n * scale for n, scale in zip(grown, scales, strict=True))
        if value.op == "add" or (value.op == "or" and "disjoint" in value.flags):
            return sum(grown)
        if value.op == "sub":
            return grown[0] - grown[1]
        return grown[0] if value.op in ("sext", "zext") else None

    def _differ(self) -> set[Value]:
        """The instructions of the inner loop that depend on the iteration of the outer one."""
        differ: set[Value] = set()
        found = -1
        while len(differ) > found:
            found = len(differ)
            for instr in self.inner.instrs:
                if any(v in differ or not self._is_same(v) for v in instr.operands):
                    differ.add(instr)
        return differ - {self.inner.terminator}

    def _is_same(self, value: Value) -> bool:
        """Whether a value from outside the inner loop is the same in all outer iterations."""

        def answer(value: Value) -> bool:
            if not isinstance(value, Instr) or not self._is_around(value):
                return True
            return is_pure(value) and value.op != "phi" and all(map(self.same.get, value.operands))

        return self._is_inside(value) or from_below(value, self.same, self._parts, answer)
