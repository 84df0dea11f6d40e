"""Functions across lanes, barriers, atomics and attributes, on the headers' side of the intrinsics.

One lane runs at a time; what the others hold is in a table. That shows which lane each function
asks for and which intrinsic it reduces with; the intrinsics themselves are tested elsewhere.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from tests.frontend.header_harness import Expressions, table

_ALL = (1 << 32) - 1
_PARTIAL = 0x0FF0_F3A5  #: some lanes of most quads
_FILLING = 1 << 31  #: marks the second value of a lane


class Lanes:
    """The tables behind the intrinsics of one loaded library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.position = (ctypes.c_uint * 17).in_dll(library, "am_position")
        self.values = (ctypes.c_uint * 32).in_dll(library, "am_lane_values")
        self.active = ctypes.c_uint.in_dll(library, "am_active")
        self.votes = ctypes.c_uint.in_dll(library, "am_votes")
        self.called = ctypes.c_char_p.in_dll(library, "am_called")
        self.barriers = (ctypes.c_uint * 2).in_dll(library, "am_barriers")

    def set(self, lane: int, active: int = _ALL, votes: int = _ALL) -> None:
        self.position[0] = lane
        self.active.value = active | 1 << lane
        self.votes.value = votes
        self.values[:] = [lane + 1 for lane in range(32)]


def _in_block(lane: int, width: int, offset: int) -> int | None:
    """The lane at this offset within the block of `width` lanes, or None beyond its ends."""
    place = lane % width + offset
    return lane + offset if 0 <= place < width else None


def _rotated(lane: int, width: int, offset: int) -> int:
    return lane - lane % width + (lane + offset) % width


def _or_own(lane: int, source: int | None) -> int:
    return lane if source is None else source


def _filled(lane: int, width: int, offset: int) -> int:
    """Source lane of a filling shuffle, marked where the value is the filling's."""
    source = _in_block(lane, width, offset)
    return source if source is not None else _rotated(lane, width, offset) | _FILLING


#: Call on the lane's own value x and its filling y; the lane that its result must come from.
_SOURCES: dict[str, Callable[[int], int]] = {
    "simd_shuffle(x, 7)": lambda i: 7,
    "simd_shuffle(x, 31 - __am_lane())": lambda i: 31 - i,
    "simd_broadcast(x, 9)": lambda i: 9,
    "simd_shuffle_up(x, 3)": lambda i: _or_own(i, _in_block(i, 32, -3)),
    "simd_shuffle_down(x, 3)": lambda i: _or_own(i, _in_block(i, 32, 3)),
    "simd_shuffle_down(x, 0)": lambda i: i,
    "simd_shuffle_rotate_up(x, 5)": lambda i: _rotated(i, 32, -5),
    "simd_shuffle_rotate_down(x, 5)": lambda i: _rotated(i, 32, 5),
    "simd_shuffle_xor(x, 6)": lambda i: i ^ 6,
    "simd_shuffle_and_fill_up(x, y, 3)": lambda i: _filled(i, 32, -3),
    "simd_shuffle_and_fill_up(x, y, 3, 8)": lambda i: _filled(i, 8, -3),
    "simd_shuffle_and_fill_down(x, y, 3)": lambda i: _filled(i, 32, 3),
    "simd_shuffle_and_fill_down(x, y, 1, 2)": lambda i: _filled(i, 2, 1),
    "quad_shuffle(x, 2)": lambda i: i // 4 * 4 + 2,
    "quad_broadcast(x, 3)": lambda i: i // 4 * 4 + 3,
    "quad_shuffle_up(x, 1)": lambda i: _or_own(i, _in_block(i, 4, -1)),
    "quad_shuffle_down(x, 2)": lambda i: _or_own(i, _in_block(i, 4, 2)),
    "quad_shuffle_rotate_up(x, 1)": lambda i: _rotated(i, 4, -1),
    "quad_shuffle_rotate_down(x, 3)": lambda i: _rotated(i, 4, 3),
    "quad_shuffle_xor(x, 3)": lambda i: i ^ 3,
    "quad_shuffle_and_fill_up(x, y, 2)": lambda i: _filled(i, 4, -2),
    "quad_shuffle_and_fill_down(x, y, 1, 2)": lambda i: _filled(i, 2, 1),
}

