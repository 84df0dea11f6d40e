// What Metal's names mean, for an ordinary C++ compiler (x86-64 or AArch64, -fwrapv, -fno-strict-aliasing).
//
// This is the second oracle's own reading of Metal: nothing here comes from the compiler under
// test. A kernel's text is compiled as it stands. Six macros say what C++ cannot: in Metal (see
// dialect.py) they are the plain operators, or nothing at all.
//
//   SHL(a, b), SHR(a, b)   shifts, whose counts use their low bits
//   CVT(T, x)              a conversion; from floating point it saturates, and NaN gives 0
//   LOOP ITER END_LOOP     around a loop, and first in its body: where lanes meet again
#pragma once

// No headers of the system: a compiler is all that is needed.
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef __SIZE_TYPE__ size_t;
extern "C" void* memcpy(void*, const void*, size_t);
extern "C" void* memset(void*, int, size_t);
extern "C" void* mmap(void*, size_t, int, int, int, long);
extern "C" [[noreturn]] void abort();

#define device
#define constant
#define thread
#define threadgroup static
#define kernel
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

typedef unsigned char uchar;
typedef signed char schar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// ---------------------------------------------------------------------------- small floats

namespace am {

inline uint bits_of(float x) { uint b; memcpy(&b, &x, 4); return b; }
inline float float_of(uint b) { float x; memcpy(&x, &b, 4); return x; }

// Rounds to so many bits of significand, by the rule of IEEE 754 (to nearest, ties to even).
// Kernels keep to values that are far from the subnormals of both formats.
inline uint rounded(uint b, int dropped) {
  uint half = 1u << (dropped - 1), odd = (b >> dropped) & 1;
  return (b + half - 1 + odd) >> dropped;
}

struct half {
  uint16_t word;
  half() = default;
  half(float x) {
    uint b = bits_of(x), sign = (b >> 16) & 0x8000u, magnitude = b & 0x7fffffffu;
    if (magnitude > 0x7f800000u) { word = sign | 0x7e00u; return; }
    if (magnitude >= 0x47800000u) { word = sign | 0x7c00u; return; }  // 65536 and more
    if (magnitude < 0x38800000u) {                                    // subnormal, or zero
      float scaled = float_of(magnitude) * 16777216.0f;                // exact, in units of 2^-24
      uint whole = (uint)scaled;
      float rest = scaled - (float)whole;
      word = sign | (whole + (rest > 0.5f || (rest == 0.5f && (whole & 1))));
      return;
    }
    word = sign | rounded(magnitude - 0x38000000u, 13);
  }
  operator float() const {
    uint sign = (uint)(word & 0x8000u) << 16, exponent = (word >> 10) & 31, part = word & 0x3ffu;
    if (exponent == 31) return float_of(sign | 0x7f800000u | part << 13);
    if (exponent == 0) { float m = (float)part / 16777216.0f; return sign ? -m : m; }
    return float_of(sign | (exponent + 112) << 23 | part << 13);
  }
};

struct bfloat {
  uint16_t word;
  bfloat() = default;
  bfloat(float x) {
    uint b = bits_of(x);
    word = (b & 0x7fffffffu) > 0x7f800000u ? (uint16_t)(b >> 16 | 0x40) : (uint16_t)rounded(b, 16);
  }
  operator float() const { return float_of((uint)word << 16); }
};

#define AM_SMALL(T, op) \
  inline T operator op(T a, T b) { return T((float)a op (float)b); } \
  inline T& operator op##=(T& a, T b) { return a = a op b; }
#define AM_SMALLS(T) \
  AM_SMALL(T, +) AM_SMALL(T, -) AM_SMALL(T, *) AM_SMALL(T, /) \
  inline T operator-(T a) { T r; r.word = a.word ^ 0x8000u; return r; }
AM_SMALLS(half)
AM_SMALLS(bfloat)

// ------------------------------------------------------------------------------ conversions

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
template <bool, class A, class B> struct choose { using type = A; };
template <class A, class B> struct choose<false, A, B> { using type = B; };
template <class T> constexpr bool small_float = same<T, half> || same<T, bfloat>;
template <class T> constexpr bool floating = same<T, float> || small_float<T>;
template <class T> constexpr T lowest_of = T(-1) < T(0) ? T(T(1) << (sizeof(T) * 8 - 1)) : T(0);
template <class T> constexpr T highest_of = T(~lowest_of<T>);

template <class T> T saturated(float x) {
  if (x != x) return 0;
  float lowest = (float)lowest_of<T>;
  float above = (float)(1ul << (sizeof(T) * 8 - 2)) * (T(-1) < T(0) ? 2.0f : 4.0f);
  if (x <= lowest) return lowest_of<T>;
  return x >= above ? highest_of<T> : (T)x;
}

template <class T, class F> T convert(F x) {
  if constexpr (same<T, bool>) return x != F(0);
  else if constexpr (small_float<T>) return T((float)x);
  else if constexpr (floating<F> && !floating<T>) return saturated<T>((float)x);
  else return (T)x;
}

template <class A, class B> auto shl(A a, B b) -> decltype(a << 0) {
  using R = decltype(a << 0);
  return (R)a << ((ulong)b & (sizeof(R) * 8 - 1));
}
template <class A, class B> auto shr(A a, B b) -> decltype(a >> 0) {
  using R = decltype(a >> 0);
  return (R)a >> ((ulong)b & (sizeof(R) * 8 - 1));
}

}  // namespace am

