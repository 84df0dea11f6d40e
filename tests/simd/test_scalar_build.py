"""The scalar build (one lane a gang) executes cross-lane calls as the vectorized build does.

Each case is a body that writes `o[i]` from `x[i]`, and the same written with NumPy for the threads
of one SIMD-group (or of one threadgroup, where they work together). Both builds must agree with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.variant import gang_width

#: Threads and threads per threadgroup: full, partial and single-lane SIMD-groups, smaller last
#: groups, one thread alone.
LAUNCHES = [(203, 72), (64, 32), (3, 1)]
NONE = np.uint32(0)


class Case(NamedTuple):
    body: str
    expect: Callable[[np.ndarray], np.ndarray]
    whole: bool = False  #: `expect` takes a threadgroup, not a SIMD-group
    dtype: type = np.uint32


CASES: dict[str, Case] = {}


def case(body: str, whole: bool = False, dtype: type = np.uint32) -> Callable[..., None]:
    """Decorates the expectation; its name is that of the case."""

    def add(expect: Callable[[np.ndarray], np.ndarray]) -> None:
        CASES[expect.__name__] = Case(body, expect, whole, dtype)

    return add


def run(body: str, x: np.ndarray, launch: tuple[int, int], width: int, dtype: type) -> np.ndarray:
    prologue = (
        "uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup; auto v = x[i];"
    )
    kernel = anymetal.metal_kernel(
        name="scalar_build",
        input_names=["x"],
        output_names=["o"],
        source=f"{prologue}\n{body}",
    )
    threads, threadgroup = launch
    with gang_width(width):
        (result,) = kernel(
            inputs=[mx.array(x)],
            output_shapes=[(threads,)],
            output_dtypes=[
                {np.uint32: mx.uint32, np.int32: mx.int32, np.float32: mx.float32}[dtype]
            ],
            grid=(threads, 1, 1),
            threadgroup=(threadgroup, 1, 1),
            init_value=0,
        )
        mx.eval(result)
    return np.array(result)


def expected(case: Case, x: np.ndarray, launch: tuple[int, int]) -> np.ndarray:
    threads, threadgroup = launch
    parts = []
    for first in range(0, threads, threadgroup):
        group = x[first : min(first + threadgroup, threads)]
        step = threadgroup if case.whole else 32
        parts += [case.expect(group[at : at + step]) for at in range(0, len(group), step)]
    return np.concatenate(parts)


def data(count: int, dtype: type) -> np.ndarray:
    numbers = np.random.default_rng(count).integers(0, 100, count)
    return numbers.astype(dtype)


@pytest.mark.parametrize("launch", LAUNCHES, ids=str)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [1, 32])
def test_case(name: str, launch: tuple[int, int], width: int) -> None:
    chosen = CASES[name]
    x = data(launch[0], chosen.dtype)
    result = run(chosen.body, x, launch, width, chosen.dtype)
    np.testing.assert_array_equal(result, expected(chosen, x, launch))


# ---- Every function, under a mask


def masked(x: np.ndarray, active: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    """`value` in the active lanes, `x` in the others."""
    return np.where(active, value, x).astype(x.dtype)


def source(x: np.ndarray, active: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """What a shuffle reads from `lanes`: 0 from those that are inactive or do not exist."""
    table = np.zeros(1 << 16, x.dtype)
    table[: len(x)] = np.where(active, x, 0)
    return table[lanes]


@case("if (v % 3 == 0) v = simd_sum(v) + simd_product(v | 1); o[i] = v;")
def sums(x):
    on = x % 3 == 0
    with np.errstate(over="ignore"):
        return masked(x, on, x[on].sum(dtype=np.uint32) + (x[on] | 1).prod(dtype=np.uint32))


@case("if (v > 40) v = simd_min(v) * 1000 + simd_max(v); o[i] = v;")
def extremes(x):
    on = x > 40
    return masked(x, on, x[on].min() * 1000 + x[on].max()) if on.any() else x


@case(
    "int w = v - 50; if (v & 1) w = simd_min(w) * 1000 + simd_max(w) + simd_sum(w); o[i] = w;",
    dtype=np.int32,
)
def signed(x):
    on, w = x % 2 == 1, x - 50
    return masked(w, on, w[on].min() * 1000 + w[on].max() + w[on].sum()) if on.any() else w


@case("if (v & 1) v = simd_and(v | 64) + (simd_or(v) << 8) + (simd_xor(v) << 16); o[i] = v;")
def bitwise(x):
    on = x % 2 == 1
    a, b, c = (
        f.reduce(v[on])
        for f, v in ((np.bitwise_and, x | 64), (np.bitwise_or, x), (np.bitwise_xor, x))
    )
    return masked(x, on, a + (b << 8) + (c << 16))


@case(
    """float w = v < 30 ? NAN : v;
