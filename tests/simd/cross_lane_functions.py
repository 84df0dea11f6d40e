"""Every cross-lane function, under a mask."""

from __future__ import annotations

import numpy as np

from tests.simd.cross_lane import case, masked, source


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
