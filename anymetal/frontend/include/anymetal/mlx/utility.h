// What MLX's kernel utilities put in scope besides functions: type aliases, macros, limits.
#pragma once

namespace metal {
template <typename...>
using void_t = void;
template <typename T>
struct is_empty : bool_constant<__is_empty(T)> {};
template <typename T>
constexpr constant bool is_empty_v = __is_empty(T);
}  // namespace metal

typedef half float16_t;
typedef bfloat bfloat16_t;

#define MTL_CONST constant
#define MLX_MTL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")

// Instantiations name host symbols, which only Metal's own library loader looks up.
#define instantiate_kernel(name, func, ...)

constant constexpr int MAX_REDUCE_SPECIALIZED_DIMS = 4;
constant constexpr int REDUCE_N_READS = 4;
constant constexpr int REDUCE_N_WRITES = 4;
constant constexpr int SOFTMAX_N_READS = 4;
constant constexpr int RMS_N_READS = 4;
constant constexpr int RMS_LOOPED_LIMIT = 4096;
constant constexpr int CROSS_ENTROPY_N_READS = 4;

inline uint16_t bfloat16_to_uint16(bfloat16_t x) { return as_type<uint16_t>(x); }
inline bfloat16_t uint16_to_bfloat16(uint16_t x) { return as_type<bfloat16_t>(x); }

template <bool Condition, typename T, typename U>
struct ConditionalType {
  using type = conditional_t<Condition, T, U>;
};

// How many elements of type U a thread should take.
template <typename U>
struct WorkPerThread {
  static_assert(sizeof(U) <= 8, "Type too large");
  static constexpr int n = 8 / sizeof(U);
};

template <typename U>
struct Limits {
  static const constant U max = numeric_limits<U>::max();
  static const constant U min = numeric_limits<U>::min();
  static const constant U finite_max = numeric_limits<U>::max();
  static const constant U finite_min = numeric_limits<U>::min();
};

#define instantiate_default_limit(type)                                      \
  template <>                                                                \
  struct Limits<type> {                                                      \
    static constexpr type max = metal::numeric_limits<type>::max();          \
    static constexpr type min = metal::numeric_limits<type>::min();          \
    static constexpr type finite_max = metal::numeric_limits<type>::max();   \
    static constexpr type finite_min = metal::numeric_limits<type>::min();   \
  };
#define instantiate_float_limit(type)                                        \
  template <>                                                                \
  struct Limits<type> {                                                      \
    static constexpr type max = metal::numeric_limits<type>::infinity();     \
    static constexpr type min = -metal::numeric_limits<type>::infinity();    \
    static constexpr type finite_max = metal::numeric_limits<type>::max();   \
    static constexpr type finite_min = -metal::numeric_limits<type>::max();  \
  };
instantiate_default_limit(uint8_t)
instantiate_default_limit(uint16_t)
instantiate_default_limit(uint32_t)
instantiate_default_limit(uint64_t)
instantiate_default_limit(int8_t)
instantiate_default_limit(int16_t)
instantiate_default_limit(int32_t)
instantiate_default_limit(int64_t)
instantiate_float_limit(half)
instantiate_float_limit(float)
instantiate_float_limit(bfloat16_t)

template <>
struct Limits<bool> {
  static constexpr bool max = true;
  static constexpr bool min = false;
};
