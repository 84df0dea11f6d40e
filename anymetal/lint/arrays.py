"""Rules about the arrays that a kernel is given: loads before checks, outputs, unused inputs."""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.analysis.effects import LOADS, is_atomic, is_plain, pointer_of
from anymetal.analysis.needs import ALWAYS, Needs
from anymetal.analysis.objects import origins
from anymetal.findings.model import Finding
from anymetal.frontend.metal_tokens import tokenize
from anymetal.ir.model import Argument, Block, Instr, Value
from anymetal.lint.flow import Flow, key_of, sources
from anymetal.lint.kernels import Kernel
from anymetal.lint.look import Look, finding

_RELATIONS = frozenset(("ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"))
_LINEAR = frozenset(("add", "sub", "mul", "shl", "zext", "sext", "trunc", "or", "freeze", "gep"))
_LOGIC = frozenset(("and", "or", "xor", "select", "freeze"))
_MOST_PARTS = 60


def check(look: Look) -> Iterator[Finding]:
    """AM201, AM202."""
    yield from _loads_before_checks(look)
    if look.kernel.node is not None:  # in a Metal file it is unknown what is an output
        yield from _unwritten(look)


# -- AM201 ------------------------------------------------------------------------------------


def _loads_before_checks(look: Look) -> Iterator[Finding]:
    flow = look.flow
    needs = Needs(flow.known)
    found: dict[object, Finding] = {}
    for block in reversed(list(needs.idom)):
        for instr in reversed(block.instrs):
            need = needs.visit(instr)
            if instr.op != "load" or not is_plain(instr) or need == ALWAYS or not need:
                continue
            array = flow.argument(instr)
            if array is None or array.describes:
                continue
            if _check_of(flow, instr, _conditions_around(flow, block)) is not None:
                continue
            check = _check_of(flow, instr, [literal for term in need for literal, _ in term])
            if check is not None and instr.loc is not None:
                found.setdefault(instr.loc, _too_early(look, instr, array, check))
    yield from reversed(found.values())


def _conditions_around(flow: Flow, block: Block) -> list[Instr]:
    """The conditions that threads have passed when they come to a block."""
    branches = flow.partings(block, flow.threads)
    conditions = [branch.terminator.operands[0] for branch in branches]
    return [one for one in conditions if isinstance(one, Instr)]


def _too_early(look: Look, load: Instr, array: Argument, check: Instr) -> Finding:
    return look.finding(
        "AM201",
        look.access(load),
        f"`{array.name.strip('%')}` is loaded before its index is checked",
        look.place(check, "the index is checked here, and the value is used only if it is inside"),
        hint="load only where the index is inside: `inside ? x[i] : 0`, or clamp the index first",
    )


def _check_of(flow: Flow, load: Instr, conditions: list[Instr]) -> Instr | None:
    """The comparison among some conditions that looks like a bounds check of a load's index."""
    address = _linear_parts(pointer_of(load))
    for condition in conditions:
        for compare in _comparisons(condition):
            for number, other in (compare.operands, compare.operands[::-1]):
                if not flow.threads[other].is_uniform or flow.threads[number].is_uniform:
                    continue
                parts = _linear_parts(number)
                varying = {part for part in parts if not flow.threads[part].is_uniform}
                if varying and varying <= address and _is_position(parts & address):
                    return compare
    return None


def _comparisons(condition: Instr) -> Iterator[Instr]:
    work: list[Value] = [condition]
    for _ in range(_MOST_PARTS):
        if not work:
            return
        one = work.pop()
        if isinstance(one, Instr) and one.op == "icmp" and one.arg in _RELATIONS:
            yield one
        elif isinstance(one, Instr) and one.op in _LOGIC:
            work += one.operands


def _linear_parts(value: Value) -> set[Instr]:
    """The positions, loaded values and counters that a value is a sum of multiples of. What goes
    through a minimum, a remainder and the like is a part of its own."""
    found: set[Instr] = set()
    work, seen = [value], {value}
    while work and len(seen) < _MOST_PARTS:
        one = work.pop()
        if not isinstance(one, Instr):
            continue
        if one.op not in _LINEAR:
            found.add(one)
            continue
        new = [v for v in one.operands if v not in seen and not isinstance(v, Argument)]
        seen.update(new)
        work += new
    return found


