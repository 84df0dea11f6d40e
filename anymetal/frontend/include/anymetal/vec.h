// vec<T, N> and its aliases: a class over Clang's vector types, because Metal's vectors have
// constructors, boolean vectors of one byte a component, and conversions that plain Clang vectors
// lack.
#pragma once

namespace __am::layout {

// What one component is stored as: bit-packed vectors of bool would have the wrong size.
template <typename T>
struct component {
  using type = T;
};
template <>
struct component<bool> {
  using type = unsigned char;
};

// A 3-vector occupies 4 components, as in Metal; the last one repeats a live component, so that no
// operation ever sees garbage in it.
template <typename T, int N>
using raw = typename component<T>::type __attribute__((ext_vector_type(N == 3 ? 4 : N)));

// Copying is spelt out so that calling conventions do not see a trivial struct. They would pass a
// float2 as one double, which hides its components from the optimiser even after inlining; for the
// same reason bare vectors are passed by reference only.
template <typename T, int N>
struct vec_storage {
  raw<T, N> v;

  constexpr vec_storage() = default;
  constexpr explicit vec_storage(const raw<T, N>& value) : v(value) {}
  constexpr vec_storage(const vec_storage& other) : v(other.v) {}
  constexpr vec_storage& operator=(const vec_storage& other) {
    v = other.v;
    return *this;
  }

  // Components are accessed through memory, not as `v[i]`, so that p[i].x touches one component.
  constexpr T at(int i) const {
    return __builtin_is_constant_evaluated() ? static_cast<T>(v[i])
                                             : reinterpret_cast<const T*>(&v)[i];
  }
  constexpr void set(int i, T value) { reinterpret_cast<T*>(&v)[i] = value; }
  T& ref(int i) { return reinterpret_cast<T*>(&v)[i]; }
  T at(int i) const volatile { return reinterpret_cast<const volatile T*>(&v)[i]; }
  void set(int i, T value) volatile { reinterpret_cast<volatile T*>(&v)[i] = value; }

  template <int I, int J>
  constexpr vec<T, 2> pick() const {
    return vec<T, 2>(vec_storage<T, 2>(__builtin_shufflevector(v, v, I, J)));
  }
  template <int I, int J, int K>
  constexpr vec<T, 3> pick() const {
    return vec<T, 3>(vec_storage<T, 3>(__builtin_shufflevector(v, v, I, J, K, K)));
  }
  template <int I, int J, int K, int L>
  constexpr vec<T, 4> pick() const {
    return vec<T, 4>(vec_storage<T, 4>(__builtin_shufflevector(v, v, I, J, K, L)));
  }
};

}  // namespace __am::layout

