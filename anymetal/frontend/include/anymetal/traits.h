// Type traits, as <metal_type_traits> has them: thin names over the compiler's own predicates.
#pragma once

namespace metal {

template <typename T, T Value>
struct integral_constant {
  static constexpr constant T value = Value;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return Value; }
  constexpr T operator()() const { return Value; }
};

template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool Condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  using type = T;
};
template <bool Condition, typename T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <bool Condition, typename T, typename U>
struct conditional {
  using type = T;
};
template <typename T, typename U>
struct conditional<false, T, U> {
  using type = U;
};
template <bool Condition, typename T, typename U>
using conditional_t = typename conditional<Condition, T, U>::type;

// A predicate: `name<T>`, and its value `name_v<T>`.
#define AM_PREDICATE(name, ...)                                 \
  template <typename T>                                         \
  struct name : bool_constant<static_cast<bool>(__VA_ARGS__)> {}; \
  template <typename T>                                         \
  constexpr constant bool name##_v = static_cast<bool>(__VA_ARGS__);
#define AM_PREDICATE2(name, ...)                                \
  template <typename T, typename U>                             \
  struct name : bool_constant<static_cast<bool>(__VA_ARGS__)> {}; \
  template <typename T, typename U>                             \
  constexpr constant bool name##_v = static_cast<bool>(__VA_ARGS__);

// A transformation: `name<T>::type`, and its result `name_t<T>`.
#define AM_TRANSFORM(name, ...)                   \
  template <typename T>                           \
  using name##_t = __VA_ARGS__;                   \
  template <typename T>                           \
  struct name {                                   \
    using type = name##_t<T>;                     \
  };

AM_TRANSFORM(remove_const, __remove_const(T))
AM_TRANSFORM(remove_volatile, __remove_volatile(T))
AM_TRANSFORM(remove_cv, __remove_cv(T))
AM_TRANSFORM(remove_reference, __remove_reference_t(T))
AM_TRANSFORM(remove_cvref, __remove_cvref(T))
AM_TRANSFORM(remove_addrspace, T)
AM_TRANSFORM(remove_pointer, __remove_pointer(T))
AM_TRANSFORM(remove_extent, __remove_extent(T))
AM_TRANSFORM(remove_all_extents, __remove_all_extents(T))
AM_TRANSFORM(add_const, const T)
AM_TRANSFORM(add_volatile, volatile T)
AM_TRANSFORM(add_cv, const volatile T)
AM_TRANSFORM(add_pointer, __add_pointer(T))
AM_TRANSFORM(add_lvalue_reference, __add_lvalue_reference(T))
AM_TRANSFORM(add_rvalue_reference, __add_rvalue_reference(T))
AM_TRANSFORM(decay, __decay(T))
AM_TRANSFORM(make_signed, __make_signed(T))
AM_TRANSFORM(make_unsigned, __make_unsigned(T))
AM_TRANSFORM(underlying_type, __underlying_type(T))

AM_PREDICATE2(is_same, __is_same(T, U))
AM_PREDICATE2(is_convertible, __is_convertible(T, U))
AM_PREDICATE2(is_base_of, __is_base_of(T, U))
AM_PREDICATE2(is_assignable, __is_assignable(T, U))

AM_PREDICATE(is_void, __is_void(T))
AM_PREDICATE(is_integral, __is_integral(T))
AM_PREDICATE(is_floating_point, __is_floating_point(T))
AM_PREDICATE(is_arithmetic, __is_arithmetic(T))
AM_PREDICATE(is_fundamental, __is_fundamental(T))
AM_PREDICATE(is_scalar, __is_scalar(T))
AM_PREDICATE(is_compound, __is_compound(T))
AM_PREDICATE(is_object, __is_object(T))
AM_PREDICATE(is_signed, __is_signed(T))
AM_PREDICATE(is_unsigned, __is_unsigned(T))
AM_PREDICATE(is_enum, __is_enum(T))
AM_PREDICATE(is_class, __is_class(T))
AM_PREDICATE(is_union, __is_union(T))
AM_PREDICATE(is_function, __is_function(T))
AM_PREDICATE(is_array, __is_array(T))
AM_PREDICATE(is_pointer, __is_pointer(T))
AM_PREDICATE(is_reference, __is_reference(T))
AM_PREDICATE(is_lvalue_reference, __is_lvalue_reference(T))
AM_PREDICATE(is_rvalue_reference, __is_rvalue_reference(T))
AM_PREDICATE(is_const, __is_const(T))
AM_PREDICATE(is_volatile, __is_volatile(T))
AM_PREDICATE(is_trivial, __is_trivial(T))
AM_PREDICATE(is_trivially_copyable, __is_trivially_copyable(T))
AM_PREDICATE(is_standard_layout, __is_standard_layout(T))

template <typename T, typename... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <typename T, typename... A>
constexpr constant bool is_constructible_v = __is_constructible(T, A...);

template <typename... T>
struct conjunction : bool_constant<(... && bool(T::value))> {};
template <typename... T>
struct disjunction : bool_constant<(... || bool(T::value))> {};
template <typename... T>
using _disjunction = disjunction<T...>;  // MLX's atomic.h
template <typename T>
struct negation : bool_constant<!bool(T::value)> {};

template <typename T>
add_rvalue_reference_t<T> declval();

template <typename... T>
struct common_type;
template <typename T>
struct common_type<T> {
  using type = decay_t<T>;
};
template <typename T, typename U, typename... Rest>
struct common_type<T, U, Rest...>
    : common_type<decltype(true ? declval<T>() : declval<U>()), Rest...> {};
template <typename... T>
using common_type_t = typename common_type<T...>::type;

#undef AM_PREDICATE
#undef AM_PREDICATE2
#undef AM_TRANSFORM

}  // namespace metal

// Everything under __am is ours alone; user code never names it.
namespace __am {

using namespace metal;

template <typename...>
using void_t = void;
template <bool Condition>
using require = enable_if_t<Condition, int>;

// A type as a value; and a parameter type that takes no part in deduction.
template <typename T>
struct identity {
  using type = T;
};
template <typename T>
using not_deduced = typename identity<T>::type;

}  // namespace __am
