// Sums of products of floats in a window of LIMBS limbs of 16 bits, each in a word of 32 bits, so
// that thousands of additions fit before carries must move. Floats come as their bits: hardware may
// flush subnormal numbers, and nothing here computes with floats.

// Exponent of the last bit that a product can have, and of a product that is zero.
constant constexpr int LAST = -298, NOTHING = -1000;

// What a product with an infinite or undefined factor is; a sum has the bits of all its products.
constant constexpr int PLUS_INFINITY = 1, MINUS_INFINITY = 2, UNDEFINED = 4;

struct Limbs {
    int word[LIMBS];  // the sum is that of word[j] * 2^(16 j), times 2^bottom of the window
};

// |x| = significand * 2^exponent, exactly, for numbers of any kind.
struct Factor {
    uint significand;
    int exponent;
};

inline uint exponent_field(uint bits) { return bits >> 23 & 0xff; }

inline Factor factor(uint bits) {
    const uint field = exponent_field(bits);
    return {(bits & 0x7fffff) | (field != 0 ? 0x800000 : 0), int(metal::max(field, 1u)) - 150};
}

inline int product_exponent(uint x, uint y) {
    const bool some = (x << 1) != 0 && (y << 1) != 0;
    return some ? factor(x).exponent + factor(y).exponent : NOTHING;
}

inline int special_product(uint x, uint y) {
    if (metal::max(exponent_field(x), exponent_field(y)) != 255) return 0;
    const bool nan = (x << 1) > 0xff000000 || (y << 1) > 0xff000000;
    const bool zero = (x << 1) == 0 || (y << 1) == 0;
    if (nan || zero) return UNDEFINED;
    return int(x ^ y) < 0 ? MINUS_INFINITY : PLUS_INFINITY;
}

// What decides the window of a sum: the largest exponent of its products, and special products.
struct Survey {
    int exponent;
    int special;
};

inline Survey both(Survey a, Survey b) {
    return {metal::max(a.exponent, b.exponent), a.special | b.special};
}

// A SIMD-group looks at products [begin, end). Small inputs lie in `constant`, others in `device`.
template <typename Words, typename OtherWords>
inline Survey survey(Words x, OtherWords y, uint begin, uint end, uint lane) {
    int exponent = NOTHING;
    uint field = 0;
    for (uint i = begin + lane; i < end; i += 32) {
        exponent = metal::max(exponent, product_exponent(x[i], y[i]));
        field = metal::max(field, metal::max(exponent_field(x[i]), exponent_field(y[i])));
    }
    int special = 0;
    if (metal::simd_max(field) == 255) {
        for (uint i = begin + lane; i < end; i += 32) special |= special_product(x[i], y[i]);
    }
    return {metal::simd_max(exponent), metal::simd_or(special)};
}

// What was found in all blocks, by a SIMD-group.
template <typename Words>
inline Survey survey_of_blocks(Words surveys, uint blocks, uint lane) {
    Survey found = {NOTHING, 0};
    for (uint block = lane; block < blocks; block += 32) {
        found = both(found, {surveys[2 * block], surveys[2 * block + 1]});
    }
    return {metal::simd_max(found.exponent), metal::simd_or(found.special)};
}

// Bits that a sum of `count` numbers may be longer than they are.
inline int headroom(uint count) { return count > 1 ? 32 - int(metal::clz(count - 1)) : 0; }

// Exponent of the window's lowest bit. Products are below 2^(largest + 48), so `count` of them fit
// below the sign bit, the highest one.
inline int window_bottom(int largest, uint count) {
    return largest + 48 + headroom(count) - (16 * LIMBS - 1);
}

// Add x * y without what lies below the window.
inline void add_product(thread Limbs& sum, uint x, uint y, int bottom) {
    const Factor a = factor(x), b = factor(y);
    const ulong product = ulong(a.significand) * b.significand << 16;
    const int sign = int(x ^ y) >> 31;
    // A limb outside of the product gets a count that is negative, hence huge, or 64 and more.
    const uint first = uint(bottom + 16 - a.exponent - b.exponent);
    #pragma unroll
    for (int j = 0; j < LIMBS; ++j) {
        const uint count = first + 16 * j;
        const int limb = count < 64 ? int(product >> count & 0xffff) : 0;
        sum.word[j] += (limb ^ sign) - sign;
    }
}