#: Types that may cross lanes, and the type of their bits. Lane 4 holds the bit pattern 5.
_BITS = {
    **dict.fromkeys(("char", "uchar"), "uchar"),
    **dict.fromkeys(("short", "ushort", "half", "bfloat"), "ushort"),
    **dict.fromkeys(("int", "uint", "float"), "uint"),
}
_TYPED = {
    kind: f"{kind} v = as_type<{kind}>({bits}(1)); as_type<{bits}>(simd_shuffle(v, 4))"
    for kind, bits in _BITS.items()
} | {
    "bool": "bool v = false; simd_shuffle(v, 4) * 5",
    "long": "long v = 1; simd_shuffle(v, 4) >> 32",
    "ulong": "ulong v = 1; uint(simd_shuffle(v, 4))",
    "complex64_t": "complex64_t v(1, 2); as_type<uint>(simd_shuffle(v, 4).imag)",
    "int3": "int3 v(1, 2, 3); simd_shuffle(v, 4).y + simd_shuffle(v, 4).z - 5",
    "half2": "half2 v(1, 2); as_type<ushort>(simd_shuffle(v, 4).y)",
}

#: Call, its result where the intrinsic returns its argument, and the intrinsic.
_REDUCTIONS = table("""
simd_sum(2.5f) => 2.5 reduce_add_f32
simd_sum(half(2.5)) => 2.5 reduce_add_f32
simd_sum(bfloat(2.5)) => 2.5 reduce_add_f32
simd_sum(-3) => -3 reduce_add_i32
simd_sum(3u) => 3 reduce_add_u32
simd_sum(char(-3)) => -3 reduce_add_i32
simd_sum(uchar(200)) => 200 reduce_add_u32
simd_sum(short2(-3, 4)) => -3 4 reduce_add_i32
simd_product(2.5f) => 2.5 reduce_mul_f32
simd_product(-3) => -3 reduce_mul_i32
simd_min(-3) => -3 reduce_min_i32
simd_min(ushort(3)) => 3 reduce_min_u32
simd_max(2.5h) => 2.5 reduce_max_f32
simd_max(float4(1, 2, 3, 4)) => 1 2 3 4 reduce_max_f32
simd_and(-3) => -3 reduce_and_u32
simd_or(char(-3)) => -3 reduce_or_u32
simd_xor(3u) => 3 reduce_xor_u32
simd_prefix_inclusive_sum(2.5f) => 2.5 scan_add_f32
simd_prefix_inclusive_sum(-3) => -3 scan_add_u32
simd_prefix_exclusive_sum(short(-3)) => -3 xscan_add_u32
simd_prefix_inclusive_product(2.5h) => 2.5 scan_mul_f32
simd_prefix_exclusive_product(3u) => 3 xscan_mul_u32
""")

_QUAD_FOLDS: dict[str, Callable[[list[int], int], int]] = {
    "quad_sum(x)": lambda lanes, i: sum(lanes),
    "quad_product(x)": lambda lanes, i: _product(lanes),
    "quad_min(x)": lambda lanes, i: min(lanes),
    "quad_max(x)": lambda lanes, i: max(lanes),
    "quad_or(x)": lambda lanes, i: _fold(lambda a, b: a | b, lanes, 0),
    "quad_and(x)": lambda lanes, i: _fold(lambda a, b: a & b, lanes, -1),
    "quad_xor(x)": lambda lanes, i: _fold(lambda a, b: a ^ b, lanes, 0),
    "quad_prefix_inclusive_sum(x)": lambda lanes, i: sum(v for v in lanes if v <= i + 1),
    "quad_prefix_exclusive_sum(x)": lambda lanes, i: sum(v for v in lanes if v <= i),
    "quad_prefix_inclusive_product(x)": lambda lanes, i: _product(v for v in lanes if v <= i + 1),
    "quad_prefix_exclusive_product(x)": lambda lanes, i: _product(v for v in lanes if v <= i),
}


def _fold(operation: Callable[[int, int], int], values: object, start: int) -> int:
    for value in values:  # type: ignore[attr-defined]
        start = operation(start, value)
    return start


def _product(values: object) -> int:
    return _fold(lambda a, b: a * b, values, 1)


_VOTES = table("""
(uint)(simd_vote::vote_t)simd_ballot(true) => 0x0ff0f3a5
(ulong)simd_ballot(false) => 0x0ff0f3a1
(ulong)simd_active_threads_mask() => 0x0ff0f3a5
simd_all(true) => 0
simd_any(false) => 1
simd_ballot(true).all() => 0
simd_ballot(true).any() => 1
simd_vote(0xffffffff).all() => 1
simd_is_first() => 0
simd_broadcast_first(3u) => 1
(ulong)quad_ballot(true) => 5
(ulong)quad_active_threads_mask() => 5
quad_ballot(true).any() => 1
quad_ballot(true).all() => 0
quad_all(true) => 0
quad_any(false) => 1
quad_is_first() => 0
quad_broadcast_first(3u) => 1
""")


