// Powers of two by which numbers are scaled, so that their squares neither overflow nor vanish. That
// changes no digit. Hardware may flush subnormal numbers, so those are taken from, and made of, bits.

// Biased exponents of numbers whose squares, and sums of squares, keep all their digits, also those
// of their rounding errors.
constant constexpr uint LEAST_FIELD = 127 - 10, MOST_FIELD = 127 + 40;

inline uint magnitude_bits(float x) { return as_type<uint>(x) & 0x7fffffff; }

// The e with 2^e <= x < 2^(e+1), for the bits of a positive number of any kind.
inline int exponent_of_bits(uint bits) {
    return bits < 0x800000 ? -118 - int(metal::clz(bits)) : int(bits >> 23) - 127;
}

// The exponent by which numbers are scaled whose largest magnitude has these bits, zero where they
// are neither very large nor very small. Zeros, and what is not finite, stay.
inline int scaling_exponent(uint largest) {
    const uint field = largest >> 23;
    if ((field >= LEAST_FIELD && field <= MOST_FIELD) || largest == 0 || field == 255) {
        return 0;
    }
    return metal::max(-exponent_of_bits(largest), -126);
}

// The exponent by which a row and a column of a positive definite matrix are scaled whose element on
// the diagonal is so small that products of what it is made of would vanish, and zero otherwise:
// large ones do no harm.
inline bool is_tiny(float diagonal) {
    const uint bits = as_type<uint>(diagonal);  // huge if the number is negative
    return bits - 1 < ((127 - 60) << 23) - 1;
}

inline int diagonal_exponent(float diagonal) {
    return is_tiny(diagonal) ? -exponent_of_bits(as_type<uint>(diagonal)) / 2 : 0;
}

// 2^exponent, for exponents from -126 to 127.
inline float power_of_two(int exponent) { return as_type<float>(uint(exponent + 127) << 23); }

// x * 2^exponent, for exponents from -252 to 254.
inline float times_power(float x, int exponent) {
    const int half = exponent / 2;
    return x * power_of_two(half) * power_of_two(exponent - half);
}

// x * 2^exponent; subnormal x count where the exponent makes them larger.
inline float scaled(float x, int exponent) {
    const uint bits = magnitude_bits(x);
    if (bits < 0x800000 && exponent > 0) {
        return times_power(metal::copysign(float(bits), x), exponent - 149);
    }
    return times_power(x, exponent);
}

// x * 2^-exponent, rounded to a subnormal number if it is one.
inline float scaled_back(float x, int exponent) {
    if (exponent > 0) {
        const float steps = times_power(metal::fabs(x), 149 - exponent);  // of 2^-149
        if (steps < 0x1p23f) {
            return metal::copysign(as_type<float>(uint(metal::rint(steps))), x);
        }
    }
    return times_power(x, -exponent);
}