using am::bfloat;
using am::half;
#define SHL(a, b) am::shl((a), (b))
#define SHR(a, b) am::shr((a), (b))
#define CVT(T, x) am::convert<T>(x)

// ---------------------------------------------------------------------------------- vectors

namespace am {

template <class T, int N> struct components;
template <class T> struct alignas(2 * sizeof(T)) components<T, 2> { T x, y; };
template <class T> struct alignas(4 * sizeof(T)) components<T, 3> { T x, y, z; };
template <class T> struct alignas(4 * sizeof(T)) components<T, 4> { T x, y, z, w; };

template <class T, int N> struct vec : components<T, N> {
  vec() = default;
  vec(T all) { for (int i = 0; i < N; i++) (*this)[i] = all; }
  vec(T a, T b) { (*this)[0] = a; (*this)[1] = b; }
  vec(T a, T b, T c) { (*this)[0] = a; (*this)[1] = b; (*this)[2] = c; }
  vec(T a, T b, T c, T d) { (*this)[0] = a; (*this)[1] = b; (*this)[2] = c; (*this)[3] = d; }
  template <class U> explicit vec(vec<U, N> v) {
    for (int i = 0; i < N; i++) (*this)[i] = convert<T>(v[i]);
  }
  T& operator[](int i) { return ((T*)this)[i]; }
  T operator[](int i) const { return ((const T*)this)[i]; }
};

#define AM_VECTOR(op) \
  template <class T, int N> vec<T, N> operator op(vec<T, N> a, vec<T, N> b) { \
    vec<T, N> r; \
    for (int i = 0; i < N; i++) r[i] = T(a[i] op b[i]); \
    return r; \
  } \
  template <class T, int N> vec<T, N> operator op(vec<T, N> a, T b) { return a op vec<T, N>(b); } \
  template <class T, int N> vec<T, N>& operator op##=(vec<T, N>& a, vec<T, N> b) { \
    return a = a op b; \
  }
AM_VECTOR(+) AM_VECTOR(-) AM_VECTOR(*) AM_VECTOR(&) AM_VECTOR(|) AM_VECTOR(^)

template <class T, int N> struct packed {
  T part[N];
  packed() = default;
  packed(vec<T, N> v) { for (int i = 0; i < N; i++) part[i] = v[i]; }
  operator vec<T, N>() const {
    vec<T, N> v;
    for (int i = 0; i < N; i++) v[i] = part[i];
    return v;
  }
  T& operator[](int i) { return part[i]; }
  T operator[](int i) const { return part[i]; }
};

}  // namespace am

#define AM_VECTORS(T) \
  using T##2 = am::vec<T, 2>; using T##3 = am::vec<T, 3>; using T##4 = am::vec<T, 4>; \
  using packed_##T##2 = am::packed<T, 2>; using packed_##T##3 = am::packed<T, 3>; \
  using packed_##T##4 = am::packed<T, 4>;
AM_VECTORS(uchar) AM_VECTORS(short) AM_VECTORS(ushort) AM_VECTORS(int) AM_VECTORS(uint)
AM_VECTORS(long) AM_VECTORS(ulong) AM_VECTORS(float) AM_VECTORS(half)
using char2 = am::vec<schar, 2>; using char3 = am::vec<schar, 3>; using char4 = am::vec<schar, 4>;
using packed_char2 = am::packed<schar, 2>; using packed_char3 = am::packed<schar, 3>;
using packed_char4 = am::packed<schar, 4>;