if (v < 60) w = simd_min(w) + 1000 * simd_max(w);
o[i] = isnan(w) ? -1 : w;""",
    dtype=np.float32,
)
def float_extremes_ignore_nan(x):
    on = x < 60
    numbers = x[on & (x >= 30)]
    inside = numbers.min() + 1000 * numbers.max() if len(numbers) else -1
    return masked(x, on, inside)


@case(
    "if (v > 20) v = simd_sum(v) + simd_prefix_exclusive_sum(v) * 0.5f; o[i] = v;", dtype=np.float32
)
def float_sums(x):
    on = x > 20
    kept = np.where(on, x, 0)
    return masked(x, on, kept.sum() + (np.cumsum(kept) - kept) / 2)


@case(
    "if (v % 3) v = simd_prefix_inclusive_sum(v) + 10000 * simd_prefix_exclusive_sum(v); o[i] = v;"
)
def scans(x):
    on = x % 3 != 0
    kept = np.where(on, x, 0)
    up_to = np.cumsum(kept, dtype=np.uint32)
    return masked(x, on, up_to + 10000 * (up_to - kept))


@case(
    """uint w = v | 1;
if (v % 3) w = simd_prefix_inclusive_product(w) - simd_prefix_exclusive_product(w);
o[i] = w;"""
)
def product_scans(x):
    on, w = x % 3 != 0, x | 1
    with np.errstate(over="ignore"):
        up_to = np.cumprod(np.where(on, w, 1), dtype=np.uint32)
        before = np.concatenate([np.ones(1, np.uint32), up_to[:-1]])
        return masked(w, on, up_to - before)


@case("if (v % 4) v = simd_shuffle(v, v & 63) + 1000 * simd_shuffle_xor(v, 5); o[i] = v;")
def shuffles(x):
    on, lane = x % 4 != 0, np.arange(len(x))
    return masked(x, on, source(x, on, x & 63) + 1000 * source(x, on, lane ^ 5))


@case("if (v > 30) v = simd_shuffle_down(v, 3) + 1000 * simd_shuffle_up(v, 2); o[i] = v;")
def relative_shuffles(x):
    on, lane = x > 30, np.arange(len(x))
    down = np.where(lane + 3 < 32, source(x, on, lane + 3), x)
    up = np.where(lane >= 2, source(x, on, np.maximum(lane, 2) - 2), x)
    return masked(x, on, down + 1000 * up)


@case(
    """if (v < 70) v = uint((simd_vote::vote_t)simd_ballot(v > 30)) + simd_broadcast_first(v);
o[i] = v;"""
)
def ballots(x):
    on, bit = x < 70, np.uint32(1) << np.arange(len(x), dtype=np.uint32)
    with np.errstate(over="ignore"):
        return masked(x, on, bit[on & (x > 30)].sum(dtype=np.uint32) + x[on][0]) if on.any() else x


@case(
    """if (v & 1) {
  if (v & 2) v = simd_sum(v); else v = 7 * simd_sum(v);
  v += simd_sum(1u);
}
o[i] = v;"""
)
def nested_branches(x):
    inner, outer, odd = x % 4 == 3, x % 4 == 1, x % 2 == 1
    result = masked(x, inner, x[inner].sum())
    result = masked(result, outer, 7 * x[outer].sum())
    return masked(result, odd, result + odd.sum())


@case(
    """switch (v % 5) {
  case 0: v += simd_sum(v);
  case 1: v = simd_sum(v); break;
  case 3: v = 9 * simd_sum(v); break;
  default: v += simd_sum(2u);
}
o[i] = v + 100000 * simd_sum(1u);"""
)
def falling_through(x):
    kind = x % 5
    result = masked(x, kind == 0, x + x[kind == 0].sum())
    result = masked(result, kind <= 1, result[kind <= 1].sum())
    result = masked(result, kind == 3, 9 * x[kind == 3].sum())
    rest = (kind == 2) | (kind == 4)
    return masked(result, rest, x + 2 * rest.sum()) + np.uint32(100000 * len(x))


@case(
    """if (v % 7 == 0) { o[i] = 5; return; }
