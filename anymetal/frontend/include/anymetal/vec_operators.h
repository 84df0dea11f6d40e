// Operators on vectors: component by component in the component's own type (no promotion to int).
// Operands are vectors of one type, packed vectors, and scalars, which convert and fill.
#pragma once

namespace __am {

// The vector type that an operator between A and B works in; no type at all when neither is a
// vector or the two differ.
template <typename A, typename B, typename V = unify<A, B>>
using vector_operand = enable_if_t<is_vector<V>, V>;

template <typename A, typename B, typename V = vector_operand<A, B>>
using integer_operand = enable_if_t<is_integral_v<element_of<V>>, V>;
template <typename A, typename B, typename V = vector_operand<A, B>>
using numeric_operand = enable_if_t<!is_same_v<element_of<V>, bool>, V>;

template <typename V>
using bools_like = decltype(V() == V());

// Turns the 0/-1 lanes of a Clang vector comparison into bool components.
template <int N, typename Lanes>
constexpr vec<bool, N> to_bools(const Lanes& lanes) {
  return vec<bool, N>(vec_storage<bool, N>(__builtin_convertvector(lanes, raw<bool, N>) &
                                           static_cast<raw<bool, N>>(1)));
}

template <typename V>
constexpr int components = 0;
template <typename T, int N>
constexpr int components<vec<T, N>> = N;

}  // namespace __am

namespace metal {

// Operands come by value, converted to the common vector: `a` and `b` below have type V.
#define AM_BINARY(op, operands, ...)                                       \
  template <typename A, typename B, typename V = __am::operands<A, B>>     \
  constexpr V operator op(const A& left, const B& right) {                 \
    const V a(left);                                                       \
    const V b(right);                                                      \
    return V(typename V::storage(__VA_ARGS__));                            \
  }                                                                        \
  template <typename A, typename B, typename V = __am::operands<A, B>>     \
  constexpr A& operator op##=(A & left, const B & right) {                 \
    return left = left op right;                                           \
  }
#define AM_COMPARE(op, ...)                                                    \
  template <typename A, typename B, typename V = __am::vector_operand<A, B>>   \
  constexpr auto operator op(const A& left, const B& right) {                  \
    const V a(left);                                                           \
    const V b(right);                                                          \
    return __am::to_bools<__am::components<V>>(__VA_ARGS__);                   \
  }

AM_BINARY(+, numeric_operand, a.v + b.v)
AM_BINARY(-, numeric_operand, a.v - b.v)
AM_BINARY(*, numeric_operand, a.v * b.v)
AM_BINARY(/, numeric_operand, a.v / b.v)
AM_BINARY(%, integer_operand, a.v % b.v)
AM_BINARY(&, integer_operand, a.v & b.v)
AM_BINARY(|, integer_operand, a.v | b.v)
AM_BINARY(^, integer_operand, a.v ^ b.v)

// Only the low bits of a shift count matter.
#define AM_COUNT (b.v & (sizeof(__am::element_of<V>) * 8 - 1))
AM_BINARY(<<, integer_operand, a.v << AM_COUNT)
AM_BINARY(>>, integer_operand, a.v >> AM_COUNT)
#undef AM_COUNT

AM_COMPARE(==, a.v == b.v)
AM_COMPARE(!=, a.v != b.v)
AM_COMPARE(<, a.v < b.v)
AM_COMPARE(<=, a.v <= b.v)
AM_COMPARE(>, a.v > b.v)
AM_COMPARE(>=, a.v >= b.v)
AM_COMPARE(&&, (a.v != 0) & (b.v != 0))
AM_COMPARE(||, (a.v != 0) | (b.v != 0))

#undef AM_BINARY
#undef AM_COMPARE

template <typename A, typename V = __am::vector_operand<A, A>>
constexpr V operator+(const A& a) {
  return V(a);
}
template <typename A, typename V = __am::numeric_operand<A, A>>
constexpr V operator-(const A& operand) {
  const V a(operand);
  return V(typename V::storage(-a.v));
}
template <typename A, typename V = __am::integer_operand<A, A>>
constexpr V operator~(const A& operand) {
  const V a(operand);
  return V(typename V::storage(~a.v));
}
template <typename A, typename V = __am::vector_operand<A, A>>
constexpr auto operator!(const A& operand) {
  const V a(operand);
  return __am::to_bools<__am::components<V>>(a.v == 0);
}

#define AM_STEP(op)                                                        \
  template <typename A, typename V = __am::numeric_operand<A, A>>          \
  constexpr A& operator op##op(A & a) {                                    \
    return a = a op 1;                                                     \
  }                                                                        \
  template <typename A, typename V = __am::numeric_operand<A, A>>          \
  constexpr V operator op##op(A & a, int) {                                \
    const V before(a);                                                     \
    a = a op 1;                                                            \
    return before;                                                         \
  }
AM_STEP(+)
AM_STEP(-)
#undef AM_STEP

}  // namespace metal
