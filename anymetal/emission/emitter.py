"""Plain LLVM IR of one thread: a line for each instruction of the thread program.

    text = emit_module(program, "thread", lowering)

Values, phis and blocks are those of the program. The target's lowering table (lowering.py) writes
what depends on the target. What Metal defines and LLVM does not is settled here: loads under a
condition, quotients that do not fit, conversions of numbers that are too large, half and bfloat
where the processor has none. `guarded_load %p, %c` becomes

      br i1 %c, label %load.1, label %loaded.2
    load.1:
      %3 = load float, ptr %p, align 4
      br label %loaded.2
    loaded.2:
      %4 = phi float [ zeroinitializer, %before ], [ %3, %load.1 ]

Pointers are in the address spaces that the target gives them. Those that go to memory, become
numbers or meet ones of other address spaces become generic.

Programs are of the stages GUARDED or CHECKED (ir/spec.py); an instruction for gangs is a Problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from anymetal.emission.lowering import Lowering, large_angle
from anymetal.emission.writer import suffix
from anymetal.ir import types as t
from anymetal.ir.calls import (
    BARRIER,
    BLOCK_OPERATIONS,
    EVENTS,
    FOUND,
    INSIDE,
    LARGE_ANGLE,
    LOG,
    NATIVE,
    POSITIONS,
    SCALE,
    SCALES,
    STRAY,
    TRACE,
    is_cross_lane,
    name_of_intrinsic,
)
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import (
    Argument,
    Block,
    Const,
    Global,
    Instr,
    Program,
    Value,
    threadgroup_layout,
)
from anymetal.ir.printer import print_instr
from anymetal.ir.problem import Problem

_BINARY = frozenset(
    "add sub mul shl lshr ashr and or xor fadd fsub fmul fdiv frem udiv urem".split()
)
_CASTS = frozenset("trunc zext sext fptrunc fpext uitofp sitofp ptrtoint inttoptr bitcast".split())
_SATURATING = re.compile(r"llvm\.(fpto[su]i)\.sat\.")
_NARROW_SUFFIX = re.compile(r"\.b?f16\b")
#: The address of a table in another one.
_TABLE = re.compile(r"\bptr (@\"[^\"]*\"|@[\w.$-]+)")
_ADDRESSED = frozenset("load guarded_load store atomicrmw cmpxchg gep freeze".split())
#: Operations that do not compute with narrow floats.
_MOVES = frozenset("bitcast select freeze extractvalue".split())


def emit_module(program: Program, name: str, lowering: Lowering) -> str:
    """The module of the function that runs one thread of the program, and what that refers to."""
    function = emit(program, name, lowering)
    tables = constant_tables(program, lowering.spaces.get(t.CONSTANT, 0))
    return "\n".join([*tables, *lowering.w.declarations.values(), function])


def emit(program: Program, name: str, lowering: Lowering) -> str:
    """The definition of the function that runs one thread of the program."""
    return ThreadEmitter(program, lowering).run(name)


def constant_tables(program: Program, space: int = 0) -> list[str]:
    """Constant tables at program scope, and the types that their initialisers name. `space`: LLVM's
    number of their address space."""
    place = f"addrspace({space}) " if space else ""
    generic = rf"ptr addrspacecast (ptr addrspace({space}) \1 to ptr)" if space else r"ptr \1"
    return program.type_definitions + [
        f"{g.name} = private unnamed_addr {place}constant "
        f"{_TABLE.sub(generic, g.initializer)}, align {g.align}"
        for g in program.globals.values()
        if not g.threadgroup
    ]


class ThreadEmitter:
    """Writes the blocks as they stand in the program."""

    def __init__(self, program: Program, lowering: Lowering) -> None:
        self.program, self.to, self.w = program, lowering, lowering.w
        self.blocks = reverse_postorder(program.blocks[0])  # values come before their uses
        self.place = {block: number for number, block in enumerate(self.blocks)}
        self.names: dict[Value, str] = {
            argument: lowering.buffer(argument) for argument in program.args
        }
        offsets = threadgroup_layout(program)[0]
        for variable in program.globals.values():
            shared = variable.threadgroup
            self.names[variable] = (
                lowering.threadgroup_variable(variable, offsets[variable.name])
                if shared
                else variable.name
            )
        self.phis: list[tuple[int, Instr]] = []  #: with the numbers of their lines
        self.incoming: dict[tuple[Instr, Block], str] = {}  #: what phis take from blocks
        self.edges: dict[tuple[Block, Block], str] = {}  #: with the label that each comes from
        #: Of addresses, in bytes, where more is known than the program says.
        self.alignments: Mapping[Value, int] = {}
        self.joined: Collection[t.Type] = ()  #: types of accesses that are told of it

    def run(self, name: str) -> str:
        for block in self.blocks:
            if block is not self.blocks[0]:
                self.w.label(self._label(block))
            for instr in block.instrs:
                self._instruction(instr)
        for line, phi in self.phis:
            assert phi.block
            ways = ", ".join(
                f"[ {self.incoming[phi, source]}, %{self.edges[source, phi.block]} ]"
                for source in phi.arg
            )
            self.w.lines[line] = (
                f"  {self.names[phi]} = phi {_flags(phi)}{self.to.spelled(phi.type)} {ways}"
            )
        return self.to.function(name, "\n".join(self.w.entry_lines), "\n".join(self.w.lines))

    def _label(self, block: Block) -> str:
        return f"block.{self.place[block]}"

    def _name(self, value: Value) -> str:
        match value:
            case Const():
                null = self.to.spelled(value.type) if value.text == "null" else "ptr"
                return value.text if null == "ptr" else f"addrspacecast (ptr null to {null})"
            case Argument() | Global() | Instr():
                return self.names[value]
        raise Problem(f"emitter: no operand of a thread: {value!r}")

    def _as(self, value: Value, type_: t.Type) -> str:
        return self.to.converted(self._name(value), value.type, type_, self.w.lines)

    # -- one instruction ------------------------------------------------------------------

    def _instruction(self, instr: Instr) -> None:
        if instr.op == "phi":
            self.names[instr] = f"%{self.w.fresh('phi')}"
            self.phis.append((len(self.w.lines), instr))
            self.w.lines.append("")
            return
        self.w.mark = self.to.mark(instr)
        names = [self._as(v, _taken(instr, n)) for n, v in enumerate(instr.operands)]
        result = self._emitted(instr, names)
        if instr.has_result:
            self.names[instr] = result

    def _emitted(self, instr: Instr, names: list[str]) -> str:
        match instr.op:
            case "br":
                self._branch(instr, names)
            case "ret" | "unreachable":  # should a thread come here, it ends
                self.w.do("br label %function.end")
            case "fence":
                self.w.do(f"fence {self._scope}seq_cst")
            case "store":
                self._store(instr, *names)
            case "alloca":
                return self.to.private_array(instr)
            case "load":
                return self._load(instr, names[0])
            case "guarded_load":
                return self._guarded_load(instr, *names)
            case "atomicrmw" | "cmpxchg":
                return self._update(instr, names)
            case "gep":
                return self._gep(instr, names)
            case "call":
                return self._call(instr, names)
            case _:
                return self._computed(instr, names)
        return ""

    # -- control flow ---------------------------------------------------------------------

    def _branch(self, instr: Instr, names: list[str]) -> None:
        source = instr.block
        assert source
        here, back = self.w.at, {}
        labels = []
        for target in dict.fromkeys(instr.arg):
            for phi in target.phis:
                value = phi.operands[phi.arg.index(source)]
                self.incoming[phi, source] = self._as(value, phi.type)
            label = self._label(target)
            if self.place[target] <= self.place[source]:
                label = self.w.fresh("again")
                back[target] = label
            self.edges[source, target] = here
            labels.append(label)
        if len(labels) == 1:
            self.w.do(f"br label %{labels[0]}")
        else:
            self.w.do(f"br i1 {names[0]}, label %{labels[0]}, label %{labels[1]}")
        for target, label in back.items():
            self.w.label(label)
            self._repeat(source, target)

    def _repeat(self, source: Block, target: Block) -> None:
        stop, label = self.to.repeats(source, target), self._label(target)
        self.edges[source, target] = self.w.at
        if stop:
            self.w.do(f"br i1 {stop}, label %function.end, label %{label}")
        else:
            self.w.do(f"br label %{label}")

    # -- memory ---------------------------------------------------------------------------

    @property
    def _scope(self) -> str:
        return f"{self.to.scope} " if self.to.scope else ""

    def _accessed(self, instr: Instr, value: str, address: str) -> str:
        """The line of a load or a store; `value` is the type, or what is stored."""
        access = instr.arg
        words = ("atomic " if access.atomic else "") + ("volatile " if access.volatile else "")
        order = f" {self._scope}monotonic" if access.atomic else ""
        op = "store" if instr.op == "store" else "load"
        pointer = self.to.spelled(instr.operands[op == "store"].type)
        align = max(access.align, self._known_alignment(instr))
        return f"{op} {words}{value}, {pointer} {address}{order}, align {align}"

    def _known_alignment(self, instr: Instr) -> int:
        """Of types that LLVM may join to vectors."""
        type_, pointer = instr.type, instr.operands[0]
        if instr.op == "store":
            type_, pointer = instr.operands[0].type, instr.operands[1]
        return self.alignments.get(pointer, 1) if type_ in self.joined else 1

    def _load(self, instr: Instr, address: str) -> str:
        return self.w.value(self._accessed(instr, str(instr.type), address))

    def _store(self, instr: Instr, value: str, address: str) -> None:
        self.w.do(self._accessed(instr, f"{instr.operands[0].type} {value}", address))

    def _guarded_load(self, instr: Instr, address: str, condition: str) -> str:
        here, load, loaded = self.w.at, self.w.fresh("load"), self.w.fresh("loaded")
        yes, no = (loaded, load) if "inverted" in instr.flags else (load, loaded)
        self.w.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.w.label(load)
        value = self._load(instr, address)
        self.w.do(f"br label %{loaded}")
        self.w.label(loaded)
        # Nobody looks at the zero. But poison would be a register without a value, and NVIDIA's
        # assembler makes wrong code of such ones.
        zero = f"zeroinitializer, %{here}"
        return self.w.value(f"phi {instr.type} [ {zero} ], [ {value}, %{load} ]")

    def _update(self, instr: Instr, names: list[str]) -> str:
        type_, order = instr.operands[1].type, f"{self._scope}monotonic"
        place = f"{self.to.spelled(instr.operands[0].type)} {names[0]}"
        values = ", ".join(f"{type_} {name}" for name in names[1:])
        if instr.op == "cmpxchg":
            order = f"{order} monotonic, align {instr.arg.align}"
            return self.w.value(f"cmpxchg {place}, {values} {order}")
        operation, access = instr.arg
        volatile = "volatile " if access.volatile else ""
        order = f"{order}, align {access.align}"
        return self.w.value(f"atomicrmw {volatile}{operation} {place}, {values} {order}")

    def _gep(self, instr: Instr, names: list[str]) -> str:
        """A step for each index, without flags, which hold for the whole only."""
        at, pointer = names[0], self.to.spelled(instr.type)
        for name, value, scale in zip(names[1:], instr.operands[1:], instr.arg[:-1], strict=True):
            unit = "i8" if scale == 1 else f"[{scale} x i8]"
            at = self.w.value(f"getelementptr {unit}, {pointer} {at}, {value.type} {name}")
        if instr.arg[-1]:
            at = self.w.value(f"getelementptr i8, {pointer} {at}, i64 {instr.arg[-1]}")
        return at

    # -- calls ----------------------------------------------------------------------------

    def _call(self, instr: Instr, names: list[str]) -> str:
        callee: str = instr.arg
        if callee == BARRIER:
            self.to.barrier(instr)
        elif is_cross_lane(callee):
            return self.to.cross_lane(instr, names)
        elif callee in POSITIONS:
            return self.to.position(callee.removeprefix("__am_"))
        elif callee in (SCALES, SCALE):  # no such instruction: SCALES says so, SCALE is unused
            return "false" if callee == SCALES else names[0]
        elif callee == LARGE_ANGLE:
            return large_angle(self.w, names)
        elif callee == LOG:
            self.to.log(instr, names)
        elif callee == TRACE:
            self.to.trace(instr, names)
        elif callee == STRAY:
            self._if_so(instr, names, self.to.stray)
        elif callee == FOUND:
            self._if_so(instr, names, self.to.event)
        elif callee == INSIDE:
            return self.w.value(f"icmp ult i64 {names[0]}, {names[1]}")
        elif callee in EVENTS:
            self.to.event(instr, names)
        elif callee.startswith("__am_"):
            raise Problem(f"emitter: a call for gangs: {print_instr(instr)}")
        elif callee.startswith(BLOCK_OPERATIONS):
            types = [v.type for v in instr.operands[:-1]]
            spelled = map(self.to.spelled, types)
            args = [*zip(spelled, names[:-1], strict=True), ("i1", "false")]
            self.w.call("void", self._block_operation(callee, types), args)
        else:
            return self._computed(instr, names)
        return ""

    def _block_operation(self, callee: str, types: list[t.Type]) -> str:
        """LLVM's name of a memcpy, memmove or memset for these types."""
        kinds = [f"p{self.to.spaces.get(v.space, 0)}" if v.is_ptr else str(v) for v in types]
        kinds = [kind for kind in kinds if kind != "i8"]  # what memset writes
        return ".".join([*callee.split(".")[:2], *kinds])

    def _if_so(
        self, instr: Instr, names: list[str], told: Callable[[Instr, list[str]], None]
    ) -> None:
        """Tells if the first operand holds."""
        wrong, fine = self.w.fresh("wrong"), self.w.fresh("fine")
        self.w.do(f"br i1 {names[0]}, label %{wrong}, label %{fine}")
        self.w.label(wrong)
        told(instr, names)
        self.w.do(f"br label %{fine}")
        self.w.label(fine)

    # -- computing ------------------------------------------------------------------------

    def _computed(self, instr: Instr, names: list[str]) -> str:
        """An instruction or call that does nothing but give a value."""
        op, flags = instr.op, _flags(instr)
        types = [_taken(instr, n) for n in range(len(instr.operands))]
        if op not in _MOVES and any(self._is_narrow(type_) for type_ in (instr.type, *types)):
            return self._in_float(instr, names)
        if op == "call":
            return self._function(instr, names)
        if op in ("sdiv", "srem"):
            return self._signed_quotient(instr, *names)
        if op in ("fptosi", "fptoui"):
            return self._saturated(op, instr, names[0])
        spelled = [self.to.spelled(type_) for type_ in types]
        if op in ("icmp", "fcmp"):
            text = f"{op} {flags}{instr.arg} {spelled[0]} {names[0]}, {names[1]}"
        elif op == "select":
            pairs = zip(spelled, names, strict=True)
            text = f"select {flags}" + ", ".join(f"{type_} {name}" for type_, name in pairs)
        elif op in ("fneg", "freeze"):
            text = f"{op} {flags}{spelled[0]} {names[0]}"
        elif op == "extractvalue":
            text = f"extractvalue {spelled[0]} {names[0]}, {instr.arg}"
        elif op in _CASTS:
            text = f"{op} {flags}{spelled[0]} {names[0]} to {instr.type}"
        elif op in _BINARY:
            text = f"{op} {flags}{instr.type} {names[0]}, {names[1]}"
        else:
            raise Problem(f"emitter: no instruction of a thread: {print_instr(instr)}")
        return self.w.value(text)

    def _function(self, instr: Instr, names: list[str]) -> str:
        saturating = _SATURATING.match(instr.arg)
        if saturating:
            return self._saturated(saturating[1], instr, names[0])
        if name_of_intrinsic(instr.arg) in NATIVE:
            return self.to.call(instr, names)
        return self.to.maths(instr, names)

    def _saturated(self, op: str, instr: Instr, name: str) -> str:
        source = instr.operands[0].type
        callee = f"llvm.{op}.sat.{suffix(instr.type)}.{suffix(source)}"
        return self.w.call(str(instr.type), callee, [(str(source), name)])

    def _signed_quotient(self, instr: Instr, name: str, divisor: str) -> str:
        """A signed quotient, without asking LLVM for MIN / -1, which does not fit. (The front end
        has replaced zero divisors, and constant ones are never -1: that is a negation.)"""
        op, type_ = instr.op, instr.type
        if isinstance(instr.operands[1], Const):
            return self.w.value(f"{op} {type_} {name}, {divisor}")
        minus = self.w.value(f"icmp eq {type_} {divisor}, -1")
        safe = self.w.value(f"select i1 {minus}, {type_} 1, {type_} {divisor}")
        result = self.w.value(f"{op} {type_} {name}, {safe}")
        if op == "srem":
            return result
        negated = self.w.value(f"sub {type_} 0, {name}")
        return self.w.value(f"select i1 {minus}, {type_} {negated}, {type_} {result}")

    # -- half and bfloat ------------------------------------------------------------------

    def _is_narrow(self, type_: t.Type) -> bool:
        return type_ in t.NARROW and not self.to.converts(type_)

    def _in_float(self, instr: Instr, names: list[str]) -> str:
        """An operation of narrow floats in float, rounded once."""
        types = [v.type for v in instr.operands]
        names = [
            self.to.widened(type_, name) if self._is_narrow(type_) else name
            for type_, name in zip(types, names, strict=True)
        ]
        types = [t.FLOAT if self._is_narrow(type_) else type_ for type_ in types]
        if instr.op in ("fpext", "fptrunc"):
            result = self._resized(types[0], names[0], instr.type)
        else:
            type_ = t.FLOAT if self._is_narrow(instr.type) else instr.type
            arg = _NARROW_SUFFIX.sub(".f32", instr.arg) if instr.op == "call" else instr.arg
            operands: list[Value] = [Value(each) for each in types]
            result = self._computed(Instr(type_, instr.op, operands, arg, instr.flags), names)
        return self.to.narrowed(instr.type, result) if self._is_narrow(instr.type) else result

    def _resized(self, source: t.Type, name: str, target: t.Type) -> str:
        """A float converted to `target`, or to float where `target` is narrow."""
        type_ = t.FLOAT if self._is_narrow(target) else target
        if source == type_:
            return name
        op = "fpext" if source.size < type_.size else "fptrunc"
        return self.w.value(f"{op} {source} {name} to {type_}")


def _flags(instr: Instr) -> str:
    return f"{instr.flags} " if instr.flags else ""


def _taken(instr: Instr, number: int) -> t.Type:
    """The type that an instruction takes an operand as."""
    type_ = instr.operands[number].type
    if not type_.is_ptr:
        return type_
    if instr.op == "select":
        return instr.type
    address = instr.op in _ADDRESSED and number == (instr.op == "store")
    block = instr.op == "call" and instr.arg.startswith(BLOCK_OPERATIONS)
    return type_ if address or block else t.PTR
