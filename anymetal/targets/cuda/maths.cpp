// What the headers leave to the target: large arguments of sin and the like, and functions of the C
// library, of which a GPU has none. Those are computed in double, from the definitions below, and
// rounded once. Errors of the series are below 2^-32 of the result, so results are within one unit in
// the last place.

#include "../large_angles.h"

namespace {

constexpr double pi = 0x1.921fb54442d18p+1, ln2 = 0x1.62e42fefa39efp-1;

using bits32 = unsigned;
using bits64 = unsigned long;

bool is_negative(float x) { return __builtin_bit_cast(bits32, x) >> 31; }
double with_sign(double size, float of) { return is_negative(of) ? -size : size; }

// x - x^3/3 + x^5/5 - … for |x| <= tan(pi/8).
double arctangent_series(double x) {
  const double square = x * x;
  double sum = 0;
#pragma clang loop unroll(full)
  for (int power = 25; power >= 3; power -= 2) sum = square * (1.0 / power - sum);
  return x - x * sum;
}

// For 0 <= x <= 1; above tan(pi/8) by arctan x = pi/4 + arctan((x - 1) / (x + 1)).
double arctangent(double x) {
  const bool large = x > 0x1.a827999fcef32p-2;
  const double part = arctangent_series(large ? (x - 1) / (x + 1) : x);
  return large ? pi / 4 + part : part;
}

// The angle of the point (x, y), both not NaN, with 0 <= y; `left`: the sign of x is negative.
double angle(double x, double y, bool left) {
  const double size = __builtin_fabs(x), small = size < y ? size : y, large = size < y ? y : size;
  const double ratio = small == large ? (large > 0 ? 1 : 0) : small / large;
  const double first = arctangent(ratio), steep = size < y ? pi / 2 - first : first;
  return left ? pi - steep : steep;
}

// log(1 + x) for x >= 0. With 1 + x = m 2^n, 1/sqrt(2) <= m < sqrt(2), and s = (m - 1) / (m + 1):
// n log 2 + 2 (s + s^3/3 + …).
double log_of_one_plus(double x) {
  const bits64 half = 0x3fe6a09e667f3bcdul;  // 1/sqrt(2)
  if (x < 0x1p-12) return x - x * x * (0.5 - x * (1.0 / 3));
  const bits64 bits = __builtin_bit_cast(bits64, 1 + x);
  if (bits >= 0x7ff0000000000000ul) return x;
  const long n = static_cast<long>(bits - half) >> 52;
  const double m = __builtin_bit_cast(double, bits - (static_cast<bits64>(n) << 52));
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
#pragma clang loop unroll(full)
  for (int power = 17; power >= 3; power -= 2) sum = square * (1.0 / power + sum);
  return static_cast<double>(n) * ln2 + 2 * (s + s * sum);
}

// 1 / sqrt(x), but for an error of some 2^-22 of it.
float estimate(float x) {
#ifdef __NVPTX__
  return __nvvm_rsqrt_approx_ftz_f(x);
#else  // in tests
  return 1 / __builtin_sqrtf(x) * (1 - 0x1p-22f);
#endif
}

double leg(double x) { return __builtin_sqrt((1 - x) * (1 + x)); }

}  // namespace

extern "C" {

[[gnu::always_inline]] float am_fast_rsqrtf(float x) { return estimate(x); }

// The estimate y, and one step of Halley's method in double, in which x y and what y lacks of the
// result are exact but for 2^-53 of it.
[[gnu::always_inline]] float am_rsqrtf(float x) {
  const float y = estimate(x);
  const double first = y, off = __builtin_fma(-(first * x), first, 1.0);
  const double better = __builtin_fma(first * off, __builtin_fma(off, 0.375, 0.5), first);
  return y > 0 && y < __builtin_inff() ? static_cast<float>(better) : y;
}

float am_atan2f(float y, float x) {
  if (x != x || y != y) return __builtin_nanf("");
  return static_cast<float>(with_sign(angle(x, __builtin_fabs(y), is_negative(x)), y));
}
float am_atanf(float x) { return am_atan2f(x, 1); }
float am_asinf(float x) {
  const double size = __builtin_fabs(x);
  if (!(size <= 1)) return __builtin_nanf("");
  return static_cast<float>(with_sign(angle(leg(size), size, false), x));
}
float am_acosf(float x) {
  if (!(__builtin_fabsf(x) <= 1)) return __builtin_nanf("");
  return static_cast<float>(angle(x, leg(x), is_negative(x)));
}

// log(x + sqrt(x^2 + 1))
float am_asinhf(float x) {
  const double size = __builtin_fabs(x);
  if (!(size < __builtin_inf())) return x;
  const double square = size * size;
  return static_cast<float>(
      with_sign(log_of_one_plus(size + square / (1 + __builtin_sqrt(1 + square))), x));
}
// log(x + sqrt(x^2 - 1))
float am_acoshf(float x) {
  if (!(x >= 1)) return __builtin_nanf("");
  const double above = x - 1.0;
  return static_cast<float>(log_of_one_plus(above + __builtin_sqrt(above * (above + 2))));
}
// log((1 + x) / (1 - x)) / 2
float am_atanhf(float x) {
  const double size = __builtin_fabs(x);
  if (!(size <= 1)) return __builtin_nanf("");
  if (size == 1) return x * __builtin_inff();
  return static_cast<float>(with_sign(log_of_one_plus(2 * size / (1 - size)) / 2, x));
}

unsigned long am_large_angle(float x, unsigned long shift, unsigned long offset) {
  return large_angles::packed(x, shift, offset);
}

}  // extern "C"
