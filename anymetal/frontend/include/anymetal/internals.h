// Functions that Metal's headers are made of, which kernels call that add to these headers, such as
// MLX's functions of bfloat. The last argument of a mathematical one is one of the modes.
#pragma once

#define __METAL_PRECISE_MATH__ 0
#define __METAL_FAST_MATH__ 1
#ifdef __FAST_MATH__
#define __METAL_MAYBE_FAST_MATH__ __METAL_FAST_MATH__
#else
#define __METAL_MAYBE_FAST_MATH__ __METAL_PRECISE_MATH__
#endif

#define AM_INTERNAL1(name)                          \
  template <typename T>                             \
  constexpr T __metal_##name(T x, int) {            \
    return metal::name(x);                          \
  }
#define AM_INTERNAL2(name)                          \
  template <typename T, typename U>                 \
  constexpr T __metal_##name(T x, U y, int) {       \
    return metal::name(x, y);                       \
  }
#define AM_INTERNAL3(name)                          \
  template <typename T>                             \
  constexpr T __metal_##name(T x, T y, T z, int) {  \
    return metal::name(x, y, z);                    \
  }
// Those of which metal::fast has forms of its own.
#define AM_FAST1(name)                                                             \
  template <typename T>                                                            \
  inline T __metal_##name(T x, int mode) {                                         \
    return mode == __METAL_FAST_MATH__ ? metal::fast::name(x) : metal::name(x);    \
  }
#define AM_FAST2(name)                                                                   \
  template <typename T>                                                                  \
  inline T __metal_##name(T x, T y, int mode) {                                          \
    return mode == __METAL_FAST_MATH__ ? metal::fast::name(x, y) : metal::name(x, y);    \
  }
#define AM_ACROSS(name)                                 \
  template <typename... T>                              \
  inline auto __metal_simd_##name(T... x) {             \
    return metal::simd_##name(x...);                    \
  }

AM_INTERNAL1(acos)
AM_INTERNAL1(acosh)
AM_INTERNAL1(asin)
AM_INTERNAL1(asinh)
AM_INTERNAL1(atan)
AM_INTERNAL1(atanh)
AM_INTERNAL1(ceil)
AM_INTERNAL1(cos)
AM_INTERNAL1(cosh)
AM_INTERNAL1(cospi)
AM_INTERNAL1(exp)
AM_INTERNAL1(exp10)
AM_INTERNAL1(exp2)
AM_INTERNAL1(fabs)
AM_INTERNAL1(floor)
AM_INTERNAL1(fract)
AM_INTERNAL1(log10)
AM_INTERNAL1(rint)
AM_INTERNAL1(round)
AM_INTERNAL1(sin)
AM_INTERNAL1(sinh)
AM_INTERNAL1(sinpi)
AM_INTERNAL1(sqrt)
AM_INTERNAL1(tan)
AM_INTERNAL1(tanh)
AM_INTERNAL1(tanpi)
AM_INTERNAL1(trunc)
AM_INTERNAL2(atan2)
AM_INTERNAL2(divide)
AM_INTERNAL2(fmax)
AM_INTERNAL2(fmin)
AM_INTERNAL2(ldexp)
AM_INTERNAL3(fmax3)
AM_INTERNAL3(fmedian3)
AM_INTERNAL3(fmin3)
AM_FAST1(log)
AM_FAST1(log2)
AM_FAST1(rsqrt)
AM_FAST2(fmod)
AM_FAST2(pow)
AM_FAST2(powr)
AM_ACROSS(broadcast)
AM_ACROSS(shuffle)
AM_ACROSS(shuffle_up)
AM_ACROSS(shuffle_down)
AM_ACROSS(shuffle_xor)
AM_ACROSS(shuffle_rotate_up)
AM_ACROSS(shuffle_rotate_down)
AM_ACROSS(shuffle_and_fill_up)
AM_ACROSS(shuffle_and_fill_down)
AM_ACROSS(max)
AM_ACROSS(min)
AM_ACROSS(product)
AM_ACROSS(sum)
AM_ACROSS(prefix_exclusive_product)
AM_ACROSS(prefix_exclusive_sum)
AM_ACROSS(prefix_inclusive_product)
AM_ACROSS(prefix_inclusive_sum)

// Of floats there is a name only.
#define AM_BITWISE(name)                                              \
  float __metal_simd_##name(float);                                   \
  template <typename T, __am::require<metal::is_integral_v<T>> = 0>   \
  inline T __metal_simd_##name(T x) {                                 \
    return metal::simd_##name(x);                                     \
  }
AM_BITWISE(and)
AM_BITWISE(or)
AM_BITWISE(xor)
#undef AM_BITWISE
#undef AM_INTERNAL1
#undef AM_INTERNAL2
#undef AM_INTERNAL3
#undef AM_FAST1
#undef AM_FAST2
#undef AM_ACROSS

template <typename T>
inline T __metal_fma(T x, T y, T z) {
  return metal::fma(x, y, z);
}
template <typename T>
constexpr T __metal_nextafter(T x, T y) {
  return metal::nextafter(x, y);
}
template <typename T>
constexpr T __metal_frexp(T x, int* exponent) {
  return metal::frexp(x, *exponent);
}
template <typename T>
constexpr T __metal_get_simdgroup_size(T) {
  return T(32);
}

namespace metal {
// How many components a vector has; whether functions across lanes take a type.
template <typename T>
struct vec_elements : integral_constant<uint, 1> {};
template <typename T, int N>
struct vec_elements<vec<T, N>> : integral_constant<uint, N> {};
template <typename T>
struct __is_valid_simdgroup_type : bool_constant<__am::crosses_lanes<T>> {};
}  // namespace metal
