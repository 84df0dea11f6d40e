// Sums with what bounds their errors, measured in the same pass: Dot2 as in float_dots_header, and
// beside it the sum of the magnitudes of all rounding errors (Ogita, Rump and Oishi, 2005, algorithm
// 5.8); or a plain sum, and beside it that of the magnitudes of the products.
struct Bounded {
    Sum sum;
    float magnitudes;
    uint largest;  // magnitude of the largest factor, as its bits: NaN and infinity count, too
};

template <bool COMPENSATED>
inline void add_product(thread Bounded& to, float x, float y) {
    const uint magnitude = 0x7fffffff;
    to.largest = metal::max(to.largest, metal::max(as_type<uint>(x) & magnitude,
                                                   as_type<uint>(y) & magnitude));
    if (COMPENSATED) {
        const float product = x * y;
        const float rounded = metal::fma(x, y, -product);
        const float lost = add_losing(to.sum.sum, product);
        to.sum.error += lost;
        to.sum.error += rounded;
        to.magnitudes += metal::fabs(lost);
        to.magnitudes += metal::fabs(rounded);
    } else {
        to.sum.sum = metal::fma(x, y, to.sum.sum);
        to.magnitudes = metal::fma(metal::fabs(x), metal::fabs(y), to.magnitudes);
    }
}

template <bool COMPENSATED>
inline void add(thread Bounded& to, Bounded other) {
    to.magnitudes += other.magnitudes;
    to.largest = metal::max(to.largest, other.largest);
    if (COMPENSATED) {
        const float lost = add_losing(to.sum.sum, other.sum.sum);
        to.sum.error += lost;
        to.sum.error += other.sum.error;
        to.magnitudes += metal::fabs(lost);
    } else {
        to.sum.sum += other.sum.sum;
    }
}

template <bool COMPENSATED>
inline void add_lanes(thread Bounded& sum) {
    #pragma unroll
    for (ushort distance = 16; distance > 0; distance /= 2) {
        add<COMPENSATED>(sum, {{metal::simd_shuffle_xor(sum.sum.sum, distance),
                                metal::simd_shuffle_xor(sum.sum.error, distance)},
                               metal::simd_shuffle_xor(sum.magnitudes, distance),
                               metal::simd_shuffle_xor(sum.largest, distance)});
    }
}

// Whether a sum is within a tolerance, by its own bound. `limits` has the factors of: the magnitudes,
// the largest factor, one, the result; and the tolerance, all as checked_dots.py makes them. What is
// infinite or undefined is not.
template <typename Limits>
inline bool is_within(Bounded sum, float result, Limits limits) {
    const float error = limits[0] * sum.magnitudes + limits[1] * as_type<float>(sum.largest) +
                        limits[2] + limits[3] * metal::fabs(result);
    return metal::isfinite(result) && error <= limits[4] * metal::fabs(result);
}
