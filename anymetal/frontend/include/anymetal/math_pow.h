// pow and powr of float: 2^(y log2 x), with the exponent in double.
//
// An exponent of up to 128 must be right to 2^-24, more than float has: the large terms of the
// logarithm and the product are in double, and what is left of them is float again, a polynomial
// each (anymetal/testing/minimax.py prints them). Constants of double are sums of two of float,
// because literals are float, as in Metal.
#pragma once

namespace __am::elementary {

// log2(x), for x > 0
inline double long_log2(float x) {
  AM_AS_WRITTEN
  const split_number parts = split_at_root(x);
  const float f = parts.fraction;
  const float rest =
      polynomial(f, 0x1.99997ap-3f, -0x1.555c32p-3f, 0x1.24a074p-3f, -0x1.fe9b3cp-4f, 0x1.c34b1p-4f,
                 -0x1.a7f97ap-4f, 0x1.a8e47p-4f, -0x1.3f25f2p-4f, 0x1.61cb08p-6f);
  const double part = f;
  const double square = part * part;
  const double third = double(1) / 3 + part * (double(f * rest) - 0x1.ffffeap-3f);
  const double logarithm = part + square * (part * third - double(0.5));
  return parts.exponent + logarithm * (double(0x1.715476p+0f) + double(0x1.4ae0cp-26f));
}

// x^y for x >= 0; NaN for NaN, unless x is 1 or y is 0.
inline float powr(float x, float y) {
  AM_AS_WRITTEN
  const double product = y * long_log2(x);
  const float most = float(product);
  const float shifted = most + to_whole;
  const float whole = shifted - to_whole;
  const double ln2 = double(0x1.62e43p-1f) + double(-0x1.05c61p-29f);
  const float rest = float((product - double(whole)) * ln2);
  const float normal = scaled(exp_core(rest), shifted);
  // 128 may be a number slightly below it.
  const bool finite = (most < 128) | ((most == 128) & (rest < 0));
  const float result = choose(finite, choose(most < -126, 0.0f, normal), most * __builtin_inff());
  // By the bits: of two comparisons LLVM makes a test that takes subnormals for numbers above zero.
  const bool ordinary = to_bits(x) - 0x00800000 < 0x7f000000;
  const float infinite = y * choose(x == 0, -__builtin_inff(), x);
  const float other = choose(infinite < 0, 0.0f, infinite);
  return choose((y == 0) | (x == 1), 1.0f, choose(ordinary, result, other));
}

// x^y out of |x|^y. Negative numbers have powers with whole numbers only, zero and infinity others.
inline float with_sign(float power, float x, float y) {
  AM_AS_WRITTEN
  const bool whole = __builtin_rintf(y) == y;
  const bool odd = whole & (__builtin_rintf(0.5f * y) != 0.5f * y);
  const bool none = (x < 0) & (x > -__builtin_inff()) & !whole;
  return choose(none, __builtin_nanf(""), __builtin_copysignf(power, choose(odd, x, 1.0f)));
}

inline float pow(float x, float y) { return with_sign(powr(__builtin_fabsf(x), y), x, y); }

// As Metal has it; 0^0 is undefined.
inline float fast_powr(float x, float y) {
  AM_AS_WRITTEN
  return exp2(y * fast_log2(x));
}
inline float fast_pow(float x, float y) {
  return with_sign(fast_powr(__builtin_fabsf(x), y), x, y);
}

}  // namespace __am::elementary
