// The type that a function computes in when its arguments differ.
//
// Metal rejects many mixed calls as ambiguous; here they find the type that an operator between the
// arguments would have: a floating type wins over an integer, the wider one of two floating types,
// a vector over a scalar. Two different vectors never mix.
#pragma once

namespace __am {

// Distinct spellings of one representation become the one that Metal uses.
template <typename T>
struct canonical {
  using type = T;
};
template <>
struct canonical<signed char> {
  using type = char;
};
template <>
struct canonical<long long> {
  using type = long;
};
template <>
struct canonical<unsigned long long> {
  using type = ulong;
};

template <typename T>
constexpr bool is_vector = false;
template <typename T, int N>
constexpr bool is_vector<vec<T, N>> = true;

template <typename V>
constexpr int components = 0;
template <typename T, int N>
constexpr int components<vec<T, N>> = N;

template <typename T>
struct element {
  using type = T;
};
template <typename T, int N>
struct element<vec<T, N>> {
  using type = T;
};
template <typename T>
using element_of = typename element<T>::type;

// What an argument takes part as: a scalar, a vector, or (void) not at all.
template <typename T>
struct operand {
  using type =
      conditional_t<is_arithmetic_v<T> || (is_enum_v<T> && is_convertible_v<T, int>), T, void>;
};
#ifndef AM_MLX
template <>
struct operand<bfloat> {
  using type = float;
};
#endif
template <typename T, int N>
struct operand<vec<T, N>> {
  using type = vec<T, N>;
};
template <typename T, int N>
struct operand<packed_vec<T, N>> {
  using type = vec<T, N>;
};

template <typename A, typename B>
constexpr auto join() {
  if constexpr (is_void_v<A> || is_void_v<B> ||
                (is_vector<A> && is_vector<B> && !is_same_v<A, B>)) {
    return identity<void>();
  } else if constexpr (is_vector<A>) {
    return identity<A>();
  } else if constexpr (is_vector<B>) {
    return identity<B>();
  } else if constexpr (is_same_v<A, B> && !is_enum_v<A>) {
    return canonical<A>();
  } else if constexpr (is_floating_point_v<A> && is_floating_point_v<B>) {
    if constexpr (sizeof(A) == sizeof(B)) {
      return identity<float>();  // half with bfloat
    } else {
      return identity<conditional_t<(sizeof(A) > sizeof(B)), A, B>>();
    }
  } else if constexpr (is_floating_point_v<A>) {
    return identity<A>();
  } else if constexpr (is_floating_point_v<B>) {
    return identity<B>();
  } else {
    return canonical<decltype(A() + B())>();
  }
}
template <typename A, typename B>
using join_t = typename decltype(join<A, B>())::type;

template <typename A, typename... Rest>
struct unify_all {
  using type = join_t<A, typename unify_all<Rest...>::type>;
};
template <typename A>
struct unify_all<A> {
  using type = join_t<A, A>;
};

// The common type of the arguments, or void.
template <typename... A>
using unify = typename unify_all<typename operand<remove_cvref_t<A>>::type...>::type;

// Like unify, for functions of floating-point arguments: integer scalars become float, integer
// vectors do not take part.
template <typename T>
using to_floating =
    conditional_t<is_floating_point_v<element_of<T>>, T,
                  conditional_t<is_vector<T> || is_void_v<T>, void, float>>;
template <typename... A>
using unify_floating = to_floating<unify<A...>>;

// The same as unify, for functions that Metal declares for integers only, and for words of 32 bits.
template <typename... A>
using unify_integers = unify<A...>;
template <typename... A>
using unify_words = unify<A...>;

// Whether a call must be converted to R first: R exists, and some argument is not R already.
template <typename R, typename... A>
constexpr bool converts_to = !is_void_v<R> && !(is_same_v<R, A> && ...);

}  // namespace __am

// AM_MIXED<n>(type, name): the overload of name that takes n mixed arguments, converts them to
// their common `type` (unify or unify_floating) and calls the exact overload. Clang warns of a call
// of it that Metal refuses or understands differently (declared.h).
#define AM_MIXED1(type, name)                                                     \
  template <typename A, typename R = __am::type<A>,                               \
            __am::require<__am::converts_to<R, A>> = 0>                           \
  constexpr auto name(A a) AM_WARNED(type, R, A) {                                \
    return name(static_cast<R>(a));                                               \
  }
#define AM_MIXED2(type, name)                                                     \
  template <typename A, typename B, typename R = __am::type<A, B>,                \
            __am::require<__am::converts_to<R, A, B>> = 0>                        \
  constexpr auto name(A a, B b) AM_WARNED(type, R, A, B) {                        \
    return name(static_cast<R>(a), static_cast<R>(b));                            \
  }
#define AM_MIXED3(type, name)                                                     \
  template <typename A, typename B, typename C, typename R = __am::type<A, B, C>, \
            __am::require<__am::converts_to<R, A, B, C>> = 0>                     \
  constexpr auto name(A a, B b, C c) AM_WARNED(type, R, A, B, C) {                \
    return name(static_cast<R>(a), static_cast<R>(b), static_cast<R>(c));         \
  }

// Returns the vector R of N components made of the first N expressions.
#define AM_GATHER(R, N, e0, e1, e2, e3) \
  if constexpr (N == 2) {               \
    return R(e0, e1);                   \
  } else if constexpr (N == 3) {        \
    return R(e0, e1, e2);               \
  } else {                              \
    return R(e0, e1, e2, e3);           \
  }

// AM_MAP<n>(name): the overload for vectors, one component after the other.
#define AM_MAP1(name)                                                                   \
  template <typename T, int N, typename R = vec<decltype(name(T())), N>>                \
  constexpr R name(vec<T, N> a) {                                                       \
    AM_GATHER(R, N, name(a.at(0)), name(a.at(1)), name(a.at(2)), name(a.at(3)))         \
  }
#define AM_MAP2(name)                                                                   \
  template <typename T, int N, typename R = vec<decltype(name(T(), T())), N>>           \
  constexpr R name(vec<T, N> a, vec<T, N> b) {                                          \
    AM_GATHER(R, N, name(a.at(0), b.at(0)), name(a.at(1), b.at(1)),                     \
              name(a.at(2), b.at(2)), name(a.at(3), b.at(3)))                           \
  }
#define AM_MAP3(name)                                                                   \
  template <typename T, int N, typename R = vec<decltype(name(T(), T(), T())), N>>      \
  constexpr R name(vec<T, N> a, vec<T, N> b, vec<T, N> c) {                             \
    AM_GATHER(R, N, name(a.at(0), b.at(0), c.at(0)), name(a.at(1), b.at(1), c.at(1)),   \
              name(a.at(2), b.at(2), c.at(2)), name(a.at(3), b.at(3), c.at(3)))         \
  }

#define AM_FOR_INTEGERS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)
#define AM_FOR_FLOATS(M) M(float) M(half) M(bfloat)
