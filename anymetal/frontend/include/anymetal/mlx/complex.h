// complex_t<T>: MLX's complex number. Comparisons are lexicographic, there is no operator !=.
#pragma once

template <typename T>
struct complex_t;

template <typename T>
constexpr constant bool is_complex_v = false;
template <typename T>
constexpr constant bool is_complex_v<complex_t<T>> = true;

namespace __am {
// bfloat converts by an explicit cast only; among the parts of complex numbers it goes with float.
template <typename T>
using lane = conditional_t<is_same_v<T, bfloat>, float, T>;
}  // namespace __am

// A scalar that can become, or be made from, a component.
template <typename From, typename To>
constexpr constant bool is_lane_convertible_v =
    is_convertible_v<From, To> || is_convertible_v<__am::lane<From>, __am::lane<To>>;

namespace __am {
template <typename U, typename T>
using component_scalar = require<!is_complex_v<U> && !is_vector<U> && is_lane_convertible_v<U, T>>;
}

template <typename T>
struct complex_t {
  using value_type = T;

  T real;
  T imag;

  // Left trivial, so that threadgroup arrays are not cleared by every thread that declares them;
  // complex_t<T>() is zero all the same.
  constexpr complex_t() = default;
  constexpr complex_t(T re, T im) : real(re), imag(im) {}
  template <typename U, __am::component_scalar<U, T> = 0>
  constexpr complex_t(U re) : real(static_cast<T>(re)), imag(0) {}
  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr complex_t(complex_t<U> other)
      : real(static_cast<T>(other.real)), imag(static_cast<T>(other.imag)) {}
  constexpr complex_t(vec<T, 2> parts) : real(parts.at(0)), imag(parts.at(1)) {}

  constexpr operator vec<T, 2>() const { return vec<T, 2>(real, imag); }
  template <typename U, __am::component_scalar<U, T> = 0>
  constexpr operator U() const {
    return static_cast<U>(real);
  }

  friend constexpr complex_t operator-(complex_t a) { return {-a.real, -a.imag}; }
  friend constexpr complex_t operator+(complex_t a, complex_t b) {
    return {static_cast<T>(a.real + b.real), static_cast<T>(a.imag + b.imag)};
  }
  friend constexpr complex_t operator-(complex_t a, complex_t b) {
    return {static_cast<T>(a.real - b.real), static_cast<T>(a.imag - b.imag)};
  }
  friend constexpr complex_t operator*(complex_t a, complex_t b) {
    return {static_cast<T>(a.real * b.real - a.imag * b.imag),
            static_cast<T>(a.real * b.imag + a.imag * b.real)};
  }
  friend constexpr complex_t operator/(complex_t a, complex_t b) { return divide(a, b); }
  friend constexpr complex_t operator%(complex_t a, complex_t b) {
    return {floored_remainder(a.real, b.real), floored_remainder(a.imag, b.imag)};
  }
  friend constexpr complex_t& operator+=(complex_t& a, complex_t b) { return a = a + b; }

  // A scalar on either side stands for the number with imaginary part 0.
#define AM_WITH_SCALAR(op)                                                 \
  template <typename U, __am::component_scalar<U, T> = 0>                  \
  friend constexpr complex_t operator op(complex_t a, U b) {               \
    return a op complex_t(b);                                              \
  }                                                                        \
  template <typename U, __am::component_scalar<U, T> = 0>                  \
  friend constexpr complex_t operator op(U a, complex_t b) {               \
    return complex_t(a) op b;                                              \
  }
  AM_WITH_SCALAR(+)
  AM_WITH_SCALAR(-)
  AM_WITH_SCALAR(*)
  AM_WITH_SCALAR(/)
#undef AM_WITH_SCALAR

  friend constexpr bool operator==(complex_t a, complex_t b) {
    return a.real == b.real && a.imag == b.imag;
  }
  friend constexpr bool operator<(complex_t a, complex_t b) {
    return a.real < b.real || (a.real == b.real && a.imag < b.imag);
  }
  friend constexpr bool operator>(complex_t a, complex_t b) { return b < a; }
  friend constexpr bool operator<=(complex_t a, complex_t b) { return !(b < a); }
  friend constexpr bool operator>=(complex_t a, complex_t b) { return !(a < b); }

 private:
  // Smith's division: scaling by the larger part of the divisor avoids overflow.
  static constexpr complex_t divide(complex_t a, complex_t b) {
    const float re = a.real;
    const float im = a.imag;
    const float c = b.real;
    const float d = b.imag;
    if (__builtin_fabsf(c) >= __builtin_fabsf(d)) {
      const float ratio = d / c;
      const float scale = c + d * ratio;
      return {static_cast<T>((re + im * ratio) / scale), static_cast<T>((im - re * ratio) / scale)};
    }
    const float ratio = c / d;
    const float scale = d + c * ratio;
    return {static_cast<T>((re * ratio + im) / scale), static_cast<T>((im * ratio - re) / scale)};
  }

  static T floored_remainder(T a, T b) {
    return static_cast<T>(a - b * static_cast<T>(floor(a / b)));
  }
};

typedef complex_t<half> complex32_t;
typedef complex_t<float> complex64_t;

static_assert(sizeof(complex64_t) == 8 && sizeof(complex32_t) == 4, "two components, no padding");

template <typename T>
struct Limits<complex_t<T>> {
  static constexpr complex_t<T> max = {Limits<T>::max, Limits<T>::max};
  static constexpr complex_t<T> min = {Limits<T>::min, Limits<T>::min};
};
