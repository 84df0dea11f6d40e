// <metal_math>: the elementary functions. Every function has a float form; half and bfloat compute
// in float and round once, vectors go component by component, integers convert to float.
//
// The three namespaces of Metal hold the same functions: plain names promise the accuracy of
// metal::precise, and metal::fast differs only where less accuracy buys a shorter sequence.
#pragma once

namespace __am {

#ifdef __NVPTX__
extern "C" __attribute__((const, nothrow)) float rsqrtf(float x);
extern "C" __attribute__((const, nothrow)) float fast_rsqrtf(float x);
#endif

// x - y * trunc(x / y), exactly. In double each step is exact: a quotient of up to 53 bits is wrong
// in its last bit at most, so what is left has fewer bits than the divisor. One step is enough
// unless x is 2^52 times larger than y.
inline float remainder(float x, float y) {
#pragma clang fp reassociate(off)
  const double divisor = __builtin_fabs(static_cast<double>(y));
  double rest = x;
  do {
    rest = __builtin_fma(-__builtin_trunc(rest / divisor), divisor, rest);
  } while (__builtin_fabs(rest) >= divisor);
  // The quotient may have been rounded up.
  const bool beyond = x < 0 ? rest > 0 : rest < 0;
  const double result = beyond ? divisor - __builtin_fabs(rest) : rest;
  return __builtin_isinf(y) && !__builtin_isinf(x) ? x : copysign(static_cast<float>(result), x);
}

// a * b + c in half, rounded once: float holds the product exactly, the error of the sum decides
// between its two neighbours, and the odd one of them cannot be a tie for the final rounding.
inline half fused(half a, half b, half c) {
#pragma clang fp reassociate(off)
  const float product = float(a) * float(b);
  const float addend = c;
  const float sum = product + addend;
  const float part = sum - product;
  const float error = (product - (sum - part)) + (addend - part);
  uint bits = to_bits(sum);
  const bool inexact = error > 0 || error < 0;
  if (inexact && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return half(__builtin_bit_cast(float, bits));
}

}  // namespace __am

namespace metal {

// AM_FUNCTION<n>(name, expression in the float arguments)
#define AM_FUNCTION1(name, ...)                                   \
  inline float name(float x) { return __VA_ARGS__; }              \
  inline half name(half x) { return half(name(float(x))); }       \
  AM_OF_BFLOAT(inline bfloat name(bfloat x) { return bfloat(name(float(x))); }) \
  AM_MAP1(name)                                                   \
  AM_MIXED1(unify_floating, name)
#define AM_FUNCTION2(name, ...)                                                          \
  inline float name(float x, float y) { return __VA_ARGS__; }                            \
  inline half name(half x, half y) { return half(name(float(x), float(y))); }            \
  AM_OF_BFLOAT(inline bfloat name(bfloat x, bfloat y) { return bfloat(name(float(x), float(y))); }) \
  AM_MAP2(name)                                                                          \
  AM_MIXED2(unify_floating, name)

AM_RESULTS_COUNT
AM_FUNCTION1(ceil, __builtin_ceilf(x))
AM_FUNCTION1(floor, __builtin_floorf(x))
AM_FUNCTION1(trunc, __builtin_truncf(x))
AM_FUNCTION1(round, __builtin_roundf(x))
AM_FUNCTION1(rint, __builtin_rintf(x))

AM_FUNCTION1(sqrt, __builtin_sqrtf(x))
// Root and quotient in float, and one step of Halley's method in double: the correctly rounded
// result for every float (checked exhaustively, with products fused and not). Root and quotient in
// double would be, too, and take three times as long.
inline float rsqrt(float x) {
#ifdef __NVPTX__
  return __am::rsqrtf(x);  // from an estimate (targets/cuda/maths.cpp)
#else
  AM_AS_WRITTEN
  const float y = 1 / __builtin_sqrtf(x);
  const double first = y, off = 1 - first * x * first;
  const double better = first + first * off * (0.5 + 0.375 * off);
  return __am::elementary::choose(y > 0 && y < __builtin_inff(), static_cast<float>(better), y);
#endif
}
// Half is rounded correctly by root and quotient in float (checked exhaustively).
// (Not by the estimate that a relaxed quotient allows: it has no answer for 0 and infinity.)
inline half rsqrt(half x) {
  AM_AS_WRITTEN
  return half(1 / __builtin_sqrtf(x));
}
AM_OF_BFLOAT(inline bfloat rsqrt(bfloat x) {
  AM_AS_WRITTEN
  return bfloat(1 / __builtin_sqrtf(x));
})
AM_MAP1(rsqrt)
AM_MIXED1(unify_floating, rsqrt)

AM_FUNCTION1(exp, __am::elementary::exp(x))
AM_FUNCTION1(exp2, __am::elementary::exp2(x))
AM_FUNCTION1(exp10, __am::elementary::exp10(x))
AM_FUNCTION1(log, __am::elementary::log(x))
AM_FUNCTION1(log2, __am::elementary::log2(x))
AM_FUNCTION1(log10, __am::elementary::log10(x))
AM_FUNCTION2(pow, __am::elementary::pow(x, y))
AM_FUNCTION2(powr, __am::elementary::powr(x, y))

AM_FUNCTION1(sin, __am::elementary::sin(x))
AM_FUNCTION1(cos, __am::elementary::cos(x))
AM_FUNCTION1(tan, __am::elementary::tan(x))
AM_FUNCTION1(asin, __builtin_asinf(x))
AM_FUNCTION1(acos, __builtin_acosf(x))
AM_FUNCTION1(atan, __builtin_atanf(x))
AM_FUNCTION2(atan2, __builtin_atan2f(x, y))
AM_FUNCTION1(sinh, __am::elementary::sinh(x))
AM_FUNCTION1(cosh, __am::elementary::cosh(x))
AM_FUNCTION1(tanh, __am::elementary::tanh(x))
AM_FUNCTION1(asinh, __builtin_asinhf(x))
AM_FUNCTION1(acosh, __builtin_acoshf(x))
AM_FUNCTION1(atanh, __builtin_atanhf(x))

inline float sinpi(float x) { return __am::elementary::sinpi(x); }
inline float cospi(float x) { return __am::elementary::cospi(x); }
inline float tanpi(float x) { return sinpi(x) / cospi(x); }
inline float fract(float x) {
  const float part = x - __builtin_floorf(x);
  return part >= 1 ? 0x1.fffffep-1f : part;
}
#define AM_NARROW(T, largest_fraction)                                        \
  inline T sinpi(T x) { return T(sinpi(float(x))); }                          \
  inline T cospi(T x) { return T(cospi(float(x))); }                          \
  inline T tanpi(T x) { return T(tanpi(float(x))); }                          \
  inline T fract(T x) {                                                       \
    const T part = T(fract(float(x)));                                        \
    return float(part) >= 1 ? T(largest_fraction) : part;                     \
  }
AM_NARROW(half, 0x1.ffcp-1f)
AM_OF_BFLOAT(AM_NARROW(bfloat, 0x1.fep-1f))
#undef AM_NARROW
AM_MAP1(sinpi)
AM_MIXED1(unify_floating, sinpi)
AM_MAP1(cospi)
AM_MIXED1(unify_floating, cospi)
AM_MAP1(tanpi)
AM_MIXED1(unify_floating, tanpi)
AM_MAP1(fract)
AM_MIXED1(unify_floating, fract)

AM_FUNCTION2(divide, x / y)
AM_FUNCTION2(fmod, __am::remainder(x, y))
AM_FUNCTION2(fdim, x <= y ? 0.0f : x - y)

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline half fma(half a, half b, half c) { return __am::fused(a, b, c); }
// Rounds twice, as MLX's own bfloat functions do.
AM_OF_BFLOAT(inline bfloat fma(bfloat a, bfloat b, bfloat c) {
  return bfloat(fma(float(a), float(b), float(c)));
})
AM_MAP3(fma)
AM_MIXED3(unify_floating, fma)
AM_RESULTS_END

template <typename T>
inline T sincos(T x, T& cosine) {
  cosine = cos(x);
  return sin(x);
}

#define AM_SAME_EVERYWHERE                                                                       \
  using metal::abs, metal::acos, metal::acosh, metal::asin, metal::asinh, metal::atan;          \
  using metal::atan2, metal::atanh, metal::ceil, metal::clamp, metal::copysign, metal::cos;     \
  using metal::cosh, metal::cospi, metal::divide, metal::exp, metal::exp10, metal::exp2;        \
  using metal::fabs, metal::fdim, metal::floor, metal::fma, metal::fmax, metal::fmax3;          \
  using metal::fmedian3, metal::fmin, metal::fmin3, metal::fract, metal::frexp, metal::ilogb;   \
  using metal::ldexp, metal::log10, metal::max, metal::max3, metal::median3, metal::min;        \
  using metal::min3, metal::modf, metal::nextafter, metal::rint, metal::round, metal::sin;      \
  using metal::sincos, metal::sinh, metal::sinpi, metal::sqrt, metal::tan, metal::tanh;         \
  using metal::tanpi, metal::trunc;

namespace precise {
AM_SAME_EVERYWHERE
using metal::fmod, metal::log, metal::log2, metal::pow, metal::powr, metal::rsqrt;
}  // namespace precise

namespace fast {
AM_SAME_EVERYWHERE
#ifdef __NVPTX__
AM_FUNCTION1(rsqrt, __am::fast_rsqrtf(x))  // an instruction there
#else
AM_FUNCTION1(rsqrt, 1 / __builtin_sqrtf(x))
#endif
AM_FUNCTION1(log, __am::elementary::fast_log(x))
AM_FUNCTION1(log2, __am::elementary::fast_log2(x))
AM_FUNCTION2(pow, __am::elementary::fast_pow(x, y))
AM_FUNCTION2(powr, __am::elementary::fast_powr(x, y))
AM_FUNCTION2(fmod, x - y * __builtin_truncf(x / y))
}  // namespace fast

#undef AM_SAME_EVERYWHERE
#undef AM_FUNCTION1
#undef AM_FUNCTION2

}  // namespace metal
