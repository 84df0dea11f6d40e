"""Calls that tell the observer of a sanitized build (targets/cpu/observer/) what a gang does.

    %who = call ptr @am_begin(…)                                  at the start of a gang's function
    call void @am_access_run(ptr %who, i32 site, i32 mask, …)     for all lanes of an access
    call void @am_end(ptr %who)                                   at its end

Findings are cold: lanes are compared, and the call is left out where none is wrong.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.calls import ACCESS, EVENTS, FENCES, FOUND, MEETS
from anymetal.ir.model import Const, Instr, Program, Value
from anymetal.passes.check_bounds import known_number, record_of
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.values import buffer_name
from anymetal.simd.emit.positions import CONTEXT_NAMES
from anymetal.simd.emit.runtime_calls import call, stored

#: What lanes do together, by the numbers of `Together` in targets/cpu/observer/convergence.h.
_SHUFFLED, _SHUFFLED_IN_QUAD, _SAME, _ALL = range(4)
#: What `am_begin` returns: the gang as the observer knows it.
_WHO = ("ptr", "%who")


def begin(program: Program, w: Writer) -> list[str]:
    """Lines for the start of a gang's function; none if nobody watches the program."""
    if not any(i.op == "call" and i.arg in EVENTS for i in program.instructions()):
        return []
    args = [
        ("ptr", buffer_name(record_of(program))),
        ("i32", str(w.width)),
        *(("i32", f"%{name}") for name in CONTEXT_NAMES),
    ]
    types = ", ".join(type_ for type_, _ in args)
    w.declarations["am_begin"] = f"declare hidden ptr @am_begin({types})"
    w.declarations["am_end"] = "declare hidden void @am_end(ptr)"
    given = ", ".join(f"{type_} {name}" for type_, name in args)
    return [f"  %who = call ptr @am_begin({given})"]


#: For its end.
END = "  call void @am_end(ptr %who)\n"


