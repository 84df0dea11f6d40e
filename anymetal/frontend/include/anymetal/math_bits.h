// Math functions that are questions about the representation: scaling, splitting, neighbours.
// They work on the bits, so that they vectorize and do not depend on how subnormals are treated.
#pragma once

namespace __am {

template <typename T>
struct float_format;
template <>
struct float_format<float> {
  using bits = uint;
  using sbits = int;
  static constexpr int mantissa = 23;
  static constexpr bits exponent_mask = 0xff;
};
template <>
struct float_format<half> {
  using bits = ushort;
  using sbits = short;
  static constexpr int mantissa = 10;
  static constexpr bits exponent_mask = 0x1f;
};
template <>
struct float_format<bfloat> {
  using bits = ushort;
  using sbits = short;
  static constexpr int mantissa = 7;
  static constexpr bits exponent_mask = 0xff;
};

template <typename T>
using bits_of = typename float_format<T>::bits;

template <typename T>
constexpr bits_of<T> to_bits(T value) {
  return __builtin_bit_cast(bits_of<T>, value);
}
template <typename T>
constexpr bits_of<T> sign_bit = bits_of<T>(bits_of<T>(1) << (sizeof(T) * 8 - 1));
template <typename T>
constexpr bits_of<T> infinity_bits =
    bits_of<T>(float_format<T>::exponent_mask << float_format<T>::mantissa);

// The bits without the sign: in the order of the magnitudes, NaN last.
template <typename T>
constexpr bits_of<T> magnitude_bits(T value) {
  return to_bits(value) & bits_of<T>(~sign_bit<T>);
}

constexpr float power_of_two(int exponent) {
  return __builtin_bit_cast(float, uint(exponent + 127) << 23);
}

constexpr int limit_exponent(int exponent) {
  return exponent < -126 ? -126 : exponent > 126 ? 126 : exponent;
}

// A finite non-zero number as mantissa bits (implicit bit included) and binary exponent; subnormal
// numbers are normalised.
struct split_float {
  uint mantissa;
  int exponent;
};
constexpr split_float split(float x) {
  const uint bits = magnitude_bits(x);
  const int biased = bits >> 23;
  const uint mantissa = bits & 0x7fffff;
  const int shift = __builtin_clzg(mantissa, 32) - 8;
  return {biased == 0 ? mantissa << (shift & 31) : mantissa | 0x800000,
          biased == 0 ? -126 - shift : biased - 127};
}

constexpr bool is_zero_or_not_finite(float x) {
  const uint bits = magnitude_bits(x);
  return bits == 0 || bits >= infinity_bits<float>;
}

// The neighbour of x in the direction of y: numbers of one sign are ordered like their bits.
template <typename T>
constexpr T next_after(T x, T y) {
  using format = float_format<T>;
  if (magnitude_bits(x) > infinity_bits<T>) return x;
  if (magnitude_bits(y) > infinity_bits<T>) return y;
  const int a = to_bits(x) & sign_bit<T> ? -int(magnitude_bits(x)) : int(magnitude_bits(x));
  const int b = to_bits(y) & sign_bit<T> ? -int(magnitude_bits(y)) : int(magnitude_bits(y));
  if (a == b) return y;
  const int next = a < b ? a + 1 : a - 1;
  const bits_of<T> sign = next < 0 || (next == 0 && a < 0) ? sign_bit<T> : 0;
  return __builtin_bit_cast(T, bits_of<T>(sign | (next < 0 ? -next : next)));
}

}  // namespace __am

