"""The functions that a thread program may call, and which of them have effects besides a result."""

from __future__ import annotations

import re

from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP, SIMD_GROUP
from anymetal.ir.tokens import plain
from anymetal.ir.types import (
    BFLOAT,
    DOUBLE,
    FLOAT,
    HALF,
    I1,
    I8,
    I16,
    I32,
    I64,
    PTR,
    VOID,
    Type,
)

Signature = tuple[Type, tuple[Type, ...]]

_ELEMENTS: dict[str, Type] = {"f32": FLOAT, "i32": I32, "u32": I32}
_POSITIONS = ["lane", "gang"] + [
    f"{what}_{axis}" for what in "thread group size full_size grid".split() for axis in "xyz"
]
_COLLECTIVE = [
    *(f"reduce_{kind}_{element}" for kind in "add mul min max".split() for element in _ELEMENTS),
    *(f"reduce_{kind}_u32" for kind in "and or xor".split()),
    *(
        f"{scan}_{kind}_{element}"
        for scan in ("scan", "xscan")
        for kind in ("add", "mul")
        for element in ("f32", "u32")
    ),
]

#: The value that a lane has, in another lane.
SHUFFLE = "__am_shuffle"
#: Threads of a threadgroup wait for each other.
BARRIER = "__am_threadgroup_barrier"
#: Threads of a SIMD-group wait for each other.
SIMDGROUP_BARRIER = "__am_simdgroup_barrier"
#: A step of a product of matrices of 8 x 8.
MATRIX_FMA = "__am_matrix_fma"
#: A line of os_log.
LOG = "__am_log"
#: What a thread tells of itself for `anymetal.trace` (frontend/traced.py): the number of the site,
#: which number of its value this is, and its bits. Only the scalar build knows it.
TRACE = "__am_trace"
#: Does nothing, but LLVM must not mix instructions in front of it and behind it; except that it may
#: compute a value behind it that is used there once.
APART = "__am_apart"
#: Likewise, without that exception.
IN_ORDER = "__am_in_order"
#: Does nothing, but LLVM must load again behind it what was loaded in front.
FORGET = "__am_forget"
#: Whether a condition holds in all active lanes. "No" may be wrong, "yes" may not.
ALL = "__am_all"
#: Prefetch the line of the first lane's address into a cache, as LLVM numbers those.
PREFETCH = "__am_prefetch"
#: Notes a stray access of a checked build (passes/check_bounds.py): whether it is one, its offset,
#: the numbers of the array and of the access, and the record to write to.
STRAY = "__am_stray"
#: Markers of a sanitized build, put in before LLVM optimises (frontend/observed.py). An access is
#: about to happen: its address, bytes, action, alignment, and the number of its place.
SEEN = "__am_seen"
#: An operation that Metal leaves open: whether this is one, its kind, and the number of its place.
WRONG = "__am_wrong"
#: Lanes are about to do something together: what, a number of each lane, and that of the place
#: (frontend/wrong_operands.py). The thread returns: the number of the place.
LANES, RETURNED = "__am_lanes", "__am_returned"
MARKERS = frozenset((SEEN, WRONG, LANES, RETURNED))
#: Actions of SEEN and ACCESS.
LOAD, STORE, UPDATE, ATOMIC_LOAD, ATOMIC_STORE = range(5)
#: Events of a sanitized build (passes/observe.py, targets/cpu/observer/). Something is wrong:
#: whether it is, its kind, the number of the place, an offset in bytes and the number of the array.
FOUND = "__am_found"
#: An access to memory that threads share: whether it stays outside, its offset, the number of the
#: array, bytes, action, place.
ACCESS = "__am_access"
#: A barrier follows: its flags, whether it is one of the SIMD-group only, place.
MEETS = "__am_meets"
#: Lanes are about to do something together: a number of each lane, what, place.
CROSSES = "__am_crosses"
#: A fence follows: its place.
FENCES = "__am_fences"
#: Whether a position is below a limit in all active lanes. "No" may be wrong, "yes" may not.
INSIDE = "__am_inside"
EVENTS = frozenset((FOUND, ACCESS, MEETS, CROSSES, FENCES))
#: A variable that has no value yet: the value that it has all the same, made for its number
#: (frontend/undefined.py), by type; and the memory, bytes and number of a larger one.
UNDEFINED, BEGIN = "__am_undefined_", "__am_begin"
UNDEFINED_TYPES: dict[str, Type] = {
    str(one): one for one in (I8, I16, I32, I64, HALF, BFLOAT, FLOAT, DOUBLE, PTR)
}
#: Calls that only passes for gangs put in.
OF_GANGS = frozenset((APART, IN_ORDER, FORGET, ALL, PREFETCH))
#: Where a thread stands, and how many there are.
POSITIONS = frozenset(f"__am_{name}" for name in _POSITIONS)