if (v % 7 == 1) { o[i] = simd_sum(v); return; }
o[i] = 3 * simd_sum(v);"""
)
def early_returns(x):
    kind = x % 7
    result = np.full_like(x, 3 * x[kind > 1].sum())
    return masked(masked(result, kind == 0, 5), kind == 1, x[kind == 1].sum())


# ---- Loops


@case("uint s = 0; for (uint k = 0; k < v % 9; k++) s += simd_sum(v + k); o[i] = s + simd_sum(1u);")
def different_trip_counts(x):
    s = np.zeros_like(x)
    for k in range(9):
        on = k < x % 9
        s[on] += (x[on] + k).sum(dtype=np.uint32)
    return s + np.uint32(len(x))


@case("""uint s = 0, n = 6 + v / 100;  // 6, but the compiler must not know and unroll the loop
for (uint k = 0; k < n; k++) {
  s += simd_sum(1u);           // comes first in the text, and yet lanes of the iteration before
  if ((v >> k) & 1) continue;
  s += 100 * simd_sum(v);      // must have been here
}
o[i] = s;""")
def continues(x):
    s = np.zeros_like(x)
    for k in range(6):
        s += np.uint32(len(x))
        on = (x >> k) % 2 == 0
        s[on] += 100 * x[on].sum(dtype=np.uint32)
    return s


@case("""uint s = 0;
for (uint k = 0; k < v; k++) {
  if ((v + k) % 3 == 0) { s += simd_sum(v); continue; }
  if ((v ^ k) % 11 == 0) { s += 1000000; break; }
  s += simd_sum(k + 1) + simd_max(v);
}
o[i] = s + simd_min(s);""")
def breaks(x):
    s, live = np.zeros_like(x), np.ones(len(x), bool)
    for k in range(100):
        live &= k < x
        first = live & ((x + k) % 3 == 0)
        s[first] += x[first].sum(dtype=np.uint32)
        leaving = live & ~first & ((x ^ k) % 11 == 0)
        s[leaving] += np.uint32(1000000)
        live &= ~leaving
        rest = live & ~first
        if rest.any():
            s[rest] += np.uint32((k + 1) * rest.sum() + x[rest].max())
    return s + s.min()


@case("""uint s = 0;
for (uint a = 0; a < v % 4; a++) {
  s += simd_sum(10u);
  for (uint b = 0; b < (v >> a) % 5; b++) s += simd_sum(a * 100 + b + 1);
  if (s % 2) s += simd_sum(3u);
}
o[i] = s;""")
def nested_loops(x):
    s = np.zeros_like(x)
    for a in range(4):
        outer = a < x % 4
        s[outer] += np.uint32(10 * outer.sum())
        for b in range(5):
            inner = outer & (b < (x >> a) % 5)
            s[inner] += np.uint32((a * 100 + b + 1) * inner.sum())
        odd = outer & (s % 2 == 1)
        s[odd] += np.uint32(3 * odd.sum())
    return s


@case("""uint s = 0;
for (uint a = 0; a < 3; a++)
  for (uint b = 0; b < v % 6; b++) {
    for (uint c = 0; c < (v + b) % 4; c++) {
      s += simd_sum(c + 1);
      if ((v + a + c) % 13 == 0) { o[i] = s; return; }
    }
    if ((v + b) % 3 == a) break;
    s += 100 * simd_sum(b + 1);
  }
o[i] = s + 1;""")
def three_deep_with_returns(x):
    s, live = np.zeros_like(x), np.ones(len(x), bool)
    for a in range(3):
        inside = live.copy()
        for b in range(6):
            inside &= live & (b < x % 6)
            turning = inside.copy()
            for c in range(4):
                turning &= live & (c < (x + b) % 4)
                s[turning] += np.uint32((c + 1) * turning.sum())
                live &= ~(turning & ((x + a + c) % 13 == 0))
            inside &= live & ((x + b) % 3 != a)
            s[inside] += np.uint32(100 * (b + 1) * inside.sum())
    return s + live.astype(np.uint32)


@case("""uint s = 0;
for (uint k = 0; k < v % 5; k++) s += simd_sum(k + 1);
for (uint k = 0; k < v % 3; k++) s += 100 * simd_sum(k + 1);
o[i] = s;""")
def one_loop_after_another(x):
    s = np.zeros_like(x)
    for count, scale in ((5, 1), (3, 100)):
        for k in range(count):
            on = k < x % count
            s[on] += np.uint32(scale * (k + 1) * on.sum())
    return s


@case("""uint s = v;
while (true) {
  uint most = simd_max(s);
  if (s == most) { s = 0; break; }
  if (simd_sum(1u) < 3) break;
  s += most;
  if (s > 5000) break;
}
o[i] = s;""")
def condition_from_others(x):
    s, live = x.copy(), np.ones(len(x), bool)
    while live.any():
        most = s[live].max()
        top = live & (s == most)
        s[top] = 0
        live &= ~top
        if live.sum() < 3:
            break
        s[live] += most
        live &= s <= 5000
    return s


@case("""uint s = 0, k = 0;
do {
  if (v & 1) { s += simd_sum(v); } else { s += 7 * simd_sum(k + 1); }
  v >>= 1;
  k++;
} while (v != 0 && !simd_all(v < 8));
o[i] = s * 64 + k;""")
def vote_in_condition(x):
    v, s, count = x.copy(), np.zeros_like(x), np.zeros_like(x)
    live, k = np.ones(len(x), bool), 0
    while live.any():
        odd, even = live & (v % 2 == 1), live & (v % 2 == 0)
        s[odd] += v[odd].sum(dtype=np.uint32)
        s[even] += np.uint32(7 * (k + 1) * even.sum())
        v[live] >>= np.uint32(1)
        k += 1
        count[live] += np.uint32(1)
        live &= v != 0
        if (v[live] < 8).all():
            break
    return s * np.uint32(64) + count


# ---- Threadgroups


def simdgroups(x: np.ndarray) -> list[np.ndarray]:
    return [x[at : at + 32] for at in range(0, len(x), 32)]


@case(
    """threadgroup uint part[32];
