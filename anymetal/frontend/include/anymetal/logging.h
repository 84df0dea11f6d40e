// <metal_logging>: os_log, which prints a line for each thread that calls it.
//
// A call packs its arguments into words and hands those to the code generator, in this order:
//   format, subsystem, category (addresses), x | y << 32, z | type << 32, number of arguments,
//   then each argument: kind | bytes << 8 | components << 16, and one word per component.
// targets/cpu/log.cpp takes them apart again. Floats are their bits, integers are extended.
#pragma once

// <metal_assert>: Apple's assert has no effect either.
#define assert(condition) ((void)0)

namespace metal {

enum os_log_type {
  os_log_type_default,
  os_log_type_debug,
  os_log_type_info,
  os_log_type_error,
  os_log_type_fault,
};

struct os_log;

}  // namespace metal

namespace __am {

// How the values of an argument are told apart: one letter for each kind.
template <typename T>
constexpr ulong log_kind = is_pointer_v<T>          ? 'p'
                           : is_floating_point_v<T> ? 'f'
                           : is_signed_v<T>         ? 'i'
                                                    : 'u';

template <typename T>
inline ulong log_bits(T value) {
  if constexpr (is_pointer_v<T>) return reinterpret_cast<ulong>(value);
  else if constexpr (is_floating_point_v<T>) return as_type<uint>(static_cast<float>(value));
  else if constexpr (is_signed_v<T>) return static_cast<ulong>(static_cast<long>(value));
  else return static_cast<ulong>(value);
}

// An argument of a call: a scalar or pointer (also an enumerator), a vector, a packed vector.
template <typename T>
struct log_argument {
  static constexpr uint words = 2;

  static void put(ulong* to, T value) {
    if constexpr (is_enum_v<T>) {
      log_argument<__underlying_type(T)>::put(to, static_cast<__underlying_type(T)>(value));
    } else {
      static_assert(is_arithmetic_v<T> || is_pointer_v<T>,
                    "os_log prints numbers, vectors and pointers");
      to[0] = log_kind<T> | sizeof(T) << 8 | 1 << 16;
      to[1] = log_bits(value);
    }
  }
};
template <typename T, int N>
struct log_argument<vec<T, N>> {
  static constexpr uint words = 1 + N;

  static void put(ulong* to, vec<T, N> value) {
    to[0] = log_kind<T> | sizeof(T) << 8 | N << 16;
    for (int i = 0; i < N; ++i) to[1 + i] = log_bits(value[i]);
  }
};
template <typename T, int N>
struct log_argument<packed_vec<T, N>> : log_argument<vec<T, N>> {};

template <typename... Args>
inline void log(const char* subsystem, const char* category, metal::os_log_type type,
                const char* format, Args... args) {
  constexpr uint head = 6;
  ulong record[head + (0 + ... + log_argument<Args>::words)];
  record[0] = reinterpret_cast<ulong>(format);
  record[1] = reinterpret_cast<ulong>(subsystem);
  record[2] = reinterpret_cast<ulong>(category);
  const uint x = __am_group_x() * __am_full_size_x() + __am_thread_x();
  const uint y = __am_group_y() * __am_full_size_y() + __am_thread_y();
  const uint z = __am_group_z() * __am_full_size_z() + __am_thread_z();
  record[3] = x | static_cast<ulong>(y) << 32;
  record[4] = z | static_cast<ulong>(type) << 32;
  record[5] = sizeof...(Args);
  ulong* next = record + head;
  ((log_argument<Args>::put(next, args), next += log_argument<Args>::words), ...);
  __am_log(record);
}

// Whether a format converts with this letter.
constexpr bool log_converts(const char* format, char letter) {
  for (; *format; ++format) {
    if (*format != '%') continue;
    if (*++format == '%') continue;
    while (*format && (*format < 'A' || *format == 'h' || *format == 'l' || *format == 'v')) {
      ++format;
    }
    if (*format == letter) return true;
    if (!*format) return false;
  }
  return false;
}

}  // namespace __am

#define AM_FORMAT                                                                         \
  __attribute__((diagnose_if(__am::log_converts(format, 's'),                             \
                             "'%s' is not supported in Metal: there are no strings", "error"), \
                 diagnose_if(__am::log_converts(format, 'n'),                             \
                             "'%n' is not supported in Metal: os_log only prints", "error")))
#define AM_LOG(name, type)                                              \
  template <typename... Args>                                           \
  void name(const char* format, Args... args) const AM_FORMAT {         \
    __am::log(subsystem, category, type, format, args...);              \
  }

namespace metal {

struct os_log {
  constexpr os_log(const char* subsystem, const char* category)
      : subsystem(subsystem), category(category) {}

  AM_LOG(log, os_log_type_default)
  AM_LOG(log_debug, os_log_type_debug)
  AM_LOG(log_info, os_log_type_info)
  AM_LOG(log_error, os_log_type_error)
  AM_LOG(log_fault, os_log_type_fault)

  template <typename... Args>
  void log_with_type(os_log_type type, const char* format, Args... args) const AM_FORMAT {
    __am::log(subsystem, category, type, format, args...);
  }

 private:
  const char* subsystem;
  const char* category;
};

constexpr os_log os_log_default(nullptr, nullptr);

}  // namespace metal

#undef AM_LOG
#undef AM_FORMAT

namespace mlx {
using os_log = metal::os_log;
}