class Events(GangEmitter):
    """Emits the events."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.slots: dict[str, str] = {}  #: by the type of what lies there

    def emit(self, instr: Instr, mask: Mask) -> None:
        if instr.arg == FOUND:
            self._found(instr, mask)
        elif instr.arg == ACCESS:
            self._access(instr, mask)
        elif instr.arg == MEETS:
            args = [_WHO, *_of_barrier([self.v.scalar(v) for v in instr.operands])]
            args.append(("i32", self.masks.word(mask)))
            call(self.w, "am_barrier", args)
        elif instr.arg == FENCES:
            numbers = [self.v.scalar(instr.operands[0]), self.masks.word(mask)]
            call(self.w, "am_fence", [_WHO, *(("i32", number) for number in numbers)])
        else:
            self._together(instr, mask)

    def inside(self, instr: Instr, mask: Mask) -> None:
        """Lanes that count on are below the limit if the first and the last of them are: no 64-bit
        position that starts and ends there has wrapped in between."""
        w = self.w
        position, limit = instr.operands
        below, shape = self.v.scalar(limit), self.v.shape(position)
        if shape.is_varying:
            vector, bound = w.vector(t.I64), w.splat(t.I64, below)
            over = w.value(f"icmp uge {vector} {self.v.vector(position)}, {bound}")
            fine = w.value(f"xor i1 {self.masks.any(self.masks.both(mask, over))}, true")
        else:
            first = self.v.scalar(position)
            fine = w.value(f"icmp ult i64 {first}, {below}")
            if shape.stride:
                last = w.value(f"add i64 {first}, {shape.stride * (w.width - 1)}")
                fine = w.value(f"and i1 {fine}, {w.value(f'icmp ult i64 {last}, {below}')}")
        self.v.define(instr, w.value(f"freeze i1 {fine}"))

    def _together(self, instr: Instr, mask: Mask) -> None:
        """What lanes do together. As a rule all take part, and give what they may."""
        w = self.w
        value, kind, site = instr.operands
        self.v.vector(value)  # made in front of the branch, others may use it behind
        odd = self._is_odd(value, known_number(kind), mask) if w.width == 32 else "true"
        some, none = w.fresh("together"), w.fresh("together.fine")
        if odd == "false":
            return
        if odd != "true":
            w.do(f"br i1 {w.value(f'freeze i1 {odd}')}, label %{some}, label %{none}")
            w.label(some)
        numbers = [self.v.scalar(site), self.v.scalar(kind), self.masks.word(mask)]
        args = [_WHO, *(("i32", number) for number in numbers), self._lanes(value)]
        call(w, "am_lanes", args)
        if odd != "true":
            w.do(f"br label %{none}")
            w.label(none)

    def _is_odd(self, value: Value, kind: int, mask: Mask) -> str:
        """Whether there may be something to tell."""
        if kind == _SAME and self.v.shape(value).is_uniform:
            return "false"
        if kind not in (_SHUFFLED, _SHUFFLED_IN_QUAD, _ALL):
            return "true"
        absent = "false"
        if mask is not None:
            absent = self.w.value(f"xor i1 {self.masks.all(mask)}, true")
        if kind == _ALL:
            return absent
        far = self._is_far(value, kind == _SHUFFLED_IN_QUAD)
        if "false" in (far, absent):
            return far if absent == "false" else absent
        return self.w.value(f"or i1 {far}, {absent}")

    def _is_far(self, value: Value, quad: bool) -> str:
        """Whether there is no such lane in the SIMD-group, or the quad."""
        w = self.w
        if isinstance(value, Const) and not quad:
            return "false" if 0 <= (value.int_value or 0) < 32 else "true"
        vector, lane, most = w.vector(t.I32), self.v.vector(value), 31
        if quad:
            lane, most = w.value(f"xor {vector} {lane}, {w.lanes(t.I32, 1)}"), 3
        beyond = w.value(f"icmp ugt {vector} {lane}, {w.splat_constant(t.I32, str(most))}")
        return self.masks.any(beyond)

    def _lanes(self, value: Value) -> tuple[str, str]:
        """A value of every lane, in memory that the next event of such a type uses again."""
        type_, vector = self.w.vector(value.type), self.v.vector(value)
        if type_ not in self.slots:
            self.slots[type_] = self.w.alloca(type_, "told")
        self.w.do(f"store {type_} {vector}, ptr {self.slots[type_]}")
        return "ptr", self.slots[type_]

    def _found(self, instr: Instr, mask: Mask) -> None:
        w = self.w
        bad, kind, site, position, owner = instr.operands
        lanes = self.masks.both(mask, self.v.vector(bad))
        for value in (position, owner):
            self.v.vector(value)  # made in front of the branch, others may use it behind
        some, none = w.fresh("found"), w.fresh("found.none")
        w.do(f"br i1 {self.masks.any(lanes)}, label %{some}, label %{none}")
        w.label(some)
        numbers = [self.v.scalar(site), self.v.scalar(kind), self.masks.word(lanes)]
        places = [self._lanes(v) for v in (position, owner)]
        call(w, "am_found", [_WHO, *(("i32", n) for n in numbers), *places], " cold")
        w.do(f"br label %{none}")
        w.label(none)

    def _access(self, instr: Instr, mask: Mask) -> None:
        bad, position, owner, size, action, site = instr.operands
        lanes = self.masks.without(mask, self.masks.both(mask, self.v.vector(bad)))
        word = self.masks.word(lanes)
        head = [_WHO, ("i32", self.v.scalar(site)), ("i32", word)]
        numbers = [("i32", self.v.scalar(v)) for v in (size, action)]
        shape = self.v.shape(position)
        if not shape.is_varying and shape.exact and self.v.shape(owner).is_uniform:
            run = [("i64", self.v.scalar(position)), ("i64", str(shape.stride))]
            where = ("i32", self.v.scalar(owner))
            call(self.w, "am_access_run", [*head, *run, where, *numbers])
            return
        places = [self._lanes(v) for v in (position, owner)]
        call(self.w, "am_access_lanes", [*head, *places, *numbers])


def of_thread(w: Writer, instr: Instr, names: list[str]) -> None:
    """The event of a thread that is alone in its gang; one that has found something, if it has."""
    if instr.arg == FOUND:
        _, kind, site, position, owner = names
        places = [("ptr", stored(w, "i64", position)), ("ptr", stored(w, "i32", owner))]
        call(w, "am_found", [_WHO, ("i32", site), ("i32", kind), ("i32", "1"), *places], " cold")
    elif instr.arg == ACCESS:
        bad, position, owner, size, action, site = names
        word = w.value(f"select i1 {bad}, i32 0, i32 1")
        numbers = [("i32", owner), ("i32", size), ("i32", action)]
        run = [("i64", position), ("i64", "0"), *numbers]
        call(w, "am_access_run", [_WHO, ("i32", site), ("i32", word), *run])
    elif instr.arg == MEETS:
        call(w, "am_barrier", [_WHO, *_of_barrier(names), ("i32", "1")])
    elif instr.arg == FENCES:
        call(w, "am_fence", [_WHO, ("i32", names[0]), ("i32", "1")])
    else:
        lane, kind, site = names
        lanes = stored(w, "i32", lane)
        call(w, "am_lanes", [_WHO, ("i32", site), ("i32", kind), ("i32", "1"), ("ptr", lanes)])


def _of_barrier(names: list[str]) -> list[tuple[str, str]]:
    flags, narrow, site = names
    return [("i32", site), ("i32", flags), ("i1", narrow)]
