// Logarithms of float: log, log2, log10.
//
// x is 2^e m with m between the roots of 1/2 and 2. The logarithm of m is a minimax polynomial in
// m - 1, which is exact (anymetal/testing/minimax.py prints the coefficients).
#pragma once

namespace __am::elementary {

struct split_number {
  float fraction;  // m - 1
  float exponent;  // e
};
inline split_number split_at_root(float x) {
  const uint root = 0x3f3504f3;
  const uint exponent = (to_bits(x) - root) & 0xff800000;
  return {__builtin_bit_cast(float, to_bits(x) - exponent) - 1, float(int(exponent) >> 23)};
}

// A logarithm's result with those of zero, negative numbers, infinity and NaN.
inline float defined(float result, float x) {
  const float other = choose(x == 0, -__builtin_inff(), __builtin_nanf(""));
  return choose(x > 0, choose(x < __builtin_inff(), result, x), other);
}

// log(1 + f) - f
inline float log_rest(float f) {
  AM_AS_WRITTEN
  const float more =
      polynomial(f, 0x1.555548p-2f, -0x1.00000ap-2f, 0x1.99a468p-3f, -0x1.555af8p-3f,
                 0x1.233c5ap-3f, -0x1.fc5684p-4f, 0x1.e6e2fcp-4f, -0x1.d6796ep-4f, 0x1.03bbf8p-4f);
  return f * f * (f * more - 0.5f);
}
// The same, wrong by 2^-26.
inline float fast_log_rest(float f) {
  AM_AS_WRITTEN
  const float more = polynomial(f, 0x1.555802p-2f, -0x1.00028cp-2f, 0x1.988664p-3f,
                                -0x1.53a4a8p-3f, 0x1.34c158p-3f, -0x1.23dc64p-3f, 0x1.50a904p-4f);
  return f * f * (f * more - 0.5f);
}

inline float log_sum(split_number parts, float rest) {
  AM_AS_WRITTEN
  const float small = parts.exponent * 0x1.7f7d1cp-20f + rest;
  return parts.exponent * 0x1.62e4p-1f + (parts.fraction + small);
}
inline float log2_sum(split_number parts, float rest) {
  AM_AS_WRITTEN
  const float small = parts.fraction * 0x1.4ae0cp-26f + rest * 0x1.715476p+0f;
  return parts.exponent + (parts.fraction * 0x1.715476p+0f + small);
}

inline float log(float x) {
  const split_number parts = split_at_root(x);
  return defined(log_sum(parts, log_rest(parts.fraction)), x);
}
inline float log2(float x) {
  const split_number parts = split_at_root(x);
  return defined(log2_sum(parts, log_rest(parts.fraction)), x);
}
inline float log10(float x) {
  AM_AS_WRITTEN
  const split_number parts = split_at_root(x);
  const float f = parts.fraction;
  const float smallest = f * -0x1.5b235ep-27f + log_rest(f) * 0x1.bcb7b2p-2f;
  const float small = parts.exponent * 0x1.3509f8p-18f + (f * 0x1.bcb7b2p-2f + smallest);
  return defined(parts.exponent * 0x1.344p-2f + small, x);
}
inline float fast_log(float x) {
  const split_number parts = split_at_root(x);
  return defined(log_sum(parts, fast_log_rest(parts.fraction)), x);
}
inline float fast_log2(float x) {
  const split_number parts = split_at_root(x);
  return defined(log2_sum(parts, fast_log_rest(parts.fraction)), x);
}

}  // namespace __am::elementary
