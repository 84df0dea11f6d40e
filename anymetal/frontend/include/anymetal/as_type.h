// as_type<T>(x): the same bits under another type of the same size.
#pragma once

namespace __am {

// Vectors are reinterpreted through their storage, which keeps the IR to one bitcast.
template <typename To, typename From>
constexpr To reinterpret(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as_type needs two types of the same size");
  if constexpr (is_vector<From>) {
    return reinterpret<To>(from.v);
  } else if constexpr (is_vector<To>) {
    using storage = typename To::storage;
    return To(storage(__builtin_bit_cast(decltype(storage::v), from)));
  } else {
    return __builtin_bit_cast(To, from);
  }
}

}  // namespace __am

namespace metal {

template <typename To, typename From>
constexpr To as_type(const From& from) {
  return __am::reinterpret<To>(from);
}

}  // namespace metal