@pytest.fixture(scope="module")
def run() -> Expressions:
    rows = [*_SOURCES, *_TYPED.values(), *_REDUCTIONS, *_QUAD_FOLDS, *_VOTES]
    return Expressions(rows, f"uint x = __am_lane() + 1; uint y = x | {_FILLING}u;")


@pytest.mark.parametrize("active", [_ALL, _PARTIAL], ids=["all lanes", "some lanes"])
@pytest.mark.parametrize("call", _SOURCES)
def test_shuffle(run: Expressions, call: str, active: int) -> None:
    lanes = Lanes(run.library)
    for lane in range(32):
        lanes.set(lane, active)
        source = _SOURCES[call](lane)
        alive = lanes.active.value >> (source & 31) & 1
        wanted = (source & 31) + 1 | source & _FILLING if alive else 0
        assert run(call) == [wanted], lane


@pytest.mark.parametrize("kind", _TYPED)
def test_shuffle_of_each_type(run: Expressions, kind: str) -> None:
    Lanes(run.library).set(0)
    assert run(_TYPED[kind]) == [5]


@pytest.mark.parametrize("call", _REDUCTIONS)
def test_reduction(run: Expressions, call: str) -> None:
    lanes = Lanes(run.library)
    lanes.set(0)
    *values, intrinsic = _REDUCTIONS[call].split()
    assert run(call) == [float(v) for v in values]
    assert lanes.called.value == intrinsic.encode()


@pytest.mark.parametrize("active", [_ALL, _PARTIAL], ids=["all lanes", "some lanes"])
@pytest.mark.parametrize("call", _QUAD_FOLDS)
def test_quad_fold(run: Expressions, call: str, active: int) -> None:
    lanes = Lanes(run.library)
    for lane in range(32):
        lanes.set(lane, active)
        base = lane // 4 * 4
        alive = [k + 1 for k in range(base, base + 4) if lanes.active.value >> k & 1]
        assert run(call) == [_QUAD_FOLDS[call](alive, lane) & _ALL], lane


@pytest.mark.parametrize("call", _VOTES)
def test_vote(run: Expressions, call: str) -> None:
    """Lane 2 asks; the others say yes. Lane 0 is the first active one."""
    lanes = Lanes(run.library)
    lanes.set(2, _PARTIAL)
    lanes.active.value = _PARTIAL
    assert run(call) == [int(_VOTES[call], 0)]


