// <metal_integer>: bit and saturating arithmetic for the eight integer types and their vectors.
// (min, max, clamp, abs and their relatives are in minmax.h.)
//
// The work is done by templates in __am; metal:: has a plain function for each type on top.
#pragma once

namespace __am {

template <typename T>
using unsigned_of = make_unsigned_t<T>;
template <typename T>
constexpr int width_of = sizeof(T) * 8;

template <typename T>
constexpr unsigned_of<T> absdiff(T x, T y) {
  using U = unsigned_of<T>;
  return x > y ? U(U(x) - U(y)) : U(U(y) - U(x));
}

// The high half of the 128-bit product, from four products of 32-bit halves.
constexpr ulong mulhi64(ulong x, ulong y) {
  const ulong low = (x & 0xffffffff) * (y & 0xffffffff);
  const ulong first = (x >> 32) * (y & 0xffffffff) + (low >> 32);
  const ulong second = (x & 0xffffffff) * (y >> 32) + (first & 0xffffffff);
  return (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32);
}

template <typename T>
constexpr T mulhi(T x, T y) {
  if constexpr (sizeof(T) < 8) {
    using wide = conditional_t<is_signed_v<T>, long, ulong>;
    return T((wide(x) * wide(y)) >> width_of<T>);
  } else {
    const ulong high = mulhi64(x, y);
    // Reading a negative operand as unsigned adds the other one to the high half.
    return is_signed_v<T> ? T(high - (x < 0 ? ulong(y) : 0) - (y < 0 ? ulong(x) : 0)) : T(high);
  }
}

template <typename T>
constexpr T largest() {
  return is_signed_v<T> ? T(unsigned_of<T>(-1) >> 1) : T(-1);
}
template <typename T>
constexpr T smallest() {
  return T(-largest<T>() - T(is_signed_v<T>));
}

// x * y + z, clamped to the range of T.
template <typename T>
constexpr T madsat(T x, T y, T z) {
  if constexpr (sizeof(T) < 8) {
    using wide = conditional_t<is_signed_v<T>, long, ulong>;
    const wide exact = wide(x) * wide(y) + wide(z);
    return exact > wide(largest<T>())               ? largest<T>()
           : is_signed_v<T> && exact < wide(smallest<T>()) ? smallest<T>()
                                                    : T(exact);
  } else {
    const ulong low = ulong(x) * ulong(y);
    const ulong sum = low + ulong(z);
    const T carried = T(ulong(mulhi(x, y)) + ulong(sum < low) - ulong(z < 0));
    if constexpr (is_signed_v<T>) {
      // The exact value fits when its high half only repeats the sign of the low half.
      const bool fits = carried == (T(sum) >> 63);
      return fits ? T(sum) : carried < 0 ? smallest<T>() : largest<T>();
    } else {
      return carried == 0 ? sum : largest<T>();
    }
  }
}

// The lowest `count` bits set; the whole word for count >= the width.
template <typename T>
constexpr unsigned_of<T> low_bits(uint count) {
  using U = unsigned_of<T>;
  return count == 0 ? U(0) : U(U(-1) >> ((width_of<T> - count) & (width_of<T> - 1)));
}

template <typename T>
constexpr T extract_bits(T x, uint offset, uint bits) {
  using U = unsigned_of<T>;
  const uint mask = width_of<T> - 1;
  const U field = U(U(x) >> (offset & mask)) & low_bits<T>(bits);
  if constexpr (is_signed_v<T>) {
    const U sign = bits == 0 ? U(0) : U(U(1) << ((bits - 1) & mask));
    return T(U((field ^ sign) - sign));
  } else {
    return field;
  }
}

template <typename T>
constexpr T insert_bits(T base, T insert, uint offset, uint bits) {
  using U = unsigned_of<T>;
  const uint shift = offset & (width_of<T> - 1);
  const U mask = U(low_bits<T>(bits) << shift);
  return T((U(base) & ~mask) | (U(U(insert) << shift) & mask));
}

template <typename T>
constexpr T rotate(T x, T count) {
  using U = unsigned_of<T>;
  const uint mask = width_of<T> - 1;
  const uint shift = uint(count) & mask;
  return T(U(U(x) << shift) | U(U(x) >> ((0 - shift) & mask)));
}

constexpr int low24(int x) { return int(uint(x) << 8) >> 8; }
constexpr uint low24(uint x) { return x & 0xffffff; }

}  // namespace __am

