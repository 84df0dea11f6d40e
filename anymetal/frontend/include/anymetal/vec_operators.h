// Operators on vectors: component by component in the component's own type (no promotion to int).
// Operands are vectors of one type and scalars, which convert to vectors.
//
// All of them are friends defined in a base class, which only argument-dependent lookup finds: with
// an operator in scope by name, Clang fails to instantiate `v.xy * 2` and `v.x += 1` in templates.
#pragma once

namespace __am::layout {

// Turns the 0/-1 lanes of a Clang vector comparison into bool components.
template <int N, typename Lanes>
constexpr vec<bool, N> to_bools(const Lanes& lanes) {
  using stored = decltype(vec<bool, N>::v);
  using storage = typename vec<bool, N>::storage;
  return vec<bool, N>(
      storage(__builtin_convertvector(lanes, stored) & static_cast<stored>(1)));
}

// AM_INTEGERS, AM_NUMBERS: operators that the other vectors do not have.
#define AM_INTEGERS template <typename U = T, require<is_integral_v<U>> = 0>
#define AM_NUMBERS template <typename U = T, require<!is_same_v<U, bool>> = 0>
#define AM_BINARY(types, op, ...)                              \
  types friend constexpr V operator op(const V& a, const V& b) { \
    return V(typename V::storage(__VA_ARGS__));                \
  }                                                            \
  types friend constexpr V& operator op##=(V& a, const V& b) { return a = a op b; }
#define AM_COMPARE(op, ...)                                            \
  friend constexpr vec<bool, N> operator op(const V& a, const V& b) {  \
    return to_bools<N>(__VA_ARGS__);                                   \
  }
#define AM_STEP(op)                                                  \
  AM_NUMBERS friend constexpr V& operator op##op(V& a) { return a = a op 1; } \
  AM_NUMBERS friend constexpr V operator op##op(V& a, int) {         \
    const V before(a);                                               \
    a = a op 1;                                                      \
    return before;                                                   \
  }
// Only the low bits of a shift count matter.
#define AM_COUNT (b.v & (sizeof(T) * 8 - 1))

template <typename T, int N, typename V = vec<T, N>>
struct vector_operators {
  AM_BINARY(AM_NUMBERS, +, a.v + b.v)
  AM_BINARY(AM_NUMBERS, -, a.v - b.v)
  AM_BINARY(AM_NUMBERS, *, a.v * b.v)
  AM_BINARY(AM_NUMBERS, /, a.v / b.v)
  AM_BINARY(AM_INTEGERS, %, a.v % b.v)
  AM_BINARY(AM_INTEGERS, &, a.v & b.v)
  AM_BINARY(AM_INTEGERS, |, a.v | b.v)
  AM_BINARY(AM_INTEGERS, ^, a.v ^ b.v)
  AM_BINARY(AM_INTEGERS, <<, a.v << AM_COUNT)
  AM_BINARY(AM_INTEGERS, >>, a.v >> AM_COUNT)
  // A number is not shifted by a vector.
  template <typename A, require<is_arithmetic_v<A>> = 0>
  friend constexpr V operator<<(A, const V&) = delete;
  template <typename A, require<is_arithmetic_v<A>> = 0>
  friend constexpr V operator>>(A, const V&) = delete;

  AM_COMPARE(==, a.v == b.v)
  AM_COMPARE(!=, a.v != b.v)
  AM_COMPARE(<, a.v < b.v)
  AM_COMPARE(<=, a.v <= b.v)
  AM_COMPARE(>, a.v > b.v)
  AM_COMPARE(>=, a.v >= b.v)
  AM_COMPARE(&&, (a.v != 0) & (b.v != 0))
  AM_COMPARE(||, (a.v != 0) | (b.v != 0))

  AM_STEP(+)
  AM_STEP(-)

  friend constexpr V operator+(const V& a) { return a; }
  AM_NUMBERS friend constexpr V operator-(const V& a) { return V(typename V::storage(-a.v)); }
  AM_INTEGERS friend constexpr V operator~(const V& a) { return V(typename V::storage(~a.v)); }
  friend constexpr vec<bool, N> operator!(const V& a) { return to_bools<N>(a.v == 0); }
};

#undef AM_BINARY
#undef AM_COMPARE
#undef AM_COUNT

// Packed vectors meet packed vectors and scalars here; beside a vector they convert to one. The
// operands are deduced, or a vector would convert to a packed one just as well.
template <typename P, typename A, typename B>
constexpr bool packed_operands = (is_same_v<A, P> && (is_same_v<B, P> || is_arithmetic_v<B>)) ||
                                 (is_arithmetic_v<A> && is_same_v<B, P>);
#define AM_FORWARD(op)                                                               \
  template <typename A, typename B, require<packed_operands<P, A, B>> = 0>           \
  friend constexpr auto operator op(const A& a, const B& b) {                        \
    return static_cast<V>(a) op static_cast<V>(b);                                   \
  }
#define AM_BINARY(types, op) \
  AM_FORWARD(op)             \
  types friend constexpr P& operator op##=(P& a, const V& b) { return a = V(a) op b; }

template <typename T, int N, typename P = packed_vec<T, N>, typename V = vec<T, N>>
struct packed_operators {
  AM_BINARY(AM_NUMBERS, +)
  AM_BINARY(AM_NUMBERS, -)
  AM_BINARY(AM_NUMBERS, *)
  AM_BINARY(AM_NUMBERS, /)
  AM_BINARY(AM_INTEGERS, %)
  AM_BINARY(AM_INTEGERS, &)
  AM_BINARY(AM_INTEGERS, |)
  AM_BINARY(AM_INTEGERS, ^)
  AM_BINARY(AM_INTEGERS, <<)
  AM_BINARY(AM_INTEGERS, >>)

  AM_FORWARD(==)
  AM_FORWARD(!=)
  AM_FORWARD(<)
  AM_FORWARD(<=)
  AM_FORWARD(>)
  AM_FORWARD(>=)

  friend constexpr V operator+(const P& a) { return a; }
  AM_NUMBERS friend constexpr V operator-(const P& a) { return -V(a); }
  AM_INTEGERS friend constexpr V operator~(const P& a) { return ~V(a); }
};

#undef AM_FORWARD
#undef AM_BINARY
#undef AM_STEP
#undef AM_INTEGERS
#undef AM_NUMBERS

}  // namespace __am::layout
