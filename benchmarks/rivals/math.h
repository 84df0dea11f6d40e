// exp, log and friends for vectors of floats, within about one unit in the last place.

#pragma once

#include "vec.h"

namespace bench {

// e^x = 2^n e^r with |r| <= ln(2) / 2; beyond the range of float it saturates to 0 and infinity.
[[gnu::always_inline]] inline vf exp(vf x) {
  x = min(max(x, vf(-110.0f)), vf(100.0f));
  const vf n = __builtin_elementwise_roundeven(x * 1.44269504f);
  vf r = fma(n, vf(-0.693145752f), x);
  r = fma(n, vf(-1.42860677e-6f), r);
  vf p = fma(vf(1.393364352e-3f), r, vf(8.363175565e-3f));
  p = fma(p, r, vf(4.166646498e-2f));
  p = fma(p, r, vf(1.666657700e-1f));
  p = fma(p, r, vf(5.000000013e-1f));
  const vf whole = fma(p, r * r, r) + 1.0f;
#if defined(__AVX512F__)
  return _mm512_scalef_ps(whole, n);
#else
  // In two steps, since 2^n need not be a float where the result is one.
  const vi k = __builtin_convertvector(n, vi), half = k >> 1;
  const vf first = (vf)((half + 127) << 23), second = (vf)((k - half + 127) << 23);
  return whole * first * second;
#endif
}

// For positive normal x.
[[gnu::always_inline]] inline vf log(vf x) {
  const vi bits = (vi)x, shifted = bits - 0x3f3504f3;  // of sqrt(1/2): the mantissa lies around 1
  const vi exponent = shifted >> 23;
  const vf f = (vf)(bits - (exponent << 23)) - 1.0f;
  const vf n = __builtin_convertvector(exponent, vf);
  vf p = fma(vf(-8.101558332e-2f), f, vf(1.271230768e-1f));
  p = fma(p, f, vf(-1.297223899e-1f));
  p = fma(p, f, vf(1.420217382e-1f));
  p = fma(p, f, vf(-1.664224760e-1f));
  p = fma(p, f, vf(2.000146858e-1f));
  p = fma(p, f, vf(-2.500029655e-1f));
  p = fma(p, f, vf(3.333332860e-1f));
  const vf square = f * f;
  vf tail = fma(p * f, square, n * -2.12194440e-4f);
  tail = fma(square, vf(-0.5f), tail);
  return fma(n, vf(0.693359375f), f + tail);
}

// The absolute error is that of a float near 1, which is what gates and cells need.
[[gnu::always_inline]] inline vf tanh(vf x) { return 1.0f - 2.0f / (exp(x * 2.0f) + 1.0f); }

}  // namespace bench
