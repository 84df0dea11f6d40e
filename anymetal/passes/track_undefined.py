"""Follows undefined values to where they matter, in sanitized builds.

    %v = load %tile + %i         becomes      %v = load %tile + %i
                                              %v' = load %tile.twin + %i         its shadow
    store %v, %out + %i                       %some = icmp ne %v', 0
                                              call found(%some, undefined_output, …)
                                              store %v, %out + %i
                                              store 255, %out.twin + %i / 4      it is written now

Beside each value that may be undefined goes a shadow (shadows.py), beside each array that may be so
a twin of the same layout, which holds the shadows of its contents. So shadows are loaded and stored
as values are, whole vectors at once. Which values and arrays these are is found out before
(undefined_reach.py). It matters where a program branches, what address it uses, and what it writes
to an array for others: there a finding is told, and such memory counts as defined from there on.

The twin of an output is smaller. What is in an output is defined, or has not been written so far:
there is a byte for as many bytes as all accesses are multiples of, which is 255 from the first
write on. At the end of a launch it tells which elements nobody has written.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.effects import LOADS, pointer_of
from anymetal.ir import types as t
from anymetal.ir.calls import BEGIN, BLOCK_OPERATIONS, COPIES, FOUND, is_undefined
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.layout import marked, scalars
from anymetal.ir.model import (
    Access,
    Argument,
    Const,
    Global,
    Instr,
    Program,
    Value,
    threadgroup_layout,
)
from anymetal.passes.check_bounds import ANYWHERE, NOWHERE, WIDEST, i32, i64, place_of
from anymetal.passes.observe import Observed
from anymetal.passes.shadows import Add, Shadows, all_ones, no_ones, shadow_type
from anymetal.passes.undefined_reach import NONE, UPDATES, Object, Origins, Reach

#: Kinds of findings, by their numbers in targets/cpu/observer/observer.h.
BRANCH, ADDRESS, OUTPUT, ATOMIC, UNWRITTEN, MISSING = range(8, 14)
#: Names of the arguments that hold twins: of an output, and of all threadgroup memory.
TWIN, THREADGROUP_TWIN = "%.twin.", "%.twin.threadgroup"
#: What that of threadgroup memory holds when a threadgroup begins.
INITIAL = "@am.undefined"
#: Bytes of a private array that are set one word after the other, which suits its layout.
_MOST_SET = 512


class Undefined(NamedTuple):
    """What a launch has to know of the twins, which are its last arguments."""

    #: Arguments that have a twin, by number: the place to name, and for how many bytes each is.
    outputs: dict[int, tuple[int, int]]
    threadgroup: int  #: bytes of the twin of threadgroup memory, which comes behind those; or 0
    origins: dict[int, list[tuple[str, str, str]]]  #: of findings, by their place

    def noted(self) -> dict[str, object]:
        """For JSON."""
        return {
            "outputs": self.outputs,
            "threadgroup": self.threadgroup,
            "origins": self.origins,
        }


def run(program: Program, observed: Observed, filled: bool) -> Undefined:
    """Adds shadows, twins and findings. `filled`: outputs have contents before a launch."""
    tracker = _Tracker(program, observed, filled)
    tracker.run()
    return tracker.undefined()


class _Tracker:
    def __init__(self, program: Program, observed: Observed, filled: bool) -> None:
        self.program = program
        self.checks = observed.checks
        self.sites = observed.sites
        self.reach = Reach(
            program, [] if filled else [a for a in program.args if a.output], self._leads
        )
        self.shadows = Shadows(self._add)
        self.block = program.blocks[0]
        self.current: Instr | None = None  #: what is being rewritten
        self.prelude: list[Instr] = []
        self.twins: dict[Value, Value] = {}  #: of pointers
        self.told: dict[int, Origins] = {}
        self.joins: list[tuple[Instr, Instr]] = []  #: phis of values, and of their shadows
        self.outputs: dict[Argument, Instr | None] = {}  #: with the first instruction that writes
        self.threadgroup = 0  #: bytes of its twin
        self.grains = self.reach.grains()  #: of outputs: the bytes for which their twins have one
        self.ones: Global | None = None  #: in the place of a twin that is all written
        self.sink = self._array(t.Array(8, t.I8), 8)
        self._place_twins()

    def run(self) -> None:
        for block in reverse_postorder(self.program.blocks[0]):
            before, block.instrs, self.block = block.instrs, [], block
            for instr in before:
                self.current = instr
                self._instruction(instr)
        self._join()
        self._give_values()
        entry = self.program.blocks[0]
        for instr in self.prelude:
            instr.block = entry
        entry.instrs[:0] = self.prelude

    def undefined(self) -> Undefined:
        origins = {
            site: sorted((o.kind, o.name, place_of(o.place)) for o in found)
            for site, found in self.told.items()
        }
        outputs = {a.index: (self._site_of_output(a), self.grains[a]) for a in self.outputs}
        return Undefined(outputs, self.threadgroup, origins)

    def _site_of_output(self, output: Argument) -> int:
        """The place to name if not all of an output is written: where some of it is."""
        first = self.outputs[output]
        size = first.operands[0].type.size if first else 0
        key = "unwritten", output.index
        return self.sites.number(key, "wrote", size, first.loc if first else None)

    # -- building blocks ------------------------------------------------------------------

    def _add(self, type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
        assert self.current is not None
        return self.block.append(Instr(type_, op, operands, arg, loc=self.current.loc))

    def _first(self, type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
        """An instruction at the start of the program."""
        self.prelude.append(Instr(type_, op, operands, arg))
        return self.prelude[-1]

    def _array(self, type_: t.Type, align: int) -> Instr:
        return self._first(t.Ptr(t.THREAD), "alloca", [], (type_, align))

    # -- twins of memory --------------------------------------------------------------------

    def _leads(self, pointer: Value) -> frozenset[Object | None]:
        """The memory that a pointer may lead into."""
        pointer = self._unchecked(pointer)
        while isinstance(pointer, Instr) and pointer not in self.checks.origins:
            if pointer.op not in ("gep", "freeze"):
                return frozenset((None,))  # made by the checks, for what nobody knows
            pointer = pointer.operands[0]  # a copy
        numbers = self.checks.origins_of(pointer) - {NOWHERE}
        return frozenset(None if n == ANYWHERE else self.checks.places[n] for n in numbers)  # type: ignore[misc]

    def _is_checked(self, pointer: Value) -> bool:
        """Whether this is what a bounds check makes of a pointer."""
        if not isinstance(pointer, Instr) or pointer.op != "select":
            return False
        return pointer.operands[1] in (self.checks.zeros, self.checks.sink)

    def _unchecked(self, pointer: Value) -> Value:
        if self._is_checked(pointer):
            assert isinstance(pointer, Instr)
            return pointer.operands[2]
        return pointer

    def _place_twins(self) -> None:
        """Twins of whole arrays: arguments of the program, or arrays of the thread."""
        program, twinned = self.program, self.reach.twinned
        for output in [a for a in program.args if a in twinned]:
            self.outputs[output] = None
            self.twins[output] = self._argument(f"{TWIN}{output.index}")
        offsets, size = threadgroup_layout(program)
        shared = [g for g in program.globals.values() if g.threadgroup and g in twinned]
        if shared:
            twin = self._argument(THREADGROUP_TWIN)
            initial = bytearray(size)
            for variable in shared:
                at, type_ = offsets[variable.name], variable.value_type
                self.twins[variable] = self._first(twin.type, "gep", [twin], (at,))
                initial[at : at + type_.size] = marked(type_)
            self._table(INITIAL, bytes(initial))
            self.threadgroup = size
        for array in program.private_arrays:
            if array in twinned:
                self.twins[array] = twin_array = self._array(*array.arg)
                self._set(self._first, twin_array, array.arg[0], 0)

    def _argument(self, name: str) -> Argument:
        self.program.args.append(Argument(t.Ptr(t.DEVICE), name, len(self.program.args)))
        self.program.args[-1].alone = True
        return self.program.args[-1]

    def _set(self, add: Add, twin: Value, type_: t.Type, byte: int) -> None:
        """Sets the twin of a private array, but not what is beside of padding."""
        parts = list(scalars(type_))
        if byte and sum(kind.size for _, kind in parts) < type_.size and type_.size > _MOST_SET:
            table = self._table(f"@am.marked.{len(self.program.globals)}", marked(type_))
            operands: list[Value] = [twin, table, i64(type_.size), Const(t.I1, "false")]
            add(t.VOID, "call", operands, "llvm.memcpy.p0.p0.i64")
            return
        if type_.size > _MOST_SET:
            operands = [
                twin,
                Const(t.I8, "-1" if byte else "0"),
                i64(type_.size),
                Const(t.I1, "false"),
            ]
            add(t.VOID, "call", operands, "llvm.memset.p0.i64")
            return
        for offset, kind in parts:
            at = add(twin.type, "gep", [twin], (offset,)) if offset else twin
            value = all_ones(kind) if byte else no_ones(kind)
            if kind == t.I1:
                value = Const(t.I8, value.text)
            add(t.VOID, "store", [value, at], Access(1))

    def _table(self, name: str, data: bytes) -> Global:
        """A table of constants."""
        type_ = t.Array(len(data), t.I8)
        table = Global(t.Ptr(t.CONSTANT), name, type_, 1, _spelled(data))
        self.program.globals[name] = table
        return table

    def _twin(self, pointer: Value, aside: Value) -> Value | None:
        """The pointer to the twin; `aside` is where checked accesses go that stray."""
        if self._is_checked(pointer):
            assert isinstance(pointer, Instr)
            bad, _, plain = pointer.operands
            twin = self.twins.get(plain)
            return twin and self._add(t.PTR, "select", [bad, aside, twin])
        return self.twins.get(pointer)

    def _follow(self, pointer: Instr) -> None:
        """The twin of a pointer that is computed."""
        if self._is_checked(pointer) or not self._is_twinned(pointer):
            return
        # Twins of threadgroup memory are arrays.
        type_ = t.Ptr(t.DEVICE) if pointer.type.space == t.THREADGROUP else pointer.type
        if pointer.op == "phi":
            twin = self._add(type_, "phi", [], list(pointer.arg))
            self.joins.append((pointer, twin))
        else:
            operands = [self._twin_of(v) if v.type.is_ptr else v for v in pointer.operands]
            arg = pointer.arg
            if pointer.op == "gep" and (grain := self._grain(pointer)):
                arg = tuple(number // grain for number in arg)
            twin = self._add(type_, pointer.op, operands, arg)
        self.twins[pointer] = twin

    def _twin_of(self, pointer: Value) -> Value:
        """The pointer to the twin; null is its own."""
        return pointer if isinstance(pointer, Const) else self.twins[pointer]

    def _grain(self, pointer: Value) -> int:
        """For how many bytes the twin has one; 0 for memory that is no output."""
        objects = self.reach.objects(pointer)
        return next((self.grains[o] for o in objects if isinstance(o, Argument)), 0)

    def _is_twinned(self, pointer: Value) -> bool:
        objects = self.reach.objects(pointer)
        return bool(objects) and objects <= self.reach.twinned

    # -- findings -------------------------------------------------------------------------

    def _found(
        self, bad: Value, kind: int, origins: Origins, action: str, pointer: Value | None = None,
        bytes_: int = 0,
    ) -> None:  # fmt: skip
        """Tells that something undefined is used, or of an array that was never written."""
        instr = self.current
        assert instr is not None
        key = "undefined", kind, instr.loc or instr
        site = self.sites.number(key, action, bytes_, instr.loc)
        self.told[site] = self.told.get(site, NONE) | origins
        position: Value = i64(0)
        owner: Value = i32(NOWHERE)
        if pointer is not None:
            pointer = self._unchecked(pointer)
            position, owner = self.checks.distance(pointer), self.checks.owner(pointer)
        operands = [bad, i32(kind), i32(site), position, owner]
        self._add(t.VOID, "call", operands, FOUND)

    def _used(
        self, value: Value, kind: int, action: str, pointer: Value | None = None, bytes_: int = 0
    ) -> None:
        """Where it matters whether a value is defined."""
        shadow = self.shadows.get(value)
        if shadow is not None:
            bad = self.shadows.any(shadow)
            self._found(bad, kind, self.reach.of.get(value, NONE), action, pointer, bytes_)

    # -- instructions -----------------------------------------------------------------------

    def _instruction(self, instr: Instr) -> None:
        if instr.op in (*LOADS, "store", *UPDATES):
            self._address(instr)
        if instr.op == "store":
            self._store(instr)
        elif instr.op in UPDATES:
            self._update(instr)
        elif instr.op == "br" and instr.operands and instr not in self.checks.own:
            self._used(instr.operands[0], BRANCH, "branched")
        elif instr.op == "call" and instr.arg == BEGIN:
            self._begin(instr)
            return
        elif instr.op == "call" and instr.arg.startswith(BLOCK_OPERATIONS):
            self._block(instr)
        if instr.op == "call" and is_undefined(instr.arg):
            self.shadows.of[instr] = all_ones(instr.type)
            return
        self.block.append(instr)
        if instr.op in LOADS:
            self._load(instr)
        elif instr.op == "phi":
            self._phi(instr)
        elif self.reach.reaches(instr):
            shadow = self.shadows.instruction(instr)
            if shadow is not None:
                self.shadows.of[instr] = shadow
        if instr.op in ("gep", "phi", "select", "freeze") and instr.type.is_ptr:
            self._follow(instr)

    def _address(self, instr: Instr) -> None:
        pointer = self._unchecked(pointer_of(instr))
        shadow = self.shadows.get(pointer)
        if shadow is None:
            return
        bad = self.shadows.any(shadow)
        if instr.op == "guarded_load":  # a load that is not done has no address
            no = Const(t.I1, "false")
            ways = [no, bad] if "inverted" in instr.flags else [bad, no]
            bad = self._add(t.I1, "select", [instr.operands[1], *ways])
        self._found(bad, ADDRESS, self.reach.of.get(pointer, NONE), "computed an address")

    def _load(self, instr: Instr) -> None:
        if self.reach.reaches(instr):
            shadow = self._held(instr.operands[0], instr.type, instr)
            if shadow is not None:
                self.shadows.of[instr] = shadow

    def _held(self, pointer: Value, type_: t.Type, like: Instr | None = None) -> Value | None:
        """The shadow of what memory holds, loaded as `like` loads that."""
        grain, bits = self._grain(pointer), shadow_type(type_)
        twin = self._twin(pointer, self._written() if grain else self.checks.zeros)
        if twin is None:
            return None
        held = t.Int(8 * type_.size // grain) if grain else bits
        align = like.arg.align if like else type_.size
        op, rest = (like.op, like.operands[1:]) if like else ("load", [])
        loaded = self._add(held, op, [twin, *rest], Access(max(1, align // (grain or 1))))
        loaded.flags = like.flags if like else ""
        if not grain:
            return loaded
        if grain == 1:
            return self._add(held, "xor", [loaded, all_ones(held)])
        missing = self._add(t.I1, "icmp", [loaded, all_ones(held)], "ne")
        return self._add(bits, "sext", [missing])

    def _written(self) -> Global:
        """Memory that is all written."""
        if self.ones is None:
            self.ones = self._table("@am.ones", b"\xff" * WIDEST)
        return self.ones

    def _store(self, instr: Instr) -> None:
        value, pointer = instr.operands
        size = value.type.size
        shadow: Value = no_ones(value.type)
        if self._is_shared(pointer):
            kind = ATOMIC if instr.arg.atomic else OUTPUT
            self._used(value, kind, "wrote", pointer, size)
        else:
            shadow = self.shadows.full(value)
        self._write(pointer, shadow, instr.arg.align)

    def _write(self, pointer: Value, shadow: Value, align: int) -> None:
        twin = self._twin(pointer, self.sink)
        if twin is None:
            return
        for written in self.reach.objects(pointer) & self.outputs.keys():
            assert isinstance(written, Argument)
            self.outputs[written] = self.outputs[written] or self.current
        if grain := self._grain(pointer):
            shadow, align = all_ones(t.Int(8 * shadow.type.size // grain)), max(1, align // grain)
        elif shadow.type == t.I1:
            shadow = self._add(t.I8, "zext", [shadow])
        self._add(t.VOID, "store", [shadow, twin], Access(align))

    def _is_shared(self, pointer: Value) -> bool:
        """Whether a pointer leads into arrays that others read."""
        leads = self._leads(pointer)
        return bool(leads) and all(isinstance(o, Argument) for o in leads)

    def _update(self, instr: Instr) -> None:
        """An atomic operation: operands and memory must be defined."""
        pointer, *values = instr.operands
        size = values[0].type.size
        for value in values:
            self._used(value, ATOMIC, "updated", pointer, size)
        shadow = self._held(pointer, values[0].type)
        if shadow is None:
            return
        kind = MISSING if self._is_shared(pointer) else ATOMIC
        origins = self.reach.content(pointer)
        self._found(self.shadows.any(shadow), kind, origins, "updated", pointer, size)
        self._write(pointer, no_ones(values[0].type), size)

    def _block(self, instr: Instr) -> None:
        """memcpy, memmove and memset do the same to twins."""
        target, source, length, *rest = instr.operands
        twin = self._twin(target, self.sink)
        if twin is None:
            return
        copied = None
        if instr.arg.startswith(COPIES) and not self._grain(source):
            copied = self._twin(source, self.checks.zeros)
        if copied is not None and not self._grain(target):
            self._add(t.VOID, "call", [twin, copied, length, *rest], instr.arg)
            return
        name = f"llvm.memset.p0.{length.type}"
        byte = Const(t.I8, "-1" if self._grain(target) else "0")
        operands = [twin, byte, length, Const(t.I1, "false")]
        self._add(t.VOID, "call", operands, name)

    def _begin(self, instr: Instr) -> None:
        array = instr.operands[0]
        if array in self.twins:
            assert isinstance(array, Instr)
            self._set(self._add, self.twins[array], array.arg[0], 255)
            self._set(self._add, array, array.arg[0], 0)  # so that all runs are alike

    def _phi(self, instr: Instr) -> None:
        if self.reach.reaches(instr):
            shadow = self._add(shadow_type(instr.type), "phi", [], list(instr.arg))
            self.shadows.of[instr] = shadow
            self.joins.append((instr, shadow))

    # -- at the end -------------------------------------------------------------------------

    def _join(self) -> None:
        """What comes into phis of shadows and of twins is known now."""
        for instr, beside in self.joins:
            twin = self.twins.get(instr) is beside
            of = self._twin_of if twin else self.shadows.full
            beside.operands = [of(value) for value in instr.operands]
        for block in self.program.blocks:
            block.instrs.sort(key=lambda i: i.op != "phi")

    def _give_values(self) -> None:
        """Variables without a value are zero."""
        for instr in self.program.instructions():
            instr.operands = [_zero(v.type) if _is_undefined(v) else v for v in instr.operands]


def _is_undefined(value: Value) -> bool:
    return isinstance(value, Instr) and value.op == "call" and is_undefined(value.arg)


def _zero(type_: t.Type) -> Const:
    if type_.is_ptr:
        return Const(type_, "null")
    narrow: dict[t.Type, str] = {t.HALF: "0xH0000", t.BFLOAT: "0xR0000"}
    return Const(type_, narrow.get(type_, "0.0" if type_.is_float else "0"))


def _spelled(data: bytes) -> str:
    """A constant of LLVM's."""
    letters = "".join(f"\\{byte:02X}" for byte in data)
    return f'[{len(data)} x i8] c"{letters}"'