def in_threadgroup(threads: int) -> dict[str, int]:
    """Positions in a threadgroup of at most so many: how many values each has at most."""
    limits = {f"__am_thread_{axis}": threads for axis in "xyz"}
    return {**limits, "__am_lane": SIMD_GROUP, "__am_gang": -(-threads // SIMD_GROUP)}


#: The same of any threadgroup.
IN_THREADGROUP = in_threadgroup(MAX_THREADS_PER_THREADGROUP)
#: Whether the processor has an instruction to multiply by powers of two, and that instruction (see
#: simd/emit/ldexp.py).
SCALES, SCALE = "__am_scales", "__am_scale"
#: A large angle without half turns (targets/large_angles.h): the angle, a shift and an offset.
LARGE_ANGLE = "__am_large_angle"
#: Our own functions (see frontend/include/anymetal/intrinsics.h): result and operand types.
INTRINSICS: dict[str, Signature] = {
    **{f"__am_{name}": (I32, ()) for name in _POSITIONS},
    **{f"__am_{name}": (_ELEMENTS[name[-3:]], (_ELEMENTS[name[-3:]],)) for name in _COLLECTIVE},
    SHUFFLE: (I32, (I32, I32)),
    "__am_ballot": (I32, (I1,)),
    MATRIX_FMA: (FLOAT, (FLOAT,) * 4),
    BARRIER: (VOID, (I32,)),
    SIMDGROUP_BARRIER: (VOID, (I32,)),
    LOG: (VOID, (PTR,)),
    TRACE: (VOID, (I32, I32, I64)),
    APART: (VOID, ()),
    IN_ORDER: (VOID, ()),
    FORGET: (VOID, ()),
    ALL: (I1, (I1,)),
    PREFETCH: (VOID, (PTR, I32)),
    STRAY: (VOID, (I1, I64, I32, I32, PTR)),
    SEEN: (VOID, (PTR, I64, I32, I32, I32)),
    WRONG: (VOID, (I1, I32, I32)),
    LANES: (VOID, (I32, I32, I32)),
    RETURNED: (VOID, (I32,)),
    FOUND: (VOID, (I1, I32, I32, I64, I32)),
    ACCESS: (VOID, (I1, I64, I32, I32, I32, I32)),
    MEETS: (VOID, (I32, I1, I32)),
    CROSSES: (VOID, (I32, I32, I32)),
    FENCES: (VOID, (I32,)),
    **{f"{UNDEFINED}{name}": (one, (I32,)) for name, one in UNDEFINED_TYPES.items()},
    BEGIN: (VOID, (PTR, I64, I32)),
    INSIDE: (I1, (I64, I64)),
    SCALES: (I1, ()),
    SCALE: (FLOAT, (FLOAT, FLOAT)),
    LARGE_ANGLE: (I64, (FLOAT, I64, I64)),
}

#: Calls that the lanes of a SIMD-group execute together.
_CROSS_LANE = frozenset(
    [SHUFFLE, "__am_ballot", SIMDGROUP_BARRIER, MATRIX_FMA]
    + [f"__am_{name}" for name in _COLLECTIVE]
)
#: Intrinsics that LLVM turns into instructions.
NATIVE = frozenset(
    "fabs sqrt floor ceil trunc rint nearbyint round roundeven copysign fma fmuladd minnum maxnum "
    "minimum maximum minimumnum maximumnum smin smax umin umax abs ctpop ctlz cttz bitreverse "
    "bswap fshl fshr uadd.sat sadd.sat usub.sat ssub.sat ushl.sat sshl.sat canonicalize "
    "is.fpclass fptosi.sat fptoui.sat uadd.with.overflow sadd.with.overflow usub.with.overflow "
    "ssub.with.overflow umul.with.overflow smul.with.overflow scmp ucmp".split()
)
_TYPE_SUFFIX = re.compile(r"\.(?:f16|bf16|f32|f64|i\d+|p0)")
#: Functions of the C library, and the like of our own, that only give a result.
LIBM = frozenset(
    name + suffix
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 "
        "exp2 expm1 fabs fast_rsqrt fdim floor fma fmax fmin fmod hypot ldexp log log10 log1p "
        "log2 logb nearbyint nextafter pow remainder rint round roundeven rsqrt scalbn sin sinh "
        "sqrt tan tanh tgamma trunc"
    ).split()
    for suffix in ("f", "")
)

_SHORT = frozenset(
    "ceil copysign fabs floor fma fmax fmin nearbyint rint round roundeven sqrt trunc".split()
)
#: How the names begin of what copies memory, and of what works on blocks of memory at all.
COPIES = ("llvm.memcpy.", "llvm.memmove.")
BLOCK_OPERATIONS = (*COPIES, "llvm.memset.")
_WITH_EFFECT = (
    BARRIER,
    SIMDGROUP_BARRIER,
    LOG,
    TRACE,
    STRAY,
    BEGIN,
    FORGET,
    *BLOCK_OPERATIONS,
)


def is_known(callee: str) -> bool:
    """Whether this may be called by Clang's output; anything else is a function of the user's."""
    return callee.startswith("llvm.") or callee in INTRINSICS or callee in LIBM


def is_undefined(callee: str) -> bool:
    """Whether a call stands for a variable without a value."""
    return callee.startswith(UNDEFINED)


def is_cross_lane(callee: str) -> bool:
    """Whether the lanes of a SIMD-group execute this call together."""
    return callee in _CROSS_LANE


def name_of_intrinsic(callee: str) -> str:
    """LLVM's name without types: ctlz for llvm.ctlz.i32."""
    return _TYPE_SUFFIX.sub("", callee.removeprefix("llvm."))


def is_long(callee: str) -> bool:
    """Whether a call, by name or intrinsic, is one of the C library and no instruction."""
    name = callee.removeprefix("llvm.").split(".")[0].removesuffix("f")
    return name in LIBM and name not in _SHORT


def libm_name(callee: str) -> str:
    """The libm function on float behind an LLVM intrinsic or a libm call: expf for llvm.exp.f32."""
    if callee.startswith("llvm."):
        return callee[5:].removesuffix(".f32") + "f" if callee.endswith(".f32") else ""
    return callee


def has_effect(callee: str) -> bool:
    """Whether a call may change memory or lets other threads do so: it must keep its place."""
    return callee.startswith(_WITH_EFFECT) or not is_known(callee)


def plain_name(symbol: str) -> str:
    """The name by which the user knows a function or variable: `f` for _Z1fi, `n::f` for _ZN1n1fEi.

    It is read from an Itanium-mangled symbol. A static variable in a function keeps its own name
    only, and lambdas have none.
    """
    symbol = plain(symbol)
    if re.match(r"_ZZ\w*Ul", symbol) and not re.search(r"E\d+[A-Za-z_]\w*$", symbol):
        return "a lambda"
    start = re.match(r"_Z(?:Z\w*E(?=\d)|N[KVr]*|L)?", symbol)
    if not start:
        return symbol
    at, parts = start.end(), []
    while length := re.compile(r"\d+").match(symbol, at):
        at = length.end() + _characters(symbol[length.end() :], int(length[0]))
        parts.append(symbol[length.end() : at])
        if not start[0].startswith("_ZN"):
            break
    return "::".join(parts) or symbol


def _characters(text: str, size: int) -> int:
    """How many characters of a text take so many bytes."""
    return len(text.encode()[:size].decode(errors="ignore"))
