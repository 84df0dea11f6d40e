// Components by name: v.x, v.bgr, v.wzyx …
//
// Each name is a property (-fdeclspec): reading it calls get_<name>, writing it put_<name>, whose
// result is the value of the assignment. Unlike proxy objects, a property has the real vector type,
// so `auto`, template deduction and compound assignment all work. Names that repeat a component
// have no put and are read-only.
//
// `swizzles<Storage, T, N>` adds the names to a storage class, which provides
//   T at(int) const      one component
//   void set(int, T)     store one component, leaving its neighbours in memory alone
//   T& ref(int)          one component in memory
//   pick<i, j…>() const  a vector of the components i, j…
#pragma once

namespace metal {
template <typename T, int N>
struct vec;
template <typename T, int N>
struct packed_vec;
}  // namespace metal

// AM_IS_REPEATED(x, y): 1 if the two names are the same token, else 0.
#define AM_SECOND(first, second, ...) second
#define AM_EXPAND_SECOND(...) AM_SECOND(__VA_ARGS__, 0, ~)
#define AM_SAME_xx ~, 1
#define AM_SAME_yy ~, 1
#define AM_SAME_zz ~, 1
#define AM_SAME_ww ~, 1
#define AM_SAME(a, b) AM_EXPAND_SECOND(AM_SAME_##a##b)

#define AM_OR_00 0
#define AM_OR_01 1
#define AM_OR_10 1
#define AM_OR_11 1
#define AM_JOIN_OR(a, b) AM_OR_##a##b
#define AM_OR(a, b) AM_JOIN_OR(a, b)
#define AM_OR3(a, b, c) AM_OR(a, AM_OR(b, c))
#define AM_REPEATS2(a, b) AM_SAME(a, b)
#define AM_REPEATS3(a, b, c) AM_OR3(AM_SAME(a, b), AM_SAME(a, c), AM_SAME(b, c))
#define AM_REPEATS4(a, b, c, d) \
  AM_OR(AM_REPEATS3(a, b, c), AM_OR3(AM_SAME(a, d), AM_SAME(b, d), AM_SAME(c, d)))