uint sum = simd_sum(v);
if (simd_is_first()) part[simdgroup_index_in_threadgroup] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (lane < simdgroups_per_threadgroup) sum = simd_sum(part[lane]);
o[i] = sum;""",
    whole=True,
)
def sum_of_threadgroup(x):
    # A lane per SIMD-group adds up the parts, if its own SIMD-group has so many lanes.
    groups = simdgroups(x)
    parts = [int(g.sum()) for g in groups]
    result = [np.full_like(g, p) for g, p in zip(groups, parts, strict=True)]
    for row in result:
        row[: len(groups)] = sum(parts[: len(row)])
    return np.concatenate(result)


@case(
    """threadgroup uint t[1024];
uint l = thread_position_in_threadgroup.x, n = threads_per_threadgroup.x;
t[l] = v;
for (uint k = 0; k < 4; k++) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint next = t[(l + 1) % n];
  if ((next + k) % 2) next = simd_sum(next) % 100;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  t[l] = next;
}
o[i] = t[l];""",
    whole=True,
)
def barriers_in_a_loop(x):
    t = x.copy()
    for k in range(4):
        rows = simdgroups(np.roll(t, -1))
        for row in rows:
            odd = (row + k) % 2 == 1
            row[odd] = row[odd].sum() % 100
        t = np.concatenate(rows)
    return t


@case(
    """threadgroup uint t[1024];
uint l = thread_position_in_threadgroup.x, back = threads_per_threadgroup.x - 1 - l;
bool stays = x[i - l + back] % 6;
if (v % 6 == 0) { o[i] = 0; return; }
t[l] = simd_sum(v);
threadgroup_barrier(mem_flags::mem_threadgroup);
uint s = simd_sum(1u);
threadgroup_barrier(mem_flags::mem_threadgroup);
o[i] = s + (stays ? t[back] : 5);""",
    whole=True,
)
def returned_threads_have_arrived(x):
    t, count = [], []
    for row in simdgroups(x):
        on = row % 6 != 0
        t.append(masked(np.full_like(row, 5), on, row[on].sum()))
        count.append(np.full_like(row, on.sum()))
    return masked(np.concatenate(count) + np.concatenate(t)[::-1], x % 6 == 0, 0)


@case("""threadgroup uint t[1024];
uint l = thread_position_in_threadgroup.x, base = l - lane;
uint last = min(31u, threads_per_threadgroup.x - 1 - base);
for (uint k = 0; k < 3; k++) {
  t[l] = v;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  v += t[base + (lane == last ? 0 : lane + 1)];
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
o[i] = v;""")
def simdgroup_barriers(x):
    for _ in range(3):
        x = x + np.roll(x, -1)
    return x


def test_threadgroups_in_three_dimensions() -> None:
    """SIMD-groups are 32 consecutive threads, x fastest, also where they span rows."""
    body = """
    uint3 p = thread_position_in_grid, n = threads_per_grid;
    uint i = (p.z * n.y + p.y) * n.x + p.x, s = 0;
    for (uint k = 0; k < x[i] % 4; k++) s += simd_sum(x[i]) + simd_shuffle_xor(k, 1);
    o[i] = s;
    """
    kernel = anymetal.metal_kernel(
        name="scalar_build_3d", input_names=["x"], output_names=["o"], source=body
    )
    x = mx.array(data(7 * 9 * 5, np.uint32))
    results = []
    for width in (1, 32):
        with gang_width(width):
            (result,) = kernel(
                inputs=[x],
                output_shapes=[x.shape],
                output_dtypes=[mx.uint32],
                grid=(7, 9, 5),
                threadgroup=(5, 4, 3),
            )
            mx.eval(result)
        results.append(np.array(result))
    np.testing.assert_array_equal(*results)
