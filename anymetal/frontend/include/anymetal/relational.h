// <metal_relational>: classification (on the bits, so that it survives fast-math assumptions),
// any, all and select. `not(b)` needs nothing here: the token is the operator !, which vec has.
#pragma once

namespace metal {

#define AM_CLASSIFY(T)                                                                       \
  constexpr bool isnan(T x) { return __am::magnitude_bits(x) > __am::infinity_bits<T>; }     \
  constexpr bool isinf(T x) { return __am::magnitude_bits(x) == __am::infinity_bits<T>; }    \
  constexpr bool isfinite(T x) { return __am::magnitude_bits(x) < __am::infinity_bits<T>; }  \
  constexpr bool isnormal(T x) {                                                             \
    constexpr auto smallest = __am::bits_of<T>(1 << __am::float_format<T>::mantissa);        \
    return isfinite(x) && __am::magnitude_bits(x) >= smallest;                               \
  }                                                                                          \
  constexpr bool signbit(T x) { return (__am::to_bits(x) & __am::sign_bit<T>) != 0; }        \
  constexpr bool isordered(T x, T y) { return !isnan(x) && !isnan(y); }                      \
  constexpr bool isunordered(T x, T y) { return isnan(x) || isnan(y); }
AM_FOR_FLOATS(AM_CLASSIFY)
#undef AM_CLASSIFY

AM_MAP1(isnan)
AM_MIXED1(unify_floating, isnan)
AM_MAP1(isinf)
AM_MIXED1(unify_floating, isinf)
AM_MAP1(isfinite)
AM_MIXED1(unify_floating, isfinite)
AM_MAP1(isnormal)
AM_MIXED1(unify_floating, isnormal)
AM_MAP1(signbit)
AM_MIXED1(unify_floating, signbit)
AM_MAP2(isordered)
AM_MIXED2(unify_floating, isordered)
AM_MAP2(isunordered)
AM_MIXED2(unify_floating, isunordered)

constexpr bool any(bool x) { return x; }
constexpr bool all(bool x) { return x; }
template <int N>
constexpr bool any(vec<bool, N> x) {
  bool result = x.at(0) | x.at(1);
  if constexpr (N > 2) result |= x.at(2);
  if constexpr (N > 3) result |= x.at(3);
  return result;
}
template <int N>
constexpr bool all(vec<bool, N> x) {
  bool result = x.at(0) & x.at(1);
  if constexpr (N > 2) result &= x.at(2);
  if constexpr (N > 3) result &= x.at(3);
  return result;
}

#define AM_SELECT(T) \
  constexpr T select(T a, T b, bool c) { return c ? b : a; }
AM_FOR_FLOATS(AM_SELECT)
AM_FOR_INTEGERS(AM_SELECT)
AM_SELECT(bool)
#undef AM_SELECT

template <typename T, int N, typename R = vec<T, N>>
constexpr R select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
  AM_GATHER(R, N, select(a.at(0), b.at(0), c.at(0)), select(a.at(1), b.at(1), c.at(1)),
            select(a.at(2), b.at(2), c.at(2)), select(a.at(3), b.at(3), c.at(3)))
}
// Operands of different types (the condition included: a bool chooses between whole vectors).
template <typename A, typename B, typename C, typename R = __am::unify<A, B>,
          __am::require<!is_void_v<R> && is_convertible_v<C, bool> &&
                        (__am::is_vector<R> || !is_same_v<A, B>)> = 0>
constexpr R select(A a, B b, C c) AM_WARNED(select, R, A, B, C) {
  return c ? static_cast<R>(b) : static_cast<R>(a);
}
template <typename A, typename B, int N, typename R = __am::unify<A, B>,
          __am::require<__am::components<R> == N && !is_same_v<A, B>> = 0>
constexpr R select(A a, B b, vec<bool, N> c) {
  return select(static_cast<R>(a), static_cast<R>(b), c);
}

}  // namespace metal