namespace metal {

constexpr float copysign(float x, float y) { return __builtin_copysignf(x, y); }

// Three factors reach every exponent that a float can change by.
constexpr float ldexp(float x, int k) {
  const int change = k < -378 ? -378 : k > 378 ? 378 : k;
  const int first = __am::limit_exponent(change);
  const int second = __am::limit_exponent(change - first);
  return x * __am::power_of_two(first) * __am::power_of_two(second) *
         __am::power_of_two(change - first - second);
}

constexpr float frexp(float x, int& exponent) {
  if (__am::is_zero_or_not_finite(x)) {
    exponent = 0;
    return x;
  }
  const __am::split_float parts = __am::split(x);
  exponent = parts.exponent + 1;
  const uint sign = __am::to_bits(x) & __am::sign_bit<float>;
  return __builtin_bit_cast(float, sign | 126u << 23 | (parts.mantissa & 0x7fffff));
}

constexpr int ilogb(float x) {
  const uint bits = __am::magnitude_bits(x);
  if (bits == 0) return -__INT_MAX__ - 1;
  if (bits >= __am::infinity_bits<float>) return __INT_MAX__;
  return __am::split(x).exponent;
}

inline float modf(float x, float& whole) {
  whole = __builtin_truncf(x);
  const bool infinite = __am::magnitude_bits(x) == __am::infinity_bits<float>;
  return copysign(infinite ? 0.0f : x - whole, x);
}

constexpr float nextafter(float x, float y) { return __am::next_after(x, y); }
constexpr half nextafter(half x, half y) { return __am::next_after(x, y); }
// MLX takes the step in float, which rounds back to x.
AM_OF_BFLOAT(constexpr bfloat nextafter(bfloat x, bfloat y) {
  return bfloat(nextafter(float(x), float(y)));
})

#define AM_NARROW(T)                                                                       \
  constexpr T copysign(T x, T y) {                                                         \
    return __builtin_bit_cast(                                                             \
        T, ushort(__am::magnitude_bits(x) | (__am::to_bits(y) & __am::sign_bit<T>)));      \
  }                                                                                        \
  constexpr int ilogb(T x) { return ilogb(float(x)); }                                     \
  inline T modf(T x, T& whole) {                                                           \
    float part;                                                                            \
    const T fraction = T(modf(float(x), part));                                            \
    whole = T(part);                                                                       \
    return fraction;                                                                       \
  }
AM_NARROW(half)
AM_NARROW(bfloat)
#undef AM_NARROW

#define AM_NARROW(T)                                                                       \
  constexpr T ldexp(T x, int k) { return T(ldexp(float(x), k)); }                          \
  constexpr T frexp(T x, int& exponent) { return T(frexp(float(x), exponent)); }
AM_NARROW(half)
AM_OF_BFLOAT(AM_NARROW(bfloat))
#undef AM_NARROW

AM_MAP2(copysign)
AM_MIXED2(unify_floating, copysign)
AM_MAP2(nextafter)
AM_MIXED2(unify_floating, nextafter)
AM_MAP1(ilogb)
AM_MIXED1(unify_floating, ilogb)

template <typename T, typename R = float, __am::require<is_integral_v<T>> = 0>
constexpr R ldexp(T x, int k) AM_WARNED(unify_floating, R, T) {
  return ldexp(float(x), k);
}

template <typename T, int N, typename R = vec<T, N>>
constexpr R ldexp(vec<T, N> x, vec<int, N> k) {
  AM_GATHER(R, N, ldexp(x.at(0), k.at(0)), ldexp(x.at(1), k.at(1)), ldexp(x.at(2), k.at(2)),
            ldexp(x.at(3), k.at(3)))
}
template <typename T, int N, typename R = vec<T, N>>
constexpr R frexp(vec<T, N> x, vec<int, N>& k) {
  AM_GATHER(R, N, frexp(x.at(0), k[0]), frexp(x.at(1), k[1]), frexp(x.at(2), k[2]),
            frexp(x.at(3), k[3]))
}
template <typename T, int N, typename R = vec<T, N>>
constexpr R modf(vec<T, N> x, vec<T, N>& whole) {
  AM_GATHER(R, N, modf(x.at(0), whole[0]), modf(x.at(1), whole[1]), modf(x.at(2), whole[2]),
            modf(x.at(3), whole[3]))
}

}  // namespace metal
