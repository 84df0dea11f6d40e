"""simd_sum and atomics: the cosine of the angle between two long vectors.

Every SIMD-group adds its 32 products up without touching memory; one lane of it then adds the sum
to the result with an atomic, since SIMD-groups run at the same time. That is one atomic for 256
elements.
"""

import mlx.core as mx

import anymetal

ELEMENTS_PER_THREAD = 8

kernel = anymetal.metal_kernel(
    name="dot_products",
    input_names=["a", "b"],
    output_names=["sums"],  # a·b, a·a, b·b
    source="""
        uint lane = thread_index_in_simdgroup;
        uint start = thread_position_in_grid.x / 32 * 32 * PER_THREAD;
        float ab = 0, aa = 0, bb = 0;
        for (uint k = 0; k < PER_THREAD; ++k) {
            uint i = start + 32 * k + lane;  // neighbours in memory for neighbouring lanes
            if (i < uint(a_shape[0])) {
                ab += a[i] * b[i];
                aa += a[i] * a[i];
                bb += b[i] * b[i];
            }
        }
        ab = simd_sum(ab);
        aa = simd_sum(aa);
        bb = simd_sum(bb);
        if (lane == 0) {
            atomic_fetch_add_explicit(&sums[0], ab, memory_order_relaxed);
            atomic_fetch_add_explicit(&sums[1], aa, memory_order_relaxed);
            atomic_fetch_add_explicit(&sums[2], bb, memory_order_relaxed);
        }
    """,
    atomic_outputs=True,
)


def cosine(a: mx.array, b: mx.array) -> mx.array:
    """Cosine of the angle between two float32 vectors."""
    simd_groups = -(-a.size // (32 * ELEMENTS_PER_THREAD))
    (sums,) = kernel(
        inputs=[a, b],
        template=[("PER_THREAD", ELEMENTS_PER_THREAD)],
        grid=(32 * simd_groups, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(3,)],
        output_dtypes=[mx.float32],
        init_value=0,
    )
    return sums[0] / mx.sqrt(sums[1] * sums[2])


def cosine_in_float64(a: mx.array, b: mx.array) -> float:
    """The same with MLX's operations, which have float64 on the CPU."""
    with mx.stream(mx.cpu):
        a, b = a.astype(mx.float64), b.astype(mx.float64)
        return float(mx.sum(a * b) / mx.sqrt(mx.sum(a * a) * mx.sum(b * b)))


if __name__ == "__main__":
    for size in (31, 1000, 1_000_003):
        a = mx.random.normal((size,))
        b = a + mx.random.normal((size,))
        got, expected = float(cosine(a, b)), cosine_in_float64(a, b)
        print(f"{size:>9,} elements: cosine {got:.7f}, in float64 {expected:.7f}")
        assert abs(got - expected) < 1e-5
