// Exponential functions of float: exp, exp2, exp10, expm1, sinh, cosh, tanh.
//
// They are ordinary code of one thread, without calls, tables and branches, which the vectorizer
// turns into whole registers. An argument is split into n ln 2 + r with |r| <= ln 2 / 2, by two-part
// constants whose first product is exact; e^r is a polynomial, and n is added to its exponent. The
// polynomials are minimax ones with float coefficients (anymetal/testing/minimax.py prints them).
#pragma once

// Math modes allow to reorder sums and to skip roundings; here they are what makes results right.
// Products that are added are fused where the processor can do that, and need not be.
#define AM_AS_WRITTEN _Pragma("clang fp reassociate(off) reciprocal(off) contract(on)")

namespace __am::elementary {

// A selection of values that exist: `?:` alone would leave room for a branch around what it takes.
template <typename T>
inline T choose(bool condition, T a, T b) {
  return condition ? a : b;
}

// The value of a polynomial, coefficients in the order of the powers. Pairs of them are added up in
// x^2, which makes the chain of dependent operations half as long as Horner's.
inline float polynomial(float, float last) { return last; }
template <typename... More>
inline float polynomial(float x, float first, float second, More... more) {
  AM_AS_WRITTEN
  const float pair = first + x * second;
  if constexpr (sizeof...(More) == 0) {
    return pair;
  } else {
    return pair + x * x * polynomial(x, more...);
  }
}

// Added to a small number, leaves the nearest whole number in the last bits of the sum.
constexpr float to_whole = 0x1.8p23f;

// value * 2^n, n in the last bits of `shifted`; no overflow on the way to a normal result.
inline float scaled(float value, float shifted) {
  return __builtin_bit_cast(float, to_bits(value) + (to_bits(shifted) << 23));
}

// An exponential function's result with what lies outside of [low, high]; NaN stays NaN.
inline float limited(float result, float x, float low, float high) {
  AM_AS_WRITTEN
  return choose(x <= high, choose(x < low, 0.0f, result), x + __builtin_inff());
}

// What an exponential function looks at instead of x: no more than gives 0, or infinity, with an
// instruction for powers of two.
inline float within(float x, float low, float high) {
  const float below = choose(x > high + 2, high + 2, x);
  return choose(__am_scales(), choose(below < low - 2, low - 2, below), x);
}

// value * 2^n, n in the last bits of `shifted`: 0 for x below `low`, infinity above `high`.
inline float finished(float value, float shifted, float x, float low, float high) {
  AM_AS_WRITTEN
  return choose(__am_scales(), __am_scale(value, shifted - to_whole),
                limited(scaled(value, shifted), x, low, high));
}

// e^r for |r| <= ln 2 / 2
inline float exp_core(float r) {
  AM_AS_WRITTEN
  const float rest =
      polynomial(r, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.555858p-5f, 0x1.123de0p-7f, 0x1.6ac74ep-10f);
  return 1 + (r + r * r * rest);
}

// 2^r for |r| <= 1/2
inline float exp2_core(float r) {
  AM_AS_WRITTEN
  return 1 + r * polynomial(r, 0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21cap-7f,
                            0x1.5fbcb4p-10f, 0x1.4bdf9cp-13f);
}

struct split_exponent {
  float rest;     // x - n ln 2
  float shifted;  // n + to_whole
};
inline split_exponent split_ln2(float x) {
  AM_AS_WRITTEN
  const float shifted = x * 0x1.715476p+0f + to_whole;
  const float n = shifted - to_whole;
  return {(x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f, shifted};
}

inline float exp(float x) {
  constexpr float low = -0x1.5d589ep+6f, high = 0x1.62e42ep+6f;
  const split_exponent parts = split_ln2(within(x, low, high));
  return finished(exp_core(parts.rest), parts.shifted, x, low, high);
}

inline float exp2(float x) {
  AM_AS_WRITTEN
  constexpr float low = -126, high = 0x1.fffffep+6f;
  const float inside = within(x, low, high), shifted = inside + to_whole;
  const float r = inside - (shifted - to_whole);
  return finished(exp2_core(r), shifted, x, low, high);
}

inline float exp10(float x) {
  AM_AS_WRITTEN
  constexpr float low = -0x1.2f702ep+5f, high = 0x1.344134p+5f;
  const float inside = within(x, low, high), shifted = inside * 0x1.a934fp+1f + to_whole;
  const float n = shifted - to_whole;
  const float r = (inside - n * 0x1.344p-2f) - n * 0x1.3509f8p-18f;
  return finished(exp_core(r * 0x1.26bb1cp+1f), shifted, x, low, high);
}

// (e^x - 1) 2^-drop for 0 <= x < 90, accurate for small x.
inline float expm1_core(split_exponent parts, int drop) {
  AM_AS_WRITTEN
  const float r = parts.rest;
  const float rest = polynomial(r, 0.5f, 0x1.555554p-3f, 0x1.5554eap-5f, 0x1.1113acp-7f,
                                0x1.6d4c7p-10f, 0x1.9c5994p-13f);
  const float factor = scaled(power_of_two(-drop), parts.shifted);
  return factor * (r + r * r * rest) + (factor - power_of_two(-drop));
}

// tanh r for |r| <= ln 2 / 4
inline float tanh_core(float r) {
  AM_AS_WRITTEN
  const float square = r * r;
  return r + r * square * polynomial(square, -0x1.554feep-2f, 0x1.0c816ap-3f);
}

// (e^2x - 1) / (e^2x + 1), where e^2x = 2^n (1 + t) / (1 - t) with t = tanh r; 1 from x = 9.02 on.
// The larger n, the less does e^2x matter: what a float lacks of n ln 2 is nothing here.
inline float tanh(float x) {
  AM_AS_WRITTEN
  const float size = __builtin_fabsf(x), inside = choose(size > 9.5f, 9.5f, size);
  const float shifted = inside * 0x1.715476p+1f + to_whole;
  const float t = tanh_core(inside - (shifted - to_whole) * 0x1.62e43p-2f);
  const float power = scaled(1, shifted), less = power - 1, more = power + 1;
  return __builtin_copysignf((less + t * more) / (more + t * less), x);
}

// With g = e^|x| - 1: (g + g / (g + 1)) / 2. A quarter of g overflows only where the result does.
inline float sinh(float x) {
  AM_AS_WRITTEN
  const float size = __builtin_fabsf(x);
  const float quarter = expm1_core(split_ln2(size), 2);
  const float result = 2 * (quarter + quarter / (4 * quarter + 1));
  const float finite = choose(size < 89.5f, result, size + __builtin_inff());
  return __builtin_copysignf(choose(size < 0x1p-12f, size, finite), x);
}

inline float cosh(float x) {
  AM_AS_WRITTEN
  const float size = __builtin_fabsf(x);
  const split_exponent parts = split_ln2(size);
  const float quarter = scaled(0.25f * exp_core(parts.rest), parts.shifted);
  const float result = 2 * quarter + 0.125f / quarter;
  return choose(size < 89.5f, result, size + __builtin_inff());
}

}  // namespace __am::elementary