namespace metal {

#define AM_INTEGER(T)                                                                            \
  constexpr __am::unsigned_of<T> absdiff(T x, T y) { return __am::absdiff<T>(x, y); }            \
  constexpr T addsat(T x, T y) { return __builtin_elementwise_add_sat(x, y); }                   \
  constexpr T subsat(T x, T y) { return __builtin_elementwise_sub_sat(x, y); }                   \
  constexpr T hadd(T x, T y) { return T((x & y) + ((x ^ y) >> 1)); }                             \
  constexpr T rhadd(T x, T y) { return T((x | y) - ((x ^ y) >> 1)); }                            \
  constexpr T mulhi(T x, T y) { return __am::mulhi<T>(x, y); }                                   \
  constexpr T madhi(T x, T y, T z) {                                                             \
    using U = __am::unsigned_of<T>;                                                              \
    return T(U(__am::mulhi<T>(x, y)) + U(z));                                                    \
  }                                                                                              \
  constexpr T madsat(T x, T y, T z) { return __am::madsat<T>(x, y, z); }                         \
  constexpr T clz(T x) { return T(__builtin_clzg(__am::unsigned_of<T>(x), int(sizeof(T) * 8))); } \
  constexpr T ctz(T x) { return T(__builtin_ctzg(__am::unsigned_of<T>(x), int(sizeof(T) * 8))); } \
  constexpr T popcount(T x) { return T(__builtin_popcountg(__am::unsigned_of<T>(x))); }          \
  constexpr T reverse_bits(T x) { return __builtin_elementwise_bitreverse(x); }                  \
  constexpr T rotate(T x, T count) { return __am::rotate<T>(x, count); }                         \
  constexpr T extract_bits(T x, uint offset, uint bits) {                                        \
    return __am::extract_bits<T>(x, offset, bits);                                               \
  }                                                                                              \
  constexpr T insert_bits(T base, T insert, uint offset, uint bits) {                            \
    return __am::insert_bits<T>(base, insert, offset, bits);                                     \
  }
AM_FOR_INTEGERS(AM_INTEGER)
#undef AM_INTEGER

constexpr int mul24(int x, int y) { return __am::low24(x) * __am::low24(y); }
constexpr uint mul24(uint x, uint y) { return __am::low24(x) * __am::low24(y); }
constexpr int mad24(int x, int y, int z) { return mul24(x, y) + z; }
constexpr uint mad24(uint x, uint y, uint z) { return mul24(x, y) + z; }

#define AM_UNARY(type, name) AM_MAP1(name) AM_MIXED1(type, name)
#define AM_BINARY(type, name) AM_MAP2(name) AM_MIXED2(type, name)
#define AM_TERNARY(type, name) AM_MAP3(name) AM_MIXED3(type, name)
AM_UNARY(unify_integers, clz)
AM_UNARY(unify_integers, ctz)
AM_UNARY(unify_integers, popcount)
AM_UNARY(unify_integers, reverse_bits)
AM_BINARY(unify_integers, absdiff)
AM_BINARY(unify_integers, addsat)
AM_BINARY(unify_integers, subsat)
AM_BINARY(unify_integers, hadd)
AM_BINARY(unify_integers, rhadd)
AM_BINARY(unify_integers, mulhi)
AM_BINARY(unify_integers, rotate)
AM_BINARY(unify_words, mul24)
AM_TERNARY(unify_integers, madhi)
AM_TERNARY(unify_integers, madsat)
AM_TERNARY(unify_words, mad24)
#undef AM_UNARY
#undef AM_BINARY
#undef AM_TERNARY

template <typename T, int N, typename R = vec<T, N>>
constexpr R extract_bits(vec<T, N> x, uint offset, uint bits) {
  AM_GATHER(R, N, extract_bits(x.at(0), offset, bits), extract_bits(x.at(1), offset, bits),
            extract_bits(x.at(2), offset, bits), extract_bits(x.at(3), offset, bits))
}
template <typename T, int N, typename R = vec<T, N>>
constexpr R insert_bits(vec<T, N> base, vec<T, N> insert, uint offset, uint bits) {
  AM_GATHER(R, N, insert_bits(base.at(0), insert.at(0), offset, bits),
            insert_bits(base.at(1), insert.at(1), offset, bits),
            insert_bits(base.at(2), insert.at(2), offset, bits),
            insert_bits(base.at(3), insert.at(3), offset, bits))
}
// base and insert of different integer types: the result has the type of base.
template <typename T, typename U, typename R = T,
          __am::require<is_integral_v<T> && is_integral_v<U> && !is_same_v<T, U>> = 0>
constexpr R insert_bits(T base, U insert, uint offset, uint bits)
    AM_WARNED(unify_integers, R, T, U) {
  return insert_bits(base, static_cast<T>(insert), offset, bits);
}

}  // namespace metal
