"""Prefetches what the gang to come will load, where the processor does not foresee it.

    for (uint i = lane; i < n; i += 32) sum += x[row * n + i] * x[(row + 1) * n + i];

becomes

    ahead = n < near ? 2 * n * 4 : 0;
    for (uint i = lane; i < n; i += 32) {
        sum += x[row * n + i] * x[(row + 1) * n + i];
        prefetch &x[row * n + i] + ahead, &x[(row + 1) * n + i] + ahead;
    }

A processor foresees runs of memory, once it has seen a part of each, and some at a time; and while
it waits for a load it does the next few hundred instructions. What it does not foresee is where a
run begins. But where the next gang will load follows from the program: the address of a load has
affine form, so its distance to that of the next gang (or to the next iteration of the loop around)
is known. This is the one decision, of what all loads of a loop or of straight code ask for:

* In an innermost loop, if it goes along several runs of an array: those of the next gang. A single
  one mostly goes on where that of the gang before ended; if it is known not to, because of a loop
  around, and the loop computes for long, it is asked for, too. They are for the second-level cache,
  which must hold what is loaded until then; whether it does depends on the bound of the loop.
* Long runs in straight code: those of the next gang, each where the one of now is loaded, for the
  first-level cache, if the gang computes for long, or is a team whose SIMD-groups go through
  sections. A processor stops to look ahead when nothing is loaded; and of sections LLVM's scheduler
  begins each with any of its loads, mostly the last, an order that no processor foresees.
* In the body of a loop: likewise those of the next iteration, if they lie elsewhere or there are
  sections.
* In straight code that loads parts of more runs than a processor follows: those of the gang after
  the next, as soon as its own loads are done.

A loop whose next iteration goes on where this one ends asks for nothing: that a processor foresees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from anymetal.analysis.affine import ONE, Distance
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost, predecessors
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import is_plain
from anymetal.analysis.induction import Induction, inductions
from anymetal.analysis.objects import in_arrays, origins
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.calls import APART, IN_ORDER, PREFETCH
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Const, Instr, Location, Value
from anymetal.machine import Machine
from anymetal.prefetch.runs import Run, runs_of

#: Instructions for each line that a gang loads from which on the memory is idle meanwhile.
LONG = 16
FIRST, SECOND = 3, 2  #: caches, as LLVM numbers them


class _Wanted(NamedTuple):
    """A run, and how far from it lies what is asked for."""

    run: Run
    distance: Distance

    def is_long(self, machine: Machine) -> bool:
        """Whether the run is longer than what a processor overlooks, and has no gaps."""
        dense = len(self.run.lines) * machine.line >= self.run.size
        return dense and self.run.size > machine.unseen_bytes

    @property
    def lies_elsewhere(self) -> bool:
        """Whether it is not known to begin where the run ends."""
        return abs(self.distance.get(ONE, 0)) > self.run.size or set(self.distance) != {ONE}

    def jumps(self, bound: Value, counter: Induction) -> bool:
        """Whether a loop with this bound, a number, is known not to end where the run goes on."""
        stop = bound.int_value if isinstance(bound, Const) else None
        if stop is None:
            return False
        covered = stop // counter.growth * self.run.growth
        apart = self.distance.get(ONE, 0) - covered
        return set(self.distance) != {ONE} or abs(apart) > abs(self.run.growth)

    def reaches(self, other: Run, times: int) -> bool:
        """Whether, so many times the distance on, lies what this gang loads itself."""
        there = {product: factors[0] for product, factors in self.run.start.items()}
        for product, factor in self.distance.items():
            there[product] = there.get(product, 0) + times * factor
        between = {p: f[0] - there.pop(p, 0) for p, f in other.start.items()}
        between |= {product: -factor for product, factor in there.items()}
        apart = between.pop(ONE, 0)
        return not any(between.values()) and -other.size < apart < self.run.size


def run(known: Analyses, steps: list[dict[str, int]], team: int = 1) -> bool:
    """`steps`: by how much the results of calls for positions grow to the next gang, in several
    directions: the first that makes a difference to an address is its. `team`: of how many
    SIMD-groups a gang is."""
    gangs, changed = [Distances(known, one) for one in steps], False
    for block in known.program.blocks:
        if not _may_load_enough(block, known):
            continue
        loop = known(innermost).get(block)
        ways = [_to_next_iteration(loop, known)] if loop else gangs
        if _long_runs(block, known, ways, loop):
            changed = True
        elif not loop:
            changed |= _many_runs(block, known, gangs)
    for region in known(regions).regions:
        loop = region.loop
        if loop and not loop.children:
            changed |= _in_loop(loop, known, gangs, team)
    return changed


def _wanted(
    blocks: Iterable[Block], known: Analyses, ways: list[Distances], loop: Loop | None = None
) -> list[_Wanted]:
    """Runs that are loaded from arrays, if the gang to come loads the same elsewhere, at a distance
    that is known (in front of the loop)."""
    loads = [
        instr
        for block in blocks
        for instr in block.instrs
        if instr.op == "load" and is_plain(instr) and known(shapes)[instr.operands[0]].is_strided
        if in_arrays(known(origins).get(instr.operands[0], frozenset()))
    ]
    found = []
    for one in runs_of(loads, known, loop):
        distance = next(filter(None, (way.of(one.start) for way in ways)), {})
        values = [value for product in distance for value in product]
        if distance and all(known(shapes)[v].is_uniform and not _inside(v, loop) for v in values):
            found.append(_Wanted(one, distance))
    return found


def _inside(value: Value, loop: Loop | None) -> bool:
    return loop is not None and isinstance(value, Instr) and value.block in loop.blocks


# ------------------------------------------------------------------------------ straight code


def _long_runs(block: Block, known: Analyses, ways: list[Distances], loop: Loop | None) -> bool:
    """Runs are asked for where those of now are loaded."""
    machine, wanted = known.machine, _wanted([block], known, ways)
    wanted = [one for one in _not_loaded_now(wanted, 1) if one.is_long(machine)]
    if loop and not _has_sections(block):
        wanted = [one for one in wanted if one.lies_elsewhere]
    if not _are_worth_it(wanted, machine):
        return False
    if not (loop or _has_sections(block) or known.program.size >= LONG * _lines(wanted)):
        return False
    place_of = {instr: place for place, instr in enumerate(block.instrs)}
    placed: list[tuple[int, list[Instr]]] = []
    for one in wanted:
        first, *_ = places = [place_of[load] for load in one.run.loads]
        behind = sorted(place for place in places if place >= first)  # its address is known there
        requests = _asking_for(one, 1)
        for number, request in enumerate(requests):
            placed.append((behind[number * len(behind) // len(requests)] + 1, request))
    placed.sort(key=itemgetter(0))
    for place, request in reversed(placed):
        block.insert(place, request)
    return True


def _many_runs(block: Block, known: Analyses, ways: list[Distances]) -> bool:
    """Short runs are asked for behind the last load."""
    machine, wanted = known.machine, _wanted([block], known, ways)
    wanted = _not_loaded_now(wanted, 2)
    wanted = [one for one in wanted if one.run.size <= machine.unseen_bytes]
    if len(wanted) <= machine.followed_runs:
        return False
    if not _are_worth_it(wanted, machine):
        return False
    last = max(block.instrs.index(load) for one in wanted for load in one.run.loads)
    requests = [request for one in wanted for request in _asking_for(one, 2)]
    block.insert(last + 1, [instr for request in requests for instr in request])
    return True


def _not_loaded_now(wanted: list[_Wanted], times: int) -> list[_Wanted]:
    """Without those of which, so many gangs on, lies what this one loads itself."""
    own = [one.run for one in wanted]
    return [one for one in wanted if not any(one.reaches(run, times) for run in own)]


def _are_worth_it(wanted: list[_Wanted], machine: Machine) -> bool:
    """Whether a processor would not start so many loads in time, and a cache holds their lines."""
    return machine.few_lines <= _lines(wanted) <= machine.many_lines


def _may_load_enough(block: Block, known: Analyses) -> bool:
    """A quick look: no load of a gang without gaps has more lines than one of 8 bytes a lane."""
    most = known.width * 8 // known.machine.line
    return most * sum(i.op == "load" for i in block.instrs) >= known.machine.few_lines


def _has_sections(block: Block) -> bool:
    return any(i.op == "call" and i.arg in (APART, IN_ORDER) for i in block.instrs)


def _lines(wanted: list[_Wanted]) -> int:
    return sum(len(one.run.lines) for one in wanted)


# -------------------------------------------------------------------------------------- loops


def _in_loop(loop: Loop, known: Analyses, gangs: list[Distances], team: int) -> bool:
    counters, ways = known(inductions), gangs
    counter = next(filter(_is_counter, counters[loop]), None)
    front = [b for b in known(predecessors)[loop.header] if b not in loop.blocks]
    if counter is None or len(front) > 1:
        return False
    bound = counter.tests[0].operands[1]
    if not known(shapes)[bound].is_uniform:
        return False
    if loop.parent:
        ways = [_to_next_iteration(loop.parent, known)]
    wanted = [one for one in _wanted(loop.ordered, known, ways, loop) if _goes_along(one.run, team)]
    arrays = Counter(known(origins)[one.run.pointer] for one in wanted)
    jumps = loop.parent and sum(len(b.instrs) for b in loop.blocks) >= LONG * _lines(wanted)
    wanted = [
        one
        for one in wanted
        if arrays[known(origins)[one.run.pointer]] > 1 or (jumps and one.jumps(bound, counter))
    ]
    if not wanted:
        return False
    iterations = known.machine.near_bytes // sum(one.run.size for one in wanted)
    limit = Const(bound.type, str(iterations * abs(counter.growth)))
    near = Instr(t.I1, "icmp", [bound, limit], "ult")
    made = [near]
    for one, distance in wanted:
        far = Instr(t.I64, "select", [near, _bytes(distance, 1, made), Const(t.I64, "0")])
        made.append(far)
        load, requests = one.loads[0], _requests(one, far, SECOND)
        assert load.block is not None
        load.block.insert(load.block.instrs.index(load) + 1, [i for r in requests for i in r])
    front[0].insert(-1, made)
    return True


def _to_next_iteration(loop: Loop, known: Analyses) -> Distances:
    phis: dict[Value, Value | int] = dict.fromkeys(loop.header.phis, 0)
    phis.update((one.phi, one.growth or one.step) for one in known(inductions)[loop])
    return Distances(known, {}, phis)


def _is_counter(one: Induction) -> bool:
    """Whether a loop goes on while the number, which grows by a constant, is below a bound."""
    return one.growth != 0 and len(one.tests) == 1 and one.phi.type in (t.I32, t.I64)


def _goes_along(run: Run, team: int) -> bool:
    """Whether each iteration of a loop goes on where the one before ends, for all SIMD-groups of a
    team together."""
    return run.size <= 2 * abs(run.growth) <= 2 * run.size * team


# ------------------------------------------------------------------------------- instructions


def _bytes(distance: Distance, times: int, made: list[Instr]) -> Value:
    """So many times the distance; what computes it goes to `made`."""

    def add(op: str, *operands: Value) -> Value:
        made.append(Instr(t.I64, op, list(operands)))
        return made[-1]

    total: Value = Const(t.I64, str(times * distance.get(ONE, 0)))
    for product, factor in distance.items():
        if product != ONE:
            term: Value = Const(t.I64, str(times * factor))
            for value in product:
                term = add("mul", term, value if value.type == t.I64 else add("sext", value))
            total = add("add", total, term)
    return total


def _asking_for(one: _Wanted, times: int) -> list[list[Instr]]:
    """The requests for each line of a run, so many times its distance on; the first of them
    computes how far that is."""
    far: list[Instr] = []
    first, *rest = _requests(one.run, _bytes(one.distance, times, far), FIRST)
    return [[*far, *first], *rest]


def _requests(one: Run, far: Value, cache: int) -> list[list[Instr]]:
    """The instructions that ask for each line of a run so far on."""
    result = []
    for line in one.lines:
        there = Instr(one.pointer.type, "gep", [one.pointer, far], (1, line))
        result.append(request(there, cache, one.loads[0].loc))
    return result


def request(there: Instr, cache: int, loc: Location | None) -> list[Instr]:
    """An address, and the request for its line."""
    return [there, Instr(t.VOID, "call", [there, Const(t.I32, str(cache))], PREFETCH, "", loc)]
