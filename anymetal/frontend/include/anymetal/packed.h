// packed_vec<T, N>: the layout of an array, the use of a vector. Every operation converts to
// vec<T, N> first; the conversion is implicit in both directions.
#pragma once

namespace __am::layout {

template <typename T, int N>
struct packed_storage {
  T v[N];

  constexpr T at(int i) const { return v[i]; }
  constexpr void set(int i, T value) { v[i] = value; }
  T& ref(int i) { return v[i]; }

  template <int... I>
  constexpr vec<T, sizeof...(I)> pick() const {
    return vec<T, sizeof...(I)>(v[I]...);
  }
};

}  // namespace __am::layout

namespace metal {

template <typename T, int N>
struct packed_vec : __am::layout::swizzles<__am::layout::packed_storage<T, N>, T, N>,
                    __am::layout::packed_operators<T, N> {
  using element_type = T;

  constexpr packed_vec() = default;
  constexpr packed_vec(const vec<T, N>& other) {
    for (int i = 0; i < N; ++i) this->v[i] = other.at(i);
  }
  constexpr packed_vec(T value) : packed_vec(vec<T, N>(value)) {}

  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr explicit packed_vec(const vec<U, N>& other) : packed_vec(vec<T, N>(other)) {}
  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr explicit packed_vec(const packed_vec<U, N>& other)
      : packed_vec(vec<T, N>(vec<U, N>(other))) {}

  template <typename A, typename B, typename... C,
            __am::require<__am::total_width<T, A, B, C...> == N> = 0>
  constexpr packed_vec(const A& a, const B& b, const C&... c)
      : packed_vec(vec<T, N>(a, b, c...)) {}

  constexpr operator vec<T, N>() const {
    if constexpr (N == 2) {
      return this->template pick<0, 1>();
    } else if constexpr (N == 3) {
      return this->template pick<0, 1, 2>();
    } else {
      return this->template pick<0, 1, 2, 3>();
    }
  }
  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr explicit operator vec<U, N>() const {
    return vec<U, N>(vec<T, N>(*this));
  }

  constexpr T operator[](int i) const { return this->v[i]; }
  constexpr T& operator[](int i) { return this->v[i]; }
};

#define AM_ALIASES(T)                      \
  using packed_##T##2 = packed_vec<T, 2>; \
  using packed_##T##3 = packed_vec<T, 3>; \
  using packed_##T##4 = packed_vec<T, 4>;
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

namespace __am {
template <typename U, int N, typename T>
constexpr int width<packed_vec<U, N>, T> = N;
}
