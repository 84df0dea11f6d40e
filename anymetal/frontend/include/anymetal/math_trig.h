// Trigonometric functions of float: sin, cos, tan, and sinpi, cospi.
//
// sin and cos subtract a multiple of pi and have one polynomial on [-pi/2, pi/2]; the parity of the
// multiple is the sign. pi/2 is the sum of four constants: the first three have so few bits that
// their products with whole numbers below 2^13 are exact, and together they are off by 2^-63.
// Larger arguments, which are rare, are divided by pi in integers by a function of the targets; gangs
// without one skip that. There are no other calls, and no tables.
// The polynomials are minimax ones (anymetal/testing/minimax.py prints them).
#pragma once

namespace __am::elementary {

constexpr float trig_limit = 12800;

// x - count * unit * pi / 2
inline float without_quarters(float x, float count, float unit) {
  AM_AS_WRITTEN
  const float most = (x - count * (unit * 0x1.92p+0f)) - count * (unit * 0x1.fb4p-12f);
  return (most - count * (unit * 0x1.444p-24f)) - count * (unit * 0x1.68c234p-39f);
}

// An argument without the nearest multiple of pi or pi / 2, and which multiple that was: only the
// last bit of `count` means something.
struct reduced {
  float rest;
  uint count;
};

// The same of a large argument.
inline reduced large(float x, ulong shift, ulong offset) {
  const ulong both = __am_large_angle(x, shift, offset);
  return {__builtin_bit_cast(float, uint(both)), uint(both >> 32)};
}

// sin(r) for 0 <= r <= pi / 2; sums of rounded terms may be beyond 1, sines are not.
inline float sin_core(float r) {
  AM_AS_WRITTEN
  const float square = r * r;
  const float rest =
      polynomial(square, -0x1.55554cp-3f, 0x1.110edap-7f, -0x1.9f70eep-13f, 0x1.5dc8c4p-19f);
  const float sine = r + r * square * rest;
  return choose(sine > 1, 1.0f, sine);
}

// sin of the whole: odd in the rest, of the other sign behind an odd number of half turns.
inline float sin_of(reduced parts) {
  const uint sign = (to_bits(parts.rest) & 0x80000000) ^ (parts.count << 31);
  const float size = sin_core(__builtin_fabsf(parts.rest));
  return __builtin_bit_cast(float, to_bits(size) ^ sign);
}

inline float sin(float x) {
  AM_AS_WRITTEN
  const float shifted = x * 0x1.45f306p-2f + to_whole;
  reduced parts{without_quarters(x, shifted - to_whole, 2), to_bits(shifted)};
  if (__builtin_fabsf(x) > trig_limit) parts = large(x, 0, 0);
  return sin_of(parts);
}

inline float cos(float x) {
  AM_AS_WRITTEN
  // The zero of cos that is nearest to |x| is (n - 1/2) pi.
  const float size = __builtin_fabsf(x);
  const float shifted = (size * 0x1.45f306p-2f + 0.5f) + to_whole;
  reduced parts{without_quarters(size, (shifted - to_whole) - 0.5f, 2), to_bits(shifted)};
  if (size > trig_limit) parts = large(size, 0, 1ul << 62);
  return sin_of(parts);
}

// tan(r) for |r| <= pi / 4, and -1 / tan(r) behind odd multiples of pi / 2
inline float tan(float x) {
  AM_AS_WRITTEN
  const float shifted = x * 0x1.45f306p-1f + to_whole;
  reduced parts{without_quarters(x, shifted - to_whole, 1), to_bits(shifted)};
  if (__builtin_fabsf(x) > trig_limit) {
    parts = large(x, 1, 0);
    parts.rest *= 0.5f;
  }
  const float r = parts.rest;
  const float square = r * r;
  const float rest = polynomial(square, 0x1.5554dep-2f, 0x1.112deap-3f, 0x1.b5851ep-5f,
                                0x1.9072ap-6f, 0x1.96847ap-9f, 0x1.33e7c6p-7f);
  const float tangent = r + r * square * rest;
  const bool odd = (parts.count & 1) != 0;
  return choose(odd, -1.0f, tangent) / choose(odd, tangent, 1.0f);
}

// sin(pi x) for 0 <= x <= 1/2
inline float sin_pi_core(float x) {
  AM_AS_WRITTEN
  const float square = x * x;
  const float rest = polynomial(square, -0x1.777a5cp-24f, -0x1.4abbcep+2f, 0x1.466ba8p+1f,
                                -0x1.32ccbp-1f, 0x1.4f6cd8p-4f, -0x1.bbd53ep-8f);
  const float sine = x * 0x1.921fb6p+1f + x * rest;
  return choose(sine > 1, 1.0f, sine);
}

// x minus the nearest even number, exactly
inline float half_turns(float x) {
  AM_AS_WRITTEN
  return x - 2 * __builtin_rintf(0.5f * x);
}

inline float sinpi(float x) {
  AM_AS_WRITTEN
  const float turn = half_turns(x);
  const float distance = __builtin_fabsf(turn);
  const float folded = choose(distance > 0.5f, 1 - distance, distance);
  // The zero of a whole number has the sign of the number.
  return __builtin_copysignf(sin_pi_core(folded), choose(folded == 0, x, turn));
}
inline float cospi(float x) {
  AM_AS_WRITTEN
  const float to_zero = 0.5f - __builtin_fabsf(half_turns(x));
  return __builtin_copysignf(sin_pi_core(__builtin_fabsf(to_zero)), to_zero);
}

}  // namespace __am::elementary