// -------------------------------------------------------------------------------- functions

template <class To, class From> To as_type(From x) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To r;
  memcpy(&r, &x, sizeof(r));
  return r;
}

#define AM_INTEGER template <class T> inline T
AM_INTEGER popcount(T x) { return __builtin_popcountll(x & (T(~T(0)) | 0) & (~0ul >> (64 - 8 * sizeof(T)))); }
AM_INTEGER clz(T x) {
  ulong wide = (ulong)x & (~0ul >> (64 - 8 * sizeof(T)));
  return wide ? __builtin_clzl(wide) - (64 - 8 * (int)sizeof(T)) : 8 * sizeof(T);
}
AM_INTEGER ctz(T x) {
  ulong wide = (ulong)x & (~0ul >> (64 - 8 * sizeof(T)));
  return wide ? __builtin_ctzl(wide) : 8 * sizeof(T);
}
AM_INTEGER reverse_bits(T x) {
  T r = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); i++) r |= T(T(((ulong)x >> i) & 1) << (8 * sizeof(T) - 1 - i));
  return r;
}
AM_INTEGER rotate(T x, T n) {
  ulong wide = (ulong)x & (~0ul >> (64 - 8 * sizeof(T)));
  unsigned bits = 8 * sizeof(T), count = (ulong)n & (bits - 1);
  return count ? T(wide << count | wide >> (bits - count)) : x;
}
AM_INTEGER mulhi(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using W = typename am::choose<(T(-1) < T(0)), __int128, unsigned __int128>::type;
    return T((W)a * (W)b >> 64);
  } else {
    using W = typename am::choose<(T(-1) < T(0)), long, ulong>::type;
    return T((W)a * (W)b >> (8 * sizeof(T)));
  }
}
AM_INTEGER min(T a, T b) { return b < a ? b : a; }
AM_INTEGER max(T a, T b) { return a < b ? b : a; }
template <> inline float min(float a, float b) { return a != a ? b : b != b ? a : b < a ? b : a; }
template <> inline float max(float a, float b) { return a != a ? b : b != b ? a : a < b ? b : a; }
AM_INTEGER clamp(T x, T low, T high) { return min(max(x, low), high); }
AM_INTEGER abs(T x) { return x < 0 ? T(-x) : x; }
template <class T, class B> inline T select(T no, T yes, B which) { return which ? yes : no; }
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float rint(float x) { return __builtin_rintf(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline bool isnan(float x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }

// ---------------------------------------------------------------------------------- arrays

namespace am {

// An array at which a kernel may look where there is nothing, and then not use what it finds.
template <class T> struct Checked {
  const T* first;
  long size;
  template <class I> T operator[](I index) const {
    long i = (long)index;
    return i >= 0 && i < size ? first[i] : T(0);
  }
};

}  // namespace am

// ---------------------------------------------------------------------------------- atomics

// Threads run one at a time, so these are plain operations.
template <class T> struct atomic { T value; };
using atomic_uint = atomic<uint>;
using atomic_int = atomic<int>;
using atomic_ulong = atomic<ulong>;
enum memory_order { memory_order_relaxed };

#define AM_ATOMIC(name, expression) \
  template <class T, class V> T atomic_##name##_explicit(atomic<T>* at, V given, memory_order) { \
    T old = at->value, operand = (T)given; \
    at->value = expression; \
    return old; \
  }
AM_ATOMIC(fetch_add, old + operand) AM_ATOMIC(fetch_sub, old - operand)
AM_ATOMIC(fetch_and, old & operand) AM_ATOMIC(fetch_or, old | operand)
AM_ATOMIC(fetch_xor, old ^ operand) AM_ATOMIC(fetch_min, min(old, operand))
AM_ATOMIC(fetch_max, max(old, operand)) AM_ATOMIC(exchange, operand)
template <class T> T atomic_load_explicit(const atomic<T>* at, memory_order) { return at->value; }
template <class T, class V> void atomic_store_explicit(atomic<T>* at, V value, memory_order) {
  at->value = (T)value;
}
template <class T> bool atomic_compare_exchange_weak_explicit(
    atomic<T>* at, T* expected, T wanted, memory_order, memory_order) {
  if (at->value == *expected) { at->value = wanted; return true; }
  *expected = at->value;
  return false;
}
