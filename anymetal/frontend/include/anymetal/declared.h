// Which function a call with arguments of several types would find in Metal. Metal declares min, say,
// for two arguments of each type, and nothing for mixed ones: the types convert as in C++, and if no
// function fits best, the call is an error. Here the same functions are declared and never called:
// Clang's own overload resolution gives the answer, and its attribute `diagnose_if` the warning
// (frontend/warned.py turns that into words).
//
// Scalars only: beside a vector scalars become vectors, and there is one function for those. MLX
// declares functions of bfloat. Integers convert to that by themselves, floats do not, so those
// functions count where there is no float among the arguments.
#pragma once

namespace __am {
// The sets of functions, by the way in which their arguments find a type here (promote.h).
#define AM_DECLARED(set, T) T set(T); T set(T, T); T set(T, T, T);
#define AM_UNIFY(T) AM_DECLARED(unify, T)
#define AM_UNIFY_FLOATING(T) AM_DECLARED(unify_floating, T)
#define AM_UNIFY_INTEGERS(T) AM_DECLARED(unify_integers, T)
#define AM_SELECT(T) T select(T, T, bool);
#define AM_ALL_DECLARED                   \
  AM_FOR_INTEGERS(AM_UNIFY)               \
  AM_UNIFY(float)                         \
  AM_UNIFY(half)                          \
  AM_UNIFY_FLOATING(float)                \
  AM_UNIFY_FLOATING(half)                 \
  AM_FOR_INTEGERS(AM_UNIFY_INTEGERS)      \
  AM_DECLARED(unify_words, int)           \
  AM_DECLARED(unify_words, uint)          \
  AM_FOR_INTEGERS(AM_SELECT)              \
  AM_SELECT(float)                        \
  AM_SELECT(half)                         \
  AM_SELECT(bool)

namespace declared {
AM_ALL_DECLARED
}
namespace declared_by_mlx {
AM_ALL_DECLARED
AM_OF_BFLOAT(AM_UNIFY(bfloat) AM_UNIFY_FLOATING(bfloat))
}  // namespace declared_by_mlx

#undef AM_ALL_DECLARED
#undef AM_SELECT
#undef AM_UNIFY_INTEGERS
#undef AM_UNIFY_FLOATING
#undef AM_UNIFY
#undef AM_DECLARED

template <typename T>
struct as_declared : canonical<T> {};
template <typename T, int N>
struct as_declared<packed_vec<T, N>> {
  using type = vec<T, N>;
};

template <typename... A>
constexpr bool has_floats = ((is_same_v<A, float> || is_same_v<A, half>) || ...);

// asked_<set><A...>(0) has the type that a call returns in Metal; void if no function fits best.
#define AM_ASKED_IN(where, set, condition)                                                  \
  template <typename... A, require<condition> = 0,                                          \
            typename R = decltype(where::set(declval<typename as_declared<A>::type>()...))> \
  identity<R> asked_##set(int);
#define AM_ASKED(set)                                      \
  AM_ASKED_IN(declared, set, has_floats<A...>)             \
  AM_ASKED_IN(declared_by_mlx, set, !has_floats<A...>)     \
  template <typename... A>                                 \
  identity<void> asked_##set(...);
AM_ASKED(unify)
AM_ASKED(unify_floating)
AM_ASKED(unify_integers)
AM_ASKED(unify_words)
AM_ASKED(select)
#undef AM_ASKED
#undef AM_ASKED_IN
template <typename... A>
identity<float> asked_unify_points(int);  // of vectors only

// Whether Metal refuses a call that gives R here; whether it computes in integers what R has
// fractions for.
template <typename R, typename Asked, typename... A>
constexpr bool is_refused =
    !is_vector<R> && is_void_v<typename Asked::type> && !(is_same_v<A, bfloat> && ...);
template <typename R, typename Asked>
constexpr bool is_truncated = is_floating_point_v<R> && is_integral_v<typename Asked::type>;

}  // namespace __am

#define AM_WARNED(set, R, ...)                                                                 \
  AM_WARNED_IF("__am_ambiguous",                                                               \
               (__am::is_refused<R, decltype(__am::asked_##set<__VA_ARGS__>(0)), __VA_ARGS__>)) \
  AM_WARNED_IF("__am_truncated",                                                               \
               (__am::is_truncated<R, decltype(__am::asked_##set<__VA_ARGS__>(0))>))
#define AM_WARNED_IF(text, ...) __attribute__((diagnose_if(__VA_ARGS__, text, "warning")))
