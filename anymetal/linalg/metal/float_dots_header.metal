// A sum in two floats. `error` gathers what the additions to `sum` lost and what the products
// lost, as in Dot2 of Ogita, Rump and Oishi (2005), algorithm 5.3.
struct Sum {
    float sum, error;
};

// Knuth's TwoSum: `value` joins the sum; what rounding loses of that, exactly.
inline float add_losing(thread float& sum, float value) {
    const float total = sum + value;
    const float part = total - sum;
    const float lost = (sum - (total - part)) + (value - part);
    sum = total;
    return lost;
}

inline void add(thread Sum& to, float value) { to.error += add_losing(to.sum, value); }

inline void add(thread Sum& to, Sum other) {
    add(to, other.sum);
    to.error += other.error;
}

template <bool COMPENSATED>
inline void add_product(thread Sum& to, float x, float y) {
    if (COMPENSATED) {
        const float product = x * y;
        add(to, product);
        to.error += metal::fma(x, y, -product);
    } else {
        to.sum = metal::fma(x, y, to.sum);
    }
}

template <bool COMPENSATED>
inline void add_lanes(thread Sum& sum) {
    #pragma unroll
    for (ushort distance = 16; distance > 0; distance /= 2) {
        const Sum other = {metal::simd_shuffle_xor(sum.sum, distance),
                           metal::simd_shuffle_xor(sum.error, distance)};
        if (COMPENSATED) {
            add(sum, other);
        } else {
            sum.sum += other.sum;
        }
    }
}

// A SIMD-group adds products [begin, end): all lanes together while there are enough of them.
template <typename Total, bool COMPENSATED, typename Floats, typename OtherFloats>
inline Total add_products(Floats x, OtherFloats y, uint begin, uint end, uint lane) {
    Total sum = {};
    const uint rest = end - (end - begin) % 32;
    for (uint i = begin; i < rest; i += 32) add_product<COMPENSATED>(sum, x[i + lane], y[i + lane]);
    if (rest + lane < end) add_product<COMPENSATED>(sum, x[rest + lane], y[rest + lane]);
    add_lanes<COMPENSATED>(sum);
    return sum;
}

// After an overflow the errors are undefined; the sum is what additions without errors give.
inline float result_of(Sum sum) {
    return metal::isfinite(sum.error) ? sum.sum + sum.error : sum.sum;
}
