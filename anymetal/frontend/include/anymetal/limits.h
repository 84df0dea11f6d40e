// numeric_limits<T> for every scalar type. In Metal's headers it is derived from another template,
// which kernels specialise for types of their own.
#pragma once

namespace __am {

template <typename T>
struct integer_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = is_signed_v<T>;
  static constexpr bool is_integer = true;
  static constexpr bool is_exact = true;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = !is_signed_v<T>;
  static constexpr int radix = 2;
  static constexpr int digits = is_same_v<T, bool> ? 1 : int(sizeof(T) * 8) - is_signed_v<T>;
  static constexpr int digits10 = digits * 30103 / 100000;
  static constexpr int max_digits10 = 0;
  static constexpr int min_exponent = 0;
  static constexpr int min_exponent10 = 0;
  static constexpr int max_exponent = 0;
  static constexpr int max_exponent10 = 0;

  static constexpr T max() {
    return static_cast<T>(static_cast<ulong>(-1) >> (64 - digits));
  }
  static constexpr T min() { return is_signed ? static_cast<T>(-max() - 1) : static_cast<T>(0); }
  static constexpr T lowest() { return min(); }
  static constexpr T epsilon() { return T(0); }
  static constexpr T round_error() { return T(0); }
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
  static constexpr T signaling_NaN() { return T(0); }
  static constexpr T denorm_min() { return T(0); }
};

// A binary format of `Digits` significant bits whose largest exponent is `Exponent`.
template <typename T, int Digits, int Exponent, int Digits10, int MaxDigits10, int Exponent10,
          int MinExponent10>
struct float_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int radix = 2;
  static constexpr int digits = Digits;
  static constexpr int digits10 = Digits10;
  static constexpr int max_digits10 = MaxDigits10;
  static constexpr int min_exponent = 3 - Exponent;
  static constexpr int min_exponent10 = MinExponent10;
  static constexpr int max_exponent = Exponent;
  static constexpr int max_exponent10 = Exponent10;

  using bits = conditional_t<sizeof(T) == 2, ushort, uint>;
  static constexpr bits infinite = bits((2 * Exponent - 1) << (Digits - 1));
  static constexpr bits quiet = bits(1) << (Digits - 2);
  static constexpr T of(bits value) { return __builtin_bit_cast(T, value); }

  static constexpr T max() { return of(infinite - 1); }
  static constexpr T min() { return of(bits(1) << (Digits - 1)); }
  static constexpr T lowest() { return -max(); }
  static constexpr T epsilon() { return of((Exponent - Digits) << (Digits - 1)); }
  static constexpr T round_error() { return T(0.5f); }
  static constexpr T infinity() { return of(infinite); }
  static constexpr T quiet_NaN() { return of(infinite | quiet); }
  static constexpr T signaling_NaN() { return of(infinite | quiet >> 1); }
  static constexpr T denorm_min() { return of(1); }
};

}  // namespace __am

namespace metal {

template <typename T>
struct _numeric_limits_impl {
  static constexpr bool is_specialized = false;
};
template <typename T>
struct numeric_limits : _numeric_limits_impl<T> {};
template <typename T>
struct numeric_limits<const T> : numeric_limits<T> {};

#define AM_INTEGER_LIMITS(T) \
  template <>                \
  struct _numeric_limits_impl<T> : __am::integer_limits<T> {};
AM_INTEGER_LIMITS(bool)
AM_INTEGER_LIMITS(char)
AM_INTEGER_LIMITS(signed char)
AM_INTEGER_LIMITS(uchar)
AM_INTEGER_LIMITS(short)
AM_INTEGER_LIMITS(ushort)
AM_INTEGER_LIMITS(int)
AM_INTEGER_LIMITS(uint)
AM_INTEGER_LIMITS(long)
AM_INTEGER_LIMITS(ulong)
AM_INTEGER_LIMITS(long long)
AM_INTEGER_LIMITS(unsigned long long)
#undef AM_INTEGER_LIMITS

template <>
struct _numeric_limits_impl<float> : __am::float_limits<float, 24, 128, 6, 9, 38, -37> {};
template <>
struct _numeric_limits_impl<half> : __am::float_limits<half, 11, 16, 3, 5, 4, -4> {};
template <>
struct _numeric_limits_impl<bfloat> : __am::float_limits<bfloat, 8, 128, 2, 4, 38, -37> {};

}  // namespace metal
