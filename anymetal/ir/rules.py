"""The rules of each operation: which operands, `arg`, flags and result it may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from anymetal.ir import types as t
from anymetal.ir.calls import INTRINSICS, is_known
from anymetal.ir.model import Access, Block, Instr, Value
from anymetal.ir.types import Type


class Broken(Exception):
    """An instruction breaks a rule, which the text names."""


def need(holds: bool, rule: str) -> None:
    """Raises Broken unless the rule holds."""
    if not holds:
        raise Broken(rule)


# ------------------------------------------------------------------- types, args and flags

Kind = Callable[[Type], bool]
Rule = Callable[[Instr], None]


def _int(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Int)


def _float(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Float)


def _ptr(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Ptr)


def _value(type_: Type) -> bool:
    """Whether a lane can hold it in a register."""
    return _int(type_) or _float(type_) or _ptr(type_)


def _in_memory(type_: Type) -> bool:
    """Whether it lies in memory in whole bytes."""
    element = type_.scalar
    return _value(type_) and (not isinstance(element, t.Int) or element.bits % 8 == 0)


def _bits(type_: Type) -> int:
    element = type_.scalar
    return type_.lanes * (element.bits if isinstance(element, t.Int) else element.size * 8)


def _operands(instr: Instr, *kinds: Kind) -> list[Type]:
    """The types of the operands, which must be of these kinds."""
    types = [v.type for v in instr.operands]
    need(len(types) == len(kinds), f"takes {len(kinds)} operands")
    for number, (type_, kind) in enumerate(zip(types, kinds, strict=True)):
        need(kind(type_), f"operand {number} must not be {type_}")
    return types


def _result(instr: Instr, type_: Type) -> None:
    need(instr.type == type_, f"the result must be {type_}")


def _no_arg(instr: Instr) -> None:
    need(instr.arg is None, "takes no arg")


def _access(access: Any, type_: Type, atomic: bool | None = None) -> None:
    """Checks the arg of an instruction that loads or stores this type."""
    need(isinstance(access, Access), "arg must be an Access")
    _alignment(access.align)
    need(access.align <= type_.scalar.size, "no access relies on more than its elements' alignment")
    need(atomic is None or access.atomic == atomic, f"Access.atomic must be {atomic}")


def _alignment(align: int) -> None:
    need(align > 0 and not align & (align - 1), "align is a power of two")


#: A flag of accesses: values are in the order of memory (simd/access/memory_order.py).
ORDERED = "ordered"
#: From vectors in the order of memory to member number `arg` of the group that they hold.
TO_LANES = "in_lane_order"
_FAST = frozenset("fast nnan ninf nsz arcp contract afn reassoc".split())
_FLAGS = {
    **dict.fromkeys("add sub mul shl trunc".split(), frozenset(("nuw", "nsw"))),
    **dict.fromkeys("udiv sdiv lshr ashr".split(), frozenset(("exact",))),
    **dict.fromkeys(("zext", "uitofp"), frozenset(("nneg",))),
    **dict.fromkeys("fneg fadd fsub fmul fdiv frem fcmp fptrunc fpext".split(), _FAST),
    **dict.fromkeys("select phi call".split(), _FAST),
    "or": frozenset(("disjoint",)),
    "icmp": frozenset(("samesign",)),
    "gep": frozenset(("inbounds", "nusw", "nuw")),
    "guarded_load": frozenset(("inverted",)),
    **dict.fromkeys(("load", "store", "atomicrmw"), frozenset((ORDERED,))),
}  # fmt: skip


def flags_of(instr: Instr) -> frozenset[str]:
    """The flags that an instruction may have."""
    known = _FLAGS.get(instr.op, frozenset())
    if known is _FAST and not (_float(instr.type) or instr.op == "fcmp"):
        return frozenset()  # a selection of integers
    return known


# --------------------------------------------------------------------- rules of operations

_PREDICATES = {
    "icmp": frozenset("eq ne ugt uge ult ule sgt sge slt sle".split()),
    "fcmp": frozenset("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true false".split()),
}
_INTEGER_UPDATES = frozenset(
    "xchg add sub and nand or xor max min umax umin uinc_wrap udec_wrap usub_cond usub_sat".split()
)
_FLOAT_UPDATES = frozenset("xchg fadd fsub fmax fmin fmaximum fminimum".split())
_TYPE_IN_NAME = re.compile(r"v?\d*(?:f16|bf16|f32|f64|i\d+|p0)")
_TYPE_NAMES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


def _binary(kind: Kind) -> Rule:
    def rule(instr: Instr) -> None:
        left, right = _operands(instr, kind, kind)
        need(left == right, "both operands must have one type")
        _result(instr, left)
        _no_arg(instr)

    return rule


def _unary(kind: Kind) -> Rule:
    def rule(instr: Instr) -> None:
        (type_,) = _operands(instr, kind)
        _result(instr, type_)
        _no_arg(instr)

    return rule


def _cast(source: Kind, target: Kind, bits: str = "") -> Rule:
    """A cast between these element types; `bits` says how the width must change: <, > or =."""
    compare = {"<": int.__lt__, ">": int.__gt__, "=": int.__eq__}.get(bits)

    def rule(instr: Instr) -> None:
        (type_,) = _operands(instr, source)
        need(target(instr.type), f"the result must not be {instr.type}")
        need(bits == "=" or type_.lanes == instr.type.lanes, "casts keep the number of elements")
        changes = compare is None or compare(_bits(instr.type), _bits(type_))
        need(changes, f"the result must have {bits} bits than the operand")
        _no_arg(instr)

    return rule


def _alike(one: Type, other: Type) -> bool:
    """Whether types are the same, but for address spaces."""
    return one == other or (one.is_ptr and other.is_ptr)


def _joined(instr: Instr, types: list[Type]) -> None:
    """The result is one of these: a pointer has their address space, or a generic one has any."""
    for type_ in types:
        holds = type_ == instr.type or (instr.type == t.PTR and type_.is_ptr)
        need(holds, f"the result must be {type_}{f' ({type_.space})' if type_.space else ''}")


def _compare(instr: Instr) -> None:
    kind = _float if instr.op == "fcmp" else lambda type_: _int(type_) or _ptr(type_)
    left, right = _operands(instr, kind, kind)
    need(_alike(left, right), "both operands must have one type")
    _result(instr, t.Vector(left.lanes, t.I1) if left.is_vector else t.I1)
    need(instr.arg in _PREDICATES[instr.op], f"{instr.arg!r} is no predicate")


def _select(instr: Instr) -> None:
    condition, yes, no = _operands(instr, _int, _value, _value)
    need(condition in (t.I1, t.Vector(yes.lanes, t.I1)), "the condition must be i1")
    need(_alike(yes, no), "both choices must have one type")
    _joined(instr, [yes, no])
    _no_arg(instr)


def _phi(instr: Instr) -> None:
    _joined(instr, _operands(instr, *[_value] * len(instr.operands)))
    blocks = isinstance(instr.arg, list) and all(isinstance(b, Block) for b in instr.arg)
    need(blocks and len(instr.arg) == len(instr.operands), "arg must list a block per operand")


def _br(instr: Instr) -> None:
    need(isinstance(instr.arg, list) and len(instr.arg) in (1, 2), "arg must list 1 or 2 blocks")
    types = _operands(instr, *[_int] * (len(instr.arg) - 1))
    need(types in ([], [t.I1]), "the condition must be i1")
    _result(instr, t.VOID)


def _end(instr: Instr) -> None:
    _operands(instr)
    _result(instr, t.VOID)
    _no_arg(instr)


#: What makes such an offset.
_OFFSETS = frozenset(("alloca", "gep", "phi", "select"))


def is_offset(address: Value) -> bool:
    """Whether an address is an offset into an interleaved private array
    (simd/emit/private_memory.py)."""
    return address.type == t.I64 and isinstance(address, Instr) and address.op in _OFFSETS


def _gep(instr: Instr) -> None:
    base = instr.operands[0]
    _operands(instr, _int if is_offset(base) else _ptr, *[_int] * (len(instr.operands) - 1))
    like = base.type.is_vector and _ptr(instr.type)
    need(like or instr.type == base.type, "the result must be like the base")
    numbers = isinstance(instr.arg, tuple) and all(isinstance(n, int) for n in instr.arg)
    need(numbers and len(instr.arg) == len(instr.operands), "arg: a scale per index, the offset")


def _address(value: Value) -> Kind:
    return lambda type_: type_.is_ptr or is_offset(value)


def _alloca(instr: Instr) -> None:
    _operands(instr)
    need(
        instr.type.is_ptr or instr.type == t.I64,
        "the result must be ptr, or i64 if it is interleaved",
    )
    type_, align = instr.arg
    need(isinstance(type_, Type) and type_.size >= 0, "arg must be a type and its alignment")
    _alignment(align)


def _load(instr: Instr) -> None:
    _operands(instr, _address(instr.operands[0]))
    packed = instr.type.is_vector and instr.type.scalar == t.I1
    need(_in_memory(instr.type) or packed, f"cannot load {instr.type}")
    _access(instr.arg, instr.type)


def _guarded_load(instr: Instr) -> None:
    _operands(instr, _address(instr.operands[0]), lambda type_: type_ == t.I1)
    need(_in_memory(instr.type), f"cannot load {instr.type}")
    _access(instr.arg, instr.type, atomic=False)


def _store(instr: Instr) -> None:
    value, _ = _operands(instr, _value, _address(instr.operands[-1]))
    packed = value.is_vector and value.scalar == t.I1
    need(_in_memory(value) or packed, f"cannot store {value}")
    _result(instr, t.VOID)
    _access(instr.arg, value)


def _atomicrmw(instr: Instr) -> None:
    _, value = _operands(instr, _ptr, _in_memory)
    _result(instr, value)
    operation, access = instr.arg
    known = _FLOAT_UPDATES if _float(value) else _INTEGER_UPDATES
    need(not value.is_vector and operation in known, f"no atomic {operation!r} of {value}")
    _access(access, value, atomic=True)


def _cmpxchg(instr: Instr) -> None:
    _, expected, desired = _operands(instr, _ptr, _in_memory, _in_memory)
    need(expected == desired and not expected.is_vector, "both values must have one type")
    _result(instr, t.Struct((expected, t.I1)))
    _access(instr.arg, expected, atomic=True)


def _extractvalue(instr: Instr) -> None:
    (struct,) = _operands(instr, lambda type_: isinstance(type_, t.Struct))
    assert isinstance(struct, t.Struct)
    need(instr.arg in range(len(struct.fields)), f"no field {instr.arg}")
    _result(instr, struct.fields[instr.arg])


def _extractelement(instr: Instr) -> None:
    vector, _ = _operands(instr, lambda type_: type_.is_vector, _int)
    _result(instr, vector.scalar)
    _no_arg(instr)


def _insertelement(instr: Instr) -> None:
    vector, element, _ = _operands(instr, lambda type_: type_.is_vector, _value, _int)
    need(element == vector.scalar, "the element must have the vector's element type")
    _result(instr, vector)
    _no_arg(instr)


def _shufflevector(instr: Instr) -> None:
    first, second = _operands(instr, *[lambda type_: type_.is_vector] * 2)
    need(first == second, "both operands must have one type")
    need(all(-1 <= n < 2 * first.lanes for n in instr.arg), "no such element")
    _result(instr, t.Vector(len(instr.arg), first.scalar))


def _reorder(instr: Instr) -> None:
    types = _operands(instr, *[_value] * len(instr.operands))
    need(len(set(types)) == 1, "all operands must have one type")
    _result(instr, types[0])
    need(instr.arg in range(len(types)), "arg: the number of the result")


def _call(instr: Instr) -> None:
    types, callee = [v.type for v in instr.operands], instr.arg
    need(is_known(callee), f"{callee} is no function that programs may call")
    if callee in INTRINSICS:
        result, parameters = INTRINSICS[callee]
        need(
            len(types) == len(parameters) and all(map(_alike, types, parameters)),
            f"takes ({', '.join(map(str, parameters))})",
        )
        _result(instr, result)
    elif callee.startswith("llvm."):
        names = {_name_of(type_) for type_ in (instr.type, *types)}
        if isinstance(instr.type, t.Struct):
            names |= {_name_of(type_) for type_ in instr.type.fields}
        for word in callee.split(".")[2:]:
            if _TYPE_IN_NAME.fullmatch(word):
                need(word in names, f"neither result nor operands are {word}")
    else:
        scalar = t.FLOAT if callee.endswith("f") and callee != "erf" else t.DOUBLE
        _result(instr, scalar)


def _name_of(type_: Type) -> str:
    """A type as it stands in the names of LLVM's intrinsics."""
    element = _TYPE_NAMES.get(str(type_.scalar), str(type_.scalar))
    return f"v{type_.lanes}{element}" if type_.is_vector else element


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        "add sub mul udiv sdiv urem srem shl lshr ashr and or xor".split(), _binary(_int)
    ),
    **dict.fromkeys("fadd fsub fmul fdiv frem".split(), _binary(_float)),
    "fneg": _unary(_float),
    "freeze": _unary(_value),
    "trunc": _cast(_int, _int, "<"),
    "zext": _cast(_int, _int, ">"),
    "sext": _cast(_int, _int, ">"),
    "fptrunc": _cast(_float, _float, "<"),
    "fpext": _cast(_float, _float, ">"),
    "fptoui": _cast(_float, _int),
    "fptosi": _cast(_float, _int),
    "uitofp": _cast(_int, _float),
    "sitofp": _cast(_int, _float),
    "ptrtoint": _cast(_ptr, _int),
    "inttoptr": _cast(_int, _ptr),
    "bitcast": _cast(_value, _value, "="),
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "phi": _phi,
    "br": _br,
    "ret": _end,
    "unreachable": _end,
    "fence": _end,
    "gep": _gep,
    "alloca": _alloca,
    "load": _load,
    "guarded_load": _guarded_load,
    "store": _store,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "extractvalue": _extractvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "call": _call,
    TO_LANES: _reorder,
}
VECTOR_ONLY = frozenset(("extractelement", "insertelement", "shufflevector"))
