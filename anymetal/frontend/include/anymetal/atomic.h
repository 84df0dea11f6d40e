// <metal_atomic>: atomic<T> and its functions. Every access is relaxed, the only order that Metal
// has for them before 4.1; the object has the size and layout of T, because kernels cast plain
// buffers to atomics.
#pragma once

namespace __am {

// The integer type whose bits an atomic exchanges: float compares by bits, as the language says.
template <typename T>
using atomic_word =
    conditional_t<sizeof(T) == 8, ulong, conditional_t<sizeof(T) == 4, uint, uchar>>;

template <typename T>
constexpr bool is_atomic_integer = is_same_v<T, int> || is_same_v<T, uint>;
template <typename T>
constexpr bool is_atomic_number = is_atomic_integer<T> || is_same_v<T, float>;

template <typename T>
atomic_word<T>* word_of(const volatile T* object) {
  return reinterpret_cast<atomic_word<T>*>(const_cast<T*>(object));
}

}  // namespace __am

namespace metal {

template <typename T>
struct atomic {
  static_assert(__am::is_atomic_number<T> || is_same_v<T, bool> || is_same_v<T, ulong>,
                "Metal has atomic<T> for int, uint, bool, float and ulong only");
  using value_type = T;

  atomic() = default;
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
  void operator=(T) volatile = delete("write atomic_store_explicit(&x, v, memory_order_relaxed)");
  operator T() const volatile = delete("read it with atomic_load_explicit(&x, memory_order_relaxed)");
#pragma clang diagnostic pop

  T __value;
};

using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_ulong = atomic<ulong>;

// Another order than relaxed (frontend/warned.py).
#define AM_RELAXED(order) \
  __attribute__((diagnose_if(order != memory_order_relaxed, "__am_order", "warning")))

// The value parameter must not take part in deduction: `atomic_fetch_add_explicit(&f, 1, …)`.
#define AM_VALUE __am::not_deduced<T>

template <typename T>
inline void atomic_store_explicit(volatile atomic<T>* object, AM_VALUE value, memory_order order)
    AM_RELAXED(order) {
  __atomic_store_n(__am::word_of(&object->__value),
                   __builtin_bit_cast(__am::atomic_word<T>, static_cast<T>(value)),
                   __ATOMIC_RELAXED);
}

template <typename T>
inline T atomic_load_explicit(const volatile atomic<T>* object, memory_order order)
    AM_RELAXED(order) {
  return __builtin_bit_cast(
      T, __atomic_load_n(__am::word_of(&object->__value), __ATOMIC_RELAXED));
}

template <typename T>
inline T atomic_exchange_explicit(volatile atomic<T>* object, AM_VALUE value, memory_order order)
    AM_RELAXED(order) {
  return __builtin_bit_cast(
      T, __atomic_exchange_n(__am::word_of(&object->__value),
                             __builtin_bit_cast(__am::atomic_word<T>, static_cast<T>(value)),
                             __ATOMIC_RELAXED));
}

template <typename T>
inline bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* object, T* expected,
                                                  AM_VALUE desired, memory_order order,
                                                  memory_order otherwise)
    AM_RELAXED(order) AM_RELAXED(otherwise) {
  using word = __am::atomic_word<T>;
  word seen = __builtin_bit_cast(word, *expected);
  const bool exchanged = __atomic_compare_exchange_n(
      __am::word_of(&object->__value), &seen, __builtin_bit_cast(word, static_cast<T>(desired)),
      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  *expected = __builtin_bit_cast(T, seen);
  return exchanged;
}

#define AM_FETCH(name, condition)                                                               \
  template <typename T, __am::require<condition<T>> = 0>                                        \
  inline T atomic_fetch_##name##_explicit(volatile atomic<T>* object, AM_VALUE value,           \
                                          memory_order order)                                   \
      AM_RELAXED(order) {                                                                       \
    return __atomic_fetch_##name(const_cast<T*>(&object->__value), static_cast<T>(value),       \
                                 __ATOMIC_RELAXED);                                             \
  }
AM_FETCH(add, __am::is_atomic_number)
AM_FETCH(sub, __am::is_atomic_number)
AM_FETCH(and, __am::is_atomic_integer)
AM_FETCH(or, __am::is_atomic_integer)
AM_FETCH(xor, __am::is_atomic_integer)
AM_FETCH(min, __am::is_atomic_integer)
AM_FETCH(max, __am::is_atomic_integer)
#undef AM_FETCH

// All that Metal has for ulong: the larger and the smaller one, without a result.
inline void atomic_min_explicit(volatile atomic_ulong* object, ulong value, memory_order order)
    AM_RELAXED(order) {
  __atomic_fetch_min(const_cast<ulong*>(&object->__value), value, __ATOMIC_RELAXED);
}
inline void atomic_max_explicit(volatile atomic_ulong* object, ulong value, memory_order order)
    AM_RELAXED(order) {
  __atomic_fetch_max(const_cast<ulong*>(&object->__value), value, __ATOMIC_RELAXED);
}
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#define AM_ULONG(result, name, ...)                                                             \
  result atomic_##name##_explicit(__VA_ARGS__) = delete(                                        \
      "Metal has atomic_min_explicit and atomic_max_explicit for ulong, and nothing else");
#define AM_FETCH(name) AM_ULONG(ulong, fetch_##name, volatile atomic_ulong*, ulong, memory_order)
AM_ULONG(void, store, volatile atomic_ulong*, ulong, memory_order)
AM_ULONG(ulong, load, const volatile atomic_ulong*, memory_order)
AM_ULONG(ulong, exchange, volatile atomic_ulong*, ulong, memory_order)
AM_ULONG(bool, compare_exchange_weak, volatile atomic_ulong*, ulong*, ulong, memory_order,
         memory_order)
AM_FETCH(add)
AM_FETCH(sub)
AM_FETCH(and)
AM_FETCH(or)
AM_FETCH(xor)
AM_FETCH(min)
AM_FETCH(max)
#undef AM_FETCH
#undef AM_ULONG
#pragma clang diagnostic pop

#undef AM_VALUE
#undef AM_RELAXED

inline void atomic_thread_fence(mem_flags, memory_order order,
                                thread_scope = thread_scope_device) {
  if (order != memory_order_relaxed) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace metal