// Leave 16 bits in each word; the last one keeps the sign.
inline void carry(thread Limbs& sum) {
    #pragma unroll
    for (int j = 0; j < LIMBS - 1; ++j) {
        sum.word[j + 1] += sum.word[j] >> 16;
        sum.word[j] &= 0xffff;
    }
}

// The sum over the lanes, for all of them. Words hold at most 2^26, after a carry for instance.
inline void add_lanes(thread Limbs& sum) {
    #pragma unroll
    for (int j = 0; j < LIMBS; ++j) sum.word[j] = metal::simd_sum(sum.word[j]);
    carry(sum);
}

// A SIMD-group adds products [begin, end), at most 2^14 per lane: 2^14 * 2^16 < 2^31.
template <typename Words, typename OtherWords>
inline Limbs add_products(Words x, OtherWords y, uint begin, uint end, int bottom, uint lane) {
    Limbs sum = {};
    for (uint i = begin + lane; i < end; i += 32) add_product(sum, x[i], y[i], bottom);
    carry(sum);
    add_lanes(sum);
    return sum;
}

// A positive number: significand * 2^exponent and, if `more`, less than 2^exponent beyond it.
struct Magnitude {
    ulong significand;  // its highest bit is set
    int exponent;
    bool more;
};

inline uint rounded(Magnitude number) {
    const int top = number.exponent + 63;
    if (top > 127) return 0x7f800000;
    const int surplus = 40 + metal::max(-126 - top, 0);  // bits that a float has no place for
    if (surplus > 64) return 0;
    const ulong kept = surplus < 64 ? number.significand >> surplus : 0;
    const ulong rest = number.significand << (64 - surplus);  // a fraction of 2^64
    const ulong half_way = ulong(1) << 63;
    const bool up = rest > half_way || (rest == half_way && (number.more || (kept & 1)));
    // The leading bit of a normal number, and that of one rounded up, is added to the exponent.
    return (uint(metal::max(top + 126, 0)) << 23) + uint(kept) + uint(up);
}

inline Magnitude square_root(Magnitude number) {
    if (number.exponent & 1) {
        number.more = number.more || (number.significand & 1);
        number.significand >>= 1;
        number.exponent += 1;
    }
    ulong root = 0, rest = number.significand;
    for (ulong bit = ulong(1) << 62; bit != 0; bit >>= 2) {  // one binary digit of the root each
        const bool digit = rest >= root + bit;
        rest -= digit ? root + bit : 0;
        root = (root >> 1) + (digit ? bit : 0);
    }
    return {root << 32, number.exponent / 2 - 32, number.more || rest != 0};
}

// |sum| from its highest bit on; zero has no such bit.
inline Magnitude magnitude(Limbs sum, int bottom) {
    if (sum.word[LIMBS - 1] < 0) {
        #pragma unroll
        for (int j = 0; j < LIMBS; ++j) sum.word[j] = -sum.word[j];
        carry(sum);
    }
    Magnitude number = {0, bottom + 16 * LIMBS, false};
    #pragma unroll
    for (int j = LIMBS - 1; j >= 0; --j) {
        const uint word = uint(sum.word[j]);
        const int taken = metal::min(int(metal::clz(number.significand)), 16);
        number.significand = number.significand << taken | word >> (16 - taken);
        number.exponent -= taken;
        number.more = number.more || (word << taken & 0xffff) != 0;
    }
    if (number.significand != 0) {
        const int shift = int(metal::clz(number.significand));
        number.significand <<= shift;
        number.exponent -= shift;
    }
    return number;
}

inline uint special_value(int special) {
    if (special == PLUS_INFINITY) return 0x7f800000;
    return special == MINUS_INFINITY ? 0xff800000 : 0x7fc00000;
}

// A sum as the bits of a float, or its root, and whether what the window has cut off is below
// 2^digits of it.
struct Finished {
    uint bits;
    bool enough;
};

inline Finished finished(Limbs sum, Survey found, uint count, bool root, int digits) {
    if (found.special != 0) return {special_value(found.special), true};
    if (found.exponent == NOTHING) return {0, true};
    const int bottom = window_bottom(found.exponent, count);
    const Magnitude number = magnitude(sum, bottom);
    const bool whole = bottom <= LAST;
    if (number.significand == 0) return {0, whole};
    const uint sign = sum.word[LIMBS - 1] < 0 ? 0x80000000 : 0;
    const bool enough = whole || bottom + headroom(count) <= number.exponent + 63 + digits;
    return {rounded(root ? square_root(number) : number) | sign, enough};
}