def _is_position(parts: set[Instr]) -> bool:
    """Whether a number runs over a whole array, and not only over the threads of a threadgroup."""
    calls = {part.arg for part in parts if part.op == "call"}
    within = any(name.startswith(("__am_thread_", "__am_lane", "__am_gang")) for name in calls)
    return not within or any(
        part.op != "call" or part.arg.startswith("__am_group") for part in parts
    )


# -- AM202 ------------------------------------------------------------------------------------


def _unwritten(look: Look) -> Iterator[Finding]:
    flow, kernel = look.flow, look.kernel
    writes: dict[Argument, list[Instr]] = {argument: [] for argument in flow.program.args}
    for instr in flow.program.instructions():
        if instr.op != "store" and not is_atomic(instr):
            continue
        array = flow.argument(instr)
        if array is not None:
            writes[array].append(instr)
        elif _leads_anywhere(flow, instr):
            return  # this may be a write to any array
    for argument, parameter in zip(flow.program.args, look.source.parameters, strict=True):
        if parameter.kind != "output":
            continue
        if not writes[argument]:
            message = f"the output `{parameter.name}` is never written"
            yield look.finding("AM202", kernel.at_argument("output_names"), message)
        elif kernel.launches and not any(launch.initialised for launch in kernel.launches):
            yield from _unwritten_where(look, parameter.name, writes[argument])


def _leads_anywhere(flow: Flow, access: Instr) -> bool:
    """Whether an access may be to an array, though it is unknown to which."""
    found = flow.known(origins).get(pointer_of(access), frozenset())
    return any(
        isinstance(o, Argument) or (isinstance(o, Instr) and o.op != "alloca") for o in found
    )


def _unwritten_where(look: Look, name: str, writes: list[Instr]) -> Iterator[Finding]:
    """The writes are all behind a branch that depends on data, and one way has none."""
    flow = look.flow
    if any(_is_scattered(write) or is_atomic(write) for write in writes):
        return
    blocks = {write.block for write in writes if write.block is not None}
    for branch in flow.program.blocks:
        if branch not in flow.threads.divergent or not _is_of_data(branch.terminator.operands[0]):
            continue
        if not blocks <= flow.region(branch) or blocks & flow.other_ways(branch, writes[0].block):
            continue
        # Nothing else keeps threads from the writes: those conditions are about positions.
        key = key_of(branch.terminator.operands[0])
        around = flow.guards(branch)
        if any({k for k, _ in flow.guards(b) - around} != {key} for b in blocks):
            continue
        yield look.finding(
            "AM202",
            look.access(writes[0]),
            f"`{name}` stays unwritten where this condition does not hold",
            look.place(branch.terminator, "the condition depends on the data"),
            hint="write a value on both ways, or pass init_value in the call",
        )
        return


def _is_scattered(write: Instr) -> bool:
    """Whether the data decides where it is written."""
    return any(_is_data(part) for part in sources(pointer_of(write)))


def _is_of_data(condition: Value) -> bool:
    """Whether a condition depends on an element of an array, and on no counter."""
    return any(_is_data(part) for part in sources(condition))


def _is_data(part: Instr) -> bool:
    if part.op not in LOADS:
        return part.op in ("atomicrmw", "cmpxchg")
    pointer: Value = part.operands[0]
    indexed = False
    while isinstance(pointer, Instr) and pointer.op == "gep":
        indexed |= len(pointer.operands) > 1
        pointer = pointer.operands[0]
    return isinstance(pointer, Argument) and not pointer.describes and indexed


# -- AM203 ------------------------------------------------------------------------------------


def unused_inputs(kernel: Kernel) -> Iterator[Finding]:
    """AM203: an input that neither body nor header mentions."""
    words = {
        token.text
        for text in (kernel.body.value, kernel.header.value)
        for token in tokenize(text)
        if token.kind == "word"
    }
    directives = " ".join(
        token.text for token in tokenize(kernel.header.value) if token.kind == "directive"
    )
    for name in kernel.inputs:
        used = {name, f"{name}_shape", f"{name}_strides", f"{name}_ndim", f"{name}_size"}
        if not used & words and name not in directives and kernel.node is not None:
            yield finding(
                kernel,
                "AM203",
                kernel.at_argument("input_names"),
                f"the kernel does not use its input `{name}`",
                hint="each input is evaluated and, if it is not contiguous, copied for the kernel",
            )