_ATOMICS = table("""
atomic_uint v; atomic_store_explicit(&v, 5, R); atomic_fetch_add_explicit(&v, 3, R) => 5
atomic_uint v; atomic_store_explicit(&v, 5, R); atomic_fetch_add_explicit(&v, 3, R); L(v) => 8
atomic_int v; atomic_store_explicit(&v, 5, R); atomic_fetch_sub_explicit(&v, 8, R); L(v) => -3
atomic_int v; atomic_store_explicit(&v, -5, R); atomic_fetch_max_explicit(&v, 2, R); L(v) => 2
atomic_uint v; atomic_store_explicit(&v, 5, R); atomic_fetch_min_explicit(&v, -1, R); L(v) => 5
atomic_int v; atomic_store_explicit(&v, 5, R); atomic_fetch_min_explicit(&v, -1, R); L(v) => -1
atomic_uint v; atomic_store_explicit(&v, 6, R); atomic_fetch_and_explicit(&v, 3, R); L(v) => 2
atomic_uint v; atomic_store_explicit(&v, 6, R); atomic_fetch_or_explicit(&v, 3, R); L(v) => 7
atomic_uint v; atomic_store_explicit(&v, 6, R); atomic_fetch_xor_explicit(&v, 3, R); L(v) => 5
atomic_uint v; atomic_store_explicit(&v, 6, R); atomic_exchange_explicit(&v, 3, R) => 6
atomic_float v; atomic_store_explicit(&v, 6, R); atomic_fetch_add_explicit(&v, 0.5, R); L(v) => 6.5
atomic_float v; atomic_store_explicit(&v, 6, R); atomic_fetch_sub_explicit(&v, 1, R); L(v) => 5
atomic_float v; atomic_store_explicit(&v, 6, R); atomic_exchange_explicit(&v, 2.5f, R); L(v) => 2.5
atomic_bool v; atomic_store_explicit(&v, true, R); atomic_exchange_explicit(&v, false, R) => 1
ulong v = 5; atomic_max_explicit((device atomic_ulong*)&v, 9, R); v => 9
ulong v = 5; atomic_min_explicit((device atomic_ulong*)&v, 9, R); v => 5
float f = 1; atomic_fetch_add_explicit((device atomic_float*)&f, 2, R); f => 3
uint f = 1; atomic_store_explicit(reinterpret_cast<device atomic<uint>*>(&f), 7, R); f => 7
threadgroup atomic_uint v[2]; atomic_store_explicit(&v[1], 5, R); L(v[1]) => 5
volatile atomic_uint v; atomic_store_explicit(&v, 5, R); L(v) => 5
uint e = 4; atomic_uint v; atomic_store_explicit(&v, 5, R); CAS(&v, &e, 9, R, R) => 0
uint e = 4; atomic_uint v; atomic_store_explicit(&v, 5, R); CAS(&v, &e, 9, R, R); e => 5
uint e = 5; atomic_uint v; atomic_store_explicit(&v, 5, R); CAS(&v, &e, 9, R, R) => 1
uint e = 5; atomic_uint v; atomic_store_explicit(&v, 5, R); CAS(&v, &e, 9, R, R); L(v) => 9
float e = NAN; atomic_float v; atomic_store_explicit(&v, NAN, R); CAS(&v, &e, 9, R, R) => 1
float e = 0.0; atomic_float v; atomic_store_explicit(&v, -0.0, R); CAS(&v, &e, 9, R, R) => 0
atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device); 1 => 1
sizeof(atomic<float>) + sizeof(atomic_ulong) + sizeof(atomic_bool) => 13
""")
_SHORT = """
#define R memory_order_relaxed
#define L(v) atomic_load_explicit(&v, R)
#define CAS atomic_compare_exchange_weak_explicit
"""


def test_atomics() -> None:
    run = Expressions(list(_ATOMICS), preamble=_SHORT)
    for row, wanted in _ATOMICS.items():
        assert run(row) == [float(wanted)], row


def test_barriers() -> None:
    calls = table("""
    threadgroup_barrier(mem_flags::mem_none); 0 => 0
    threadgroup_barrier(mem_flags::mem_device); 0 => 1
    threadgroup_barrier(mem_flags::mem_threadgroup); 0 => 2
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); 0 => 3
    metal::simdgroup_barrier(metal::mem_flags::mem_threadgroup); 1 => 2
    """)
    run = Expressions(list(calls))
    for call, flags in calls.items():
        which = int(run(call)[0])
        assert Lanes(run.library).barriers[which] == int(flags)


#: Thread (1, 2, 1) of the last threadgroup along x: 3 wide there, 8 elsewhere.
_POSITION = [9, 2, 1, 2, 1, 3, 0, 1, 3, 5, 2, 8, 5, 2, 27, 10, 4]
_ATTRIBUTES = table("""
dispatch_quadgroups_per_threadgroup => 20
dispatch_simdgroups_per_threadgroup => 3
dispatch_threads_per_threadgroup => 8 5 2
grid_origin => 0 0 0
grid_size => 27 10 4
quadgroup_index_in_threadgroup => 18
quadgroups_per_threadgroup => 8
simdgroup_index_in_threadgroup => 2
simdgroups_per_threadgroup => 1
thread_execution_width => 32
thread_index_in_quadgroup => 1
thread_index_in_simdgroup => 9
thread_index_in_threadgroup => 73
thread_position_in_grid => 25 2 3
thread_position_in_threadgroup => 1 2 1
threadgroup_position_in_grid => 3 0 1
threadgroups_per_grid => 4 2 2
threads_per_grid => 27 10 4
threads_per_simdgroup => 32
threads_per_threadgroup => 3 5 2
""")


def test_attributes() -> None:
    from anymetal.source import ATTRIBUTES

    assert set(_ATTRIBUTES) == set(ATTRIBUTES)
    run = Expressions([f"__am_attr_{name}()" for name in _ATTRIBUTES])
    Lanes(run.library).position[:] = _POSITION
    for name, wanted in _ATTRIBUTES.items():
        assert run(f"__am_attr_{name}()") == [float(v) for v in wanted.split()], name
