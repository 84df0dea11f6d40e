// MLX's helper functions at global scope: ceildiv, log1p, hypot, cast_to.
#pragma once

template <typename T, typename U>
inline T ceildiv(T N, U M) {
  return (N + M - 1) / M;
}

inline float hypot(float a, float b) {
  const float x = fabs(a);
  const float y = fabs(b);
  if (isinf(x) || isinf(y)) return INFINITY;
  if (isnan(x) || isnan(y)) return NAN;
  const float large = fmax(x, y);
  const float ratio = large > 0 ? fmin(x, y) / large : 0.0f;
  return large * sqrt(1 + ratio * ratio);
}

// Kahan: the error of 1 + x divides out of log(1 + x) / ((1 + x) - 1).
inline float log1p(float x) {
#pragma clang fp reassociate(off)
  const float sum = 1.0f + x;
  if (sum == INFINITY) return INFINITY;
  if (sum == 1.0f) return x;
  return x * (log(sum) / (sum - 1.0f));
}
inline bfloat16_t log1p(bfloat16_t x) { return static_cast<bfloat16_t>(log1p(float(x))); }
inline complex64_t log1p(complex64_t z) {
  const float angle = atan2(z.imag, 1.0f + z.real);
  // |1 + z|² - 1, which near the unit circle keeps the digits that |1 + z| loses.
  const float excess = z.real * (2.0f + z.real) + z.imag * z.imag;
  const float size = hypot(1.0f + z.real, z.imag);
  const bool near_one = size > 0.5f && size < 2.0f;
  return {near_one ? 0.5f * log1p(excess) : log(size), angle};
}

// A number as a truth value is true unless all bits of its magnitude are 0, subnormals included.
template <typename U, typename T>
inline U cast_to(T x) {
  if constexpr (is_same_v<U, bool> && (is_same_v<T, float> || is_same_v<T, bfloat16_t>)) {
    return __am::magnitude_bits(x) != 0;
  } else if constexpr (is_same_v<U, bool> && is_same_v<T, complex64_t>) {
    return (__am::magnitude_bits(x.real) | __am::magnitude_bits(x.imag)) != 0;
  } else {
    return static_cast<U>(x);
  }
}