// AM_NAMED(repeats)(n, xyzw name, rgba name, stores): the two properties of one n-wide swizzle.
#define AM_NAMED_1(n, name, alias, ...)                  \
  __declspec(property(get = get_##name)) vec<T, n> name; \
  __declspec(property(get = get_##name)) vec<T, n> alias;
#define AM_NAMED_0(n, name, alias, ...)                                    \
  constexpr const vec<T, n>& put_##name(const vec<T, n>& value) {          \
    const vec<T, n> all = value; /* which may be these very components */  \
    __VA_ARGS__                                                            \
    return value;                                                          \
  }                                                                        \
  __declspec(property(get = get_##name, put = put_##name)) vec<T, n> name; \
  __declspec(property(get = get_##name, put = put_##name)) vec<T, n> alias;
#define AM_JOIN_NAMED(repeats) AM_NAMED_##repeats
#define AM_NAMED(repeats) AM_JOIN_NAMED(repeats)

// A component is written (xyzw letter, rgba letter, index) throughout.
#define AM_S1(a, A, i)                                    \
  constexpr T get_##a() const { return this->at(i); }     \
  constexpr T put_##a(T value) {                          \
    this->set(i, value);                                  \
    return value;                                         \
  }                                                       \
  T& ref_##a() { return this->ref(i); }                   \
  T get_##a() const volatile { return this->at(i); }      \
  T put_##a(T value) volatile {                           \
    this->set(i, value);                                  \
    return value;                                         \
  }                                                       \
  __declspec(property(get = get_##a, put = put_##a)) T a; \
  __declspec(property(get = get_##a, put = put_##a)) T A;
#define AM_S2(a, A, i, b, B, j)                                                  \
  constexpr vec<T, 2> get_##a##b() const { return this->template pick<i, j>(); } \
  AM_NAMED(AM_REPEATS2(a, b))                                                    \
  (2, a##b, A##B, this->set(i, all.at(0)); this->set(j, all.at(1));)
#define AM_S3(a, A, i, b, B, j, c, C, k)                                               \
  constexpr vec<T, 3> get_##a##b##c() const { return this->template pick<i, j, k>(); } \
  AM_NAMED(AM_REPEATS3(a, b, c))                                                       \
  (3, a##b##c, A##B##C, this->set(i, all.at(0)); this->set(j, all.at(1));              \
   this->set(k, all.at(2));)
#define AM_S4(a, A, i, b, B, j, c, C, k, d, D, l)                                            \
  constexpr vec<T, 4> get_##a##b##c##d() const { return this->template pick<i, j, k, l>(); } \
  AM_NAMED(AM_REPEATS4(a, b, c, d))                                                          \
  (4, a##b##c##d, A##B##C##D, this->set(i, all.at(0)); this->set(j, all.at(1));              \
   this->set(k, all.at(2)); this->set(l, all.at(3));)

// Nested loops over the components of an N-vector: AM_LOOP<depth>_<N>. The preprocessor does not
// expand a macro inside itself, hence one set of loops for each depth.
#define AM_EACH_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define AM_EACH_3(M, ...) AM_EACH_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define AM_EACH_4(M, ...) AM_EACH_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)
#define AM_EACH2_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define AM_EACH2_3(M, ...) AM_EACH2_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define AM_EACH2_4(M, ...) AM_EACH2_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)
#define AM_EACH3_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define AM_EACH3_3(M, ...) AM_EACH3_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define AM_EACH3_4(M, ...) AM_EACH3_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)

#define AM_FROM1_2(...) AM_S1(__VA_ARGS__) AM_EACH_2(AM_FROM2_2, __VA_ARGS__)
#define AM_FROM2_2(...) AM_S2(__VA_ARGS__) AM_EACH2_2(AM_FROM3_2, __VA_ARGS__)
#define AM_FROM3_2(...) AM_S3(__VA_ARGS__) AM_EACH3_2(AM_S4, __VA_ARGS__)
#define AM_FROM1_3(...) AM_S1(__VA_ARGS__) AM_EACH_3(AM_FROM2_3, __VA_ARGS__)
#define AM_FROM2_3(...) AM_S2(__VA_ARGS__) AM_EACH2_3(AM_FROM3_3, __VA_ARGS__)
#define AM_FROM3_3(...) AM_S3(__VA_ARGS__) AM_EACH3_3(AM_S4, __VA_ARGS__)
#define AM_FROM1_4(...) AM_S1(__VA_ARGS__) AM_EACH_4(AM_FROM2_4, __VA_ARGS__)
#define AM_FROM2_4(...) AM_S2(__VA_ARGS__) AM_EACH2_4(AM_FROM3_4, __VA_ARGS__)
#define AM_FROM3_4(...) AM_S3(__VA_ARGS__) AM_EACH3_4(AM_S4, __VA_ARGS__)

// The bases of vectors live in a namespace of their own: argument-dependent lookup searches the
// namespaces of base classes, and must not find our internal functions beside metal's.
namespace __am::layout {

using namespace metal;

template <typename Storage, typename T, int N>
struct swizzles : Storage {};  // long vectors have no names

template <typename Storage, typename T>
struct swizzles<Storage, T, 2> : Storage {
  AM_FROM1_2(x, r, 0)
  AM_FROM1_2(y, g, 1)
};

template <typename Storage, typename T>
struct swizzles<Storage, T, 3> : Storage {
  AM_FROM1_3(x, r, 0)
  AM_FROM1_3(y, g, 1)
  AM_FROM1_3(z, b, 2)
};

template <typename Storage, typename T>
struct swizzles<Storage, T, 4> : Storage {
  AM_FROM1_4(x, r, 0)
  AM_FROM1_4(y, g, 1)
  AM_FROM1_4(z, b, 2)
  AM_FROM1_4(w, a, 3)
};

}  // namespace __am::layout
