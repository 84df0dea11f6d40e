"""Cross-lane calls in branches, loops and between barriers: who is active where."""

from __future__ import annotations

import numpy as np

from tests.simd.cross_lane import case, masked


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
