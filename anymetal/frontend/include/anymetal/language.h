// What the front end writes into the user's text, in the place of what is no C++ (dialect.py and
// repairs.py).
#pragma once

// The value of a function constant: zero unless the call of a `metal_library` kernel gives one.
template <int Index>
struct __am_fc {
  template <typename T>
  constexpr operator T() const {
    return T(0);
  }
};
#define is_function_constant_defined(name) false

namespace __am {

// A built-in input as the type that it is declared with: fewer components, narrower ones.
template <typename P>
P position(uint value) {
  return static_cast<P>(value);
}
template <typename P>
P position(uint3 value) {
  if constexpr (is_arithmetic_v<P>) {
    return static_cast<P>(value.x);
  } else if constexpr (sizeof(P) == 2 * sizeof(typename P::element_type)) {
    return P(value.xy);
  } else {
    return P(value);
  }
}

// A built-in input at program scope: reading it asks where the thread is.
template <typename T, typename At, typename = void>
struct input {
  operator T() const { return position<T>(At::value()); }
};
template <typename T, typename At>
struct input<T, At, void_t<typename T::element_type>> {
  using element = typename T::element_type;
  operator T() const { return position<T>(At::value()); }
  element operator[](int i) const { return T(*this)[i]; }
  element get_x() const { return T(*this)[0]; }
  element get_y() const { return T(*this)[1]; }
  element get_z() const { return T(*this)[2]; }
  vec<element, 2> get_xy() const { return vec<element, 2>(get_x(), get_y()); }
  __declspec(property(get = get_x)) element x;
  __declspec(property(get = get_y)) element y;
  __declspec(property(get = get_z)) element z;
  __declspec(property(get = get_xy)) vec<element, 2> xy;
};
// Where the numbers of built-in inputs lead (dialect.py has them defined for those that a text has).
template <int Number>
struct at;

}  // namespace __am

template <typename T, int Number>
using __am_in = const __am::input<T, __am::at<Number>>;

// Clang converts half and bfloat to all other numbers, but not to each other, not even in a cast.
// `bfloat(__am_wide=h)` converts by way of float, exactly; other operands stay what they are.
struct __am_widening {
  template <typename T>
  constexpr auto operator=(T value) const {
    if constexpr (metal::is_same_v<T, half> || metal::is_same_v<T, bfloat>) {
      return static_cast<float>(value);
    } else {
      return value;
    }
  }
};
constexpr __am_widening __am_wide{};

// The same as a type, `(bfloat)(__am_any)h`: any number, as the widest of its kind.
struct __am_any {
  int kind = 0;
  float real = 0;
  long integer = 0;
  ulong natural = 0;
  template <typename T>
  constexpr __am_any(T value) {
    if constexpr (metal::is_floating_point_v<T> || sizeof(T) == 2 && !metal::is_integral_v<T>) {
      real = static_cast<float>(value);
    } else if constexpr (metal::is_signed_v<T>) {
      kind = 1, integer = static_cast<long>(value);
    } else {
      kind = 2, natural = static_cast<ulong>(value);
    }
  }
  template <typename T>
  constexpr explicit operator T() const {
    return kind == 0   ? static_cast<T>(real)
           : kind == 1 ? static_cast<T>(integer)
                       : static_cast<T>(natural);
  }
};

// A component of a vector that the list of numbers in `uint4 v = {1, 2, 3}` leaves out.
struct __am_zero {
  template <typename T, __am::require<metal::is_arithmetic_v<T>> = 0>
  constexpr operator T() const {
    return T(0);
  }
};
constexpr struct __am_zero __am_zero{};

// A union with a vector in it can be copied in Metal. Ours cannot, as our vectors are classes.
#define __am_copied(name)                         \
  name() = default;                               \
  name(const name& other) {                       \
    __builtin_memcpy(this, &other, sizeof(name)); \
  }                                               \
  name& operator=(const name& other) {            \
    __builtin_memcpy(this, &other, sizeof(name)); \
    return *this;                                 \
  }

// `a << __am_defined << b` is `a << b` where Clang computes it itself: a count counts by its low
// bits, and who divides by 0 divides by 1. So are `>>`, `/`, `%`, and `a <<= __am_defined = b`.
namespace __am {

struct definition {
  template <typename T>
  struct right {
    T value;
  };
  template <typename T>
  constexpr right<T> operator=(T value) const {
    return {value};
  }
};

template <typename T>
constexpr bool is_integer = is_integral_v<T> || is_enum_v<T>;
template <typename A, typename B>
constexpr bool are_integers = is_integer<A> && is_integer<B>;

template <typename T>
constexpr bool is_object = is_class_v<remove_reference_t<T>>;

// The left operand of an operator, which the marker has reached: a number, or an object by
// reference, as operators of the user's may change it or return it.
template <typename T, char Operator>
struct left {
  T value;
};

template <typename A, typename B>
constexpr auto shifted_left(A a, B b) {
  if constexpr (are_integers<A, B>) {
    using T = decltype(+a);
    return T(unsigned_of<T>(a) << (int(b) & (width_of<T> - 1)));
  } else {
    return a << b;
  }
}
template <typename A, typename B>
constexpr auto shifted_right(A a, B b) {
  if constexpr (are_integers<A, B>) {
    return +a >> (int(b) & (width_of<decltype(+a)> - 1));
  } else {
    return a >> b;
  }
}
template <typename A, typename B>
constexpr auto quotient(A a, B b) {
  if constexpr (are_integers<A, B>) {
    using T = decltype(a / b);
    return b == 0 ? T(a) : T(b) == T(-1) && is_signed_v<T> ? T(-unsigned_of<T>(a)) : T(a) / T(b);
  } else {
    return a / b;
  }
}
template <typename A, typename B>
constexpr auto remainder(A a, B b) {
  if constexpr (are_integers<A, B>) {
    using T = decltype(a % b);
    return b == 0 || (T(b) == T(-1) && is_signed_v<T>) ? T(0) : T(a) % T(b);
  } else {
    return a % b;
  }
}

#define AM_DEFINED(op, name)                                                                      \
  template <typename T>                                                                           \
  constexpr enable_if_t<!is_object<T>, left<T, #op[0]>> operator op(T value, definition) {        \
    return {value};                                                                               \
  }                                                                                               \
  template <typename T>                                                                           \
  constexpr enable_if_t<is_object<T>, left<remove_reference_t<T>&, #op[0]>> operator op(          \
      T&& value, definition) {                                                                    \
    return {value};                                                                               \
  }                                                                                               \
  template <typename A, typename B>                                                               \
  constexpr auto operator op(left<A, #op[0]> a, B b) {                                            \
    return name(a.value, b);                                                                      \
  }                                                                                               \
  template <typename A, typename B>                                                               \
  constexpr decltype(auto) operator op(left<A&, #op[0]> a, B&& b) {                               \
    return a.value op static_cast<B&&>(b);                                                        \
  }                                                                                               \
  template <typename A, typename B>                                                               \
  constexpr decltype(auto) operator op##=(A& a, definition::right<B> b) {                         \
    if constexpr (is_object<A>) {                                                                 \
      return a op##= b.value;                                                                     \
    } else {                                                                                      \
      return a = static_cast<A>(name(a, b.value));                                                \
    }                                                                                             \
  }
AM_DEFINED(<<, shifted_left)
AM_DEFINED(>>, shifted_right)
AM_DEFINED(/, quotient)
AM_DEFINED(%, remainder)
#undef AM_DEFINED

}  // namespace __am

constexpr __am::definition __am_defined{};
