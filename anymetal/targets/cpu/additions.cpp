// Additions to arrays in device memory that several threads add to.
//
// Where nobody looks at an array of floats while a launch adds to it, an addition need not be one
// atomic step: it is enough that no other thread adds to the same elements meanwhile. So a thread
// takes a lock, of which each page of memory has one (several share it): one locked instruction for a
// run of 32 floats, where atomic additions take one for each 16 bytes. Lanes with elements of their own
// take none (simd/access/accumulator_arrays.py). Without locks (null) it is the only one that takes
// part in the launch. A launch that is stopped leaves locks behind, so those who wait look at its
// flag; a thread that has lost its processor may have the lock, so they let others run.

using int32_t = int;
using uint8_t = unsigned char;
using uint32_t = unsigned int;
using uint64_t = unsigned long;

#include "../../runtime/launch.h"

extern "C" int sched_yield();

using uint128_t = unsigned __int128;
using Cancel = const volatile int32_t*;
template <typename T, uint32_t COUNT>
using Vector = T __attribute__((ext_vector_type(COUNT)));
using Floats = Vector<float, 4>;
using Lanes = Vector<int32_t, 4>;

constexpr uint32_t WIDTH = 32;     // lanes of a gang
constexpr uint64_t PAGE = 4096;    // bytes
constexpr uint32_t PATIENCE = 128; // looks at a lock before others may run
constexpr uint64_t PART = 1024;    // sums that are handed over at a time

[[gnu::noinline, gnu::cold]] static bool wait_for_lock(uint32_t* lock, Cancel cancel) {
  for (uint32_t looks = 0; !*cancel;) {
    if (!__atomic_load_n(lock, __ATOMIC_RELAXED)) {
      if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) return true;
      looks = 0;
    } else if (looks++ > PATIENCE) {
      sched_yield();
    }
  }
  return false;
}

// Whether the lock is ours now; it is not if the launch is stopped.
[[gnu::always_inline]] static inline bool take(uint32_t* lock, Cancel cancel) {
  return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) || wait_for_lock(lock, cancel);
}

