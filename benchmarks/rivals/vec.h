// Vectors as wide as the machine's registers, in Clang's own vector types: what they compile to is
// what the intrinsics of the same name do. Where an instruction has no such form, files use the
// intrinsics of AVX-512 and fall back to these types elsewhere.

#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "pool.h"

namespace bench {

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif

template <class T, int N>
using Vec __attribute__((ext_vector_type(N))) = T;

typedef float vf __attribute__((ext_vector_type(W)));
typedef int32_t vi __attribute__((ext_vector_type(W)));
typedef uint32_t vu __attribute__((ext_vector_type(W)));
typedef _Float16 vh __attribute__((ext_vector_type(W)));
typedef uint64_t vul __attribute__((ext_vector_type(W / 2)));

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
[[gnu::always_inline]] inline vf load(const float* from) { return load<vf>(from); }

template <class V, class T>
[[gnu::always_inline]] inline void store(T* to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

// Past the caches: for outputs that are larger than those. `to` is aligned to the vector.
template <class V, class T>
[[gnu::always_inline]] inline void stream(T* to, V value) {
  __builtin_nontemporal_store(value, reinterpret_cast<V*>(to));
}

// Streaming stores are weakly ordered: before another thread may look.
inline void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

[[gnu::always_inline]] inline vf fma(vf a, vf b, vf c) { return __builtin_elementwise_fma(a, b, c); }
// One instruction each; what they make of a NaN is up to the order.
[[gnu::always_inline]] inline vf max(vf a, vf b) { return a > b ? a : b; }
[[gnu::always_inline]] inline vf min(vf a, vf b) { return a < b ? a : b; }

inline float sum(vf v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps(v);
#else
  float total = 0;
  for (int i = 0; i < W; ++i) total += v[i];
  return total;
#endif
}

inline float largest(vf v) { return __builtin_reduce_max(v); }

}  // namespace bench