namespace __am {

using layout::raw, layout::vec_storage;

// Width of a constructor argument: N for a vector, 1 for a scalar, and far too many for anything
// else, which no constructor then accepts.
template <typename A, typename T>
constexpr int width = __is_convertible(A, T) ? 1 : 99;
template <typename U, int N, typename T>
constexpr int width<vec<U, N>, T> = N;

template <typename T, typename... A>
constexpr int total_width = (width<A, T> + ...);

// Component I of the concatenation of the arguments.
template <int I, typename T, typename A, typename... Rest>
constexpr T nth(const A& first, const Rest&... rest) {
  if constexpr (I >= width<A, T>) {
    return nth<I - width<A, T>, T>(rest...);
  } else if constexpr (__is_convertible(A, T)) {
    return static_cast<T>(first);
  } else {
    return static_cast<T>(first.at(I));
  }
}

template <typename T, typename A, typename B, typename C>
constexpr vec_storage<T, 3> three(const A& a, const B& b, const C& c) {
  const T last = static_cast<T>(c);
  return vec_storage<T, 3>(raw<T, 3>{static_cast<T>(a), static_cast<T>(b), last, last});
}

template <typename T, int N, typename... A>
constexpr vec_storage<T, N> concatenate(const A&... args) {
  using R = raw<T, N>;
  if constexpr (sizeof...(A) == 3 && N == 3) {
    return three<T>(args...);
  } else if constexpr (sizeof...(A) == N) {
    return vec_storage<T, N>(R{static_cast<T>(args)...});
  } else if constexpr (N == 3) {
    return three<T>(nth<0, T>(args...), nth<1, T>(args...), nth<2, T>(args...));
  } else {
    return vec_storage<T, N>(
        R{nth<0, T>(args...), nth<1, T>(args...), nth<2, T>(args...), nth<3, T>(args...)});
  }
}

template <typename T, int N>
constexpr vec_storage<T, N> splat(T value) {
  using stored = typename layout::component<T>::type;
  return vec_storage<T, N>(static_cast<raw<T, N>>(static_cast<stored>(value)));
}

template <typename T, int N, typename U>
constexpr vec_storage<T, N> convert(const vec_storage<U, N>& from) {
  if constexpr (is_same_v<T, bool>) {
    return vec_storage<T, N>(__builtin_convertvector(from.v != 0, raw<T, N>) &
                             static_cast<raw<T, N>>(1));
  } else if constexpr (sizeof(T) == 2 && sizeof(U) == 2 && is_floating_point_v<T> &&
                       is_floating_point_v<U>) {
    // Clang has no direct conversion between vectors of half and bfloat.
    return vec_storage<T, N>(
        __builtin_convertvector(__builtin_convertvector(from.v, raw<float, N>), raw<T, N>));
  } else {
    return vec_storage<T, N>(__builtin_convertvector(from.v, raw<T, N>));
  }
}

}  // namespace __am

namespace metal {

template <typename T, int N>
struct vec : __am::layout::swizzles<__am::vec_storage<T, N>, T, N>,
             __am::layout::vector_operators<T, N> {
  // 8 and 16 are in no specification, but MLX's kernels for matrix units have them.
  static_assert((N >= 2 && N <= 4) || N == 8 || N == 16, "a vector has 2, 3 or 4 components");
  using element_type = T;
  using storage = __am::vec_storage<T, N>;
  using base = __am::layout::swizzles<storage, T, N>;

  constexpr vec() = default;
  constexpr explicit vec(const storage& value) : base{value} {}

  // A scalar fills the vector; this one conversion is implicit.
  constexpr vec(T value) : base{__am::splat<T, N>(value)} {}

  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr explicit vec(const vec<U, N>& other) : base{__am::convert<T, N, U>(other)} {}

  // Scalars and vectors, left to right, which must fill the vector exactly.
  template <typename A, typename B, typename... C,
            __am::require<__am::total_width<T, A, B, C...> == N> = 0>
  constexpr vec(const A& a, const B& b, const C&... c)
      : base{__am::concatenate<T, N>(a, b, c...)} {}

  // From and to volatile memory. Templates, so that copying stays what it is.
  template <typename V, __am::require<is_volatile_v<V> && is_same_v<remove_cv_t<V>, vec>> = 0>
  vec(V& other) : base{loaded(other.v)} {}
  template <typename V, __am::require<is_same_v<remove_cv_t<V>, vec>> = 0>
  void operator=(const V& value) volatile {
    this->v = vec(value).v;
  }
  static storage loaded(const volatile __am::raw<T, N>& memory) {
    const __am::raw<T, N> value = memory;
    return storage(value);
  }

  constexpr T operator[](int i) const& { return this->at(i); }
  T& operator[](int i) & { return reinterpret_cast<T*>(&this->v)[i]; }
};

#define AM_ALIASES(T)     \
  using T##2 = vec<T, 2>; \
  using T##3 = vec<T, 3>; \
  using T##4 = vec<T, 4>;
AM_ALIASES(bool)
AM_ALIASES(char)
AM_ALIASES(uchar)
AM_ALIASES(short)
AM_ALIASES(ushort)
AM_ALIASES(int)
AM_ALIASES(uint)
AM_ALIASES(long)
AM_ALIASES(ulong)
AM_ALIASES(half)
AM_ALIASES(bfloat)
AM_ALIASES(float)
#undef AM_ALIASES

}  // namespace metal