static void give(uint32_t* lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

static uint32_t* lock_number(uint8_t* locks, uint64_t number) {
  return reinterpret_cast<uint32_t*>(locks + number % AM_LOCKS * AM_LOCK_BYTES);
}

// ---- Floats under locks

// The lock of the page of an address, or null if the launch is stopped. `held` is a lock that this
// thread has, or null: it is kept if it is the one, else given back, so nobody waits for two.
extern "C" [[gnu::always_inline]] uint32_t* am_hold_page(uint8_t* locks, Cancel cancel,
                                                         uint32_t* held, const float* address) {
  uint32_t* lock = lock_number(locks, reinterpret_cast<uint64_t>(address) / PAGE);
  if (held) {
    if (lock == held) return lock;
    give(held);
  }
  return take(lock, cancel) ? lock : nullptr;
}

// Gives back a lock, if there is one.
extern "C" [[gnu::always_inline]] void am_let_go(uint32_t* held) {
  if (held) give(held);
}

extern "C" [[gnu::noinline]] void am_add_one(uint8_t* locks, Cancel cancel, float* address,
                                             float value) {
  if (!locks) {
    *address += value;
  } else if (uint32_t* lock = am_hold_page(locks, cancel, nullptr, address)) {
    *address += value;
    give(lock);
  }
}

[[gnu::always_inline]] static inline void add_in_page(uint8_t* locks, Cancel cancel, float* address,
                                                      const float* values, uint32_t active) {
  if (!active) return;
  uint32_t* lock = am_hold_page(locks, cancel, nullptr, address + __builtin_ctz(active));
  if (!lock) return;
  for (; active; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    address[lane] += values[lane];
  }
  give(lock);
}

// Adds the active lanes' values to consecutive floats: those in one page, then those in the next.
extern "C" [[gnu::noinline, gnu::cold]] void am_add_some(uint8_t* locks, Cancel cancel,
                                                         float* address, const float* values,
                                                         uint32_t active) {
  const uint64_t here = (PAGE - reinterpret_cast<uint64_t>(address) % PAGE) / sizeof(float);
  const uint32_t next_page = here < WIDTH ? ~0u << here : 0;
  add_in_page(locks, cancel, address, values, active & ~next_page);
  add_in_page(locks, cancel, address, values, active & next_page);
}

// ---- Floats without locks
//
// A processor adds floats atomically by exchanging what it has read and added to, until nobody came
// in between. The exchange costs the same for 16 bytes as for 4.

// (The only thread of a launch, which needs no exchange, does not call it.)
extern "C" [[gnu::noinline]] void am_add_atomically(float* address, float value) {
  uint32_t* bits = reinterpret_cast<uint32_t*>(address);
  uint32_t old = __atomic_load_n(bits, __ATOMIC_RELAXED), sum;
  do {
    sum = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, old) + value);
  } while (!__atomic_compare_exchange_n(bits, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// The bits of inactive lanes stay.
[[gnu::always_inline]] static inline void add_block(float* place, Floats more, Lanes active) {
  const uint64_t* halves = reinterpret_cast<uint64_t*>(place);
  uint128_t old = uint128_t{__atomic_load_n(halves, __ATOMIC_RELAXED)} |
                  uint128_t{__atomic_load_n(halves + 1, __ATOMIC_RELAXED)} << 64;
  uint128_t sum;
  do {
    const Floats floats = __builtin_bit_cast(Floats, old);
    sum = __builtin_bit_cast(uint128_t, active ? floats + more : floats);
  } while (!__atomic_compare_exchange_n(reinterpret_cast<uint128_t*>(place), &old, sum, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// Adds the active lanes' values, which are aligned to 16 bytes, to consecutive floats. The values are
// laid out as the memory is, in blocks of 16 bytes from an aligned address on; a block without active
// lane is not touched. An exchange waits for its cache line and lets nothing pass, so all lines are
// asked for first.
extern "C" [[gnu::noinline]] void am_add_run(float* address, const float* values, uint32_t active) {
  constexpr uint32_t BLOCK = 4;
  __builtin_prefetch(address, 1);
  __builtin_prefetch(address + 16, 1);
  __builtin_prefetch(address + WIDTH - 1, 1);
  const uint64_t before = reinterpret_cast<uint64_t>(address) / sizeof(float) % BLOCK;
  if (active == ~0u && !before) {
    for (uint32_t i = 0; i < WIDTH; i += BLOCK) {
      add_block(address + i, *reinterpret_cast<const Floats*>(values + i), Lanes(-1));
    }
    return;
  }
  alignas(16) float laid_out[WIDTH + BLOCK];  // a run may begin anywhere in its first block
  __builtin_memcpy(laid_out + before, values, WIDTH * sizeof(float));
  const Lanes bits = {1, 2, 4, 8};
  uint64_t lanes = uint64_t{active} << before;
  for (uint32_t i = 0; lanes; i += BLOCK, lanes >>= BLOCK) {
    if (!(lanes % 16)) continue;
    const Lanes chosen = (Lanes(int32_t(lanes % 16)) & bits) != 0;
    add_block(address - before + i, *reinterpret_cast<Floats*>(laid_out + i), chosen);
  }
}

// ---- A worker's own sums (simd/access/privatised_sums.py)

// Adds what is not zero to the array, a part at a time, to which no other worker adds meanwhile. A
// launch that is stopped may go on without the lock: nobody looks at its results.
template <typename T>
[[gnu::always_inline]] static inline void hand_over(T* own, T* array, uint64_t bins, uint8_t* locks,
                                                    Cancel cancel) {
  for (uint64_t begin = 0; begin < bins; begin += PART) {
    const uint64_t end = begin + PART < bins ? begin + PART : bins;
    uint32_t* lock = locks ? lock_number(locks, begin / PART) : nullptr;
    if (lock) take(lock, cancel);
    for (uint64_t i = begin; i < end; i += 16) {
      Vector<T, 16>& sums = *reinterpret_cast<Vector<T, 16>*>(own + i);
      const Vector<bool, 16> some = __builtin_convertvector(sums != 0, Vector<bool, 16>);
      if (!__builtin_reduce_or(some)) continue;
      const Vector<T, 16> old = __builtin_masked_load(some, array + i);
      __builtin_masked_store(some, old + sums, array + i);
      sums = 0;
    }
    if (lock) give(lock);
  }
}

extern "C" [[gnu::noinline]] void am_hand_over(uint32_t* own, uint32_t* array, uint64_t bins,
                                               uint8_t* locks, Cancel cancel) {
  hand_over(own, array, bins, locks, cancel);
}

extern "C" [[gnu::noinline]] void am_hand_over_floats(float* own, float* array, uint64_t bins,
                                                      uint8_t* locks, Cancel cancel) {
  hand_over(own, array, bins, locks, cancel);
}
