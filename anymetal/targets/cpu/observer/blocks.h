// Blocks of 32 granules that are remembered as one.
//
// Most memory is accessed by threads side by side, a whole SIMD-group at a time, and by no others:
//
//     granule   0   1   2   3  …  31         one record: thread 64, and the granules are those of
//     thread   64  65  66  67  …  95         the threads behind it, `k >> wide` for granule k
//
// Then what holds for the first granule and its thread holds for all: threads of two such accesses
// are either the same in each granule or different in each. So the functions of records.h work on
// one number in place of 32, and nothing else is touched. Any other access makes the block fine: from
// there on its granules have records of their own, until the records before are void anyway.
#pragma once

#include "races.h"

namespace {

enum Plane { WRITE_TIME, WRITE_WHO, READ_TIME, READ_WHO };

constexpr Lanes LANE = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

AM_INLINE Lanes load(const uint32_t* from) { return *reinterpret_cast<const Lanes*>(from); }
AM_INLINE void store(uint32_t* to, Lanes value) { *reinterpret_cast<Lanes*>(to) = value; }
AM_INLINE bool any(Lanes truth) { return __builtin_reduce_or(truth) != 0; }
AM_INLINE uint32_t bits_of(Lanes truth) {
  return __builtin_bit_cast(uint32_t, __builtin_convertvector(truth, Flags));
}

// An access of a gang.
struct Access {
  const Gang& gang;
  Races& races;
  Shadow& shadow;
  uint32_t object, site, bytes;
  bool is_atomic;
  Window window;
  uint32_t me;  // as records have it, of lane 0
};

// One granule, or 32, of an access: whether it is in conflict; the records are as behind it.
template <class V> struct Outcome {
  V conflict;
  Record<V> write, read;
};

// `write` and `read` are the records before. Reads look at writes only.
template <uint32_t action, class V>
AM_INLINE Outcome<V> outcome(Record<V> write, Record<V> read_, V me, const Window& w,
                             bool is_read) {
  constexpr bool atomic = action >= UPDATE, reads = action == LOAD || action == ATOMIC_LOAD;
  const Relation<V> to_write(write, me, w);
  V conflict = in_conflict<atomic>(write, to_write);
  if constexpr (reads) {
    const Relation<V> to_read(read_, me, w);
    read_ = atomic ? accessed_atomically(read_, to_read, me, w) : read(read_, to_read, me, w);
  } else {
    if (is_read) conflict |= in_conflict<atomic>(read_, Relation<V>(read_, me, w));
    write = atomic ? accessed_atomically(write, to_write, me, w) : written(me, w);
  }
  return {conflict, write, read_};
}

AM_INLINE bool is_fine(const Access& a, int64_t block) {
  return a.shadow.fine[block] >= a.window.since;
}

// Gives the granules of a block records of their own. Those that they had before are void.
__attribute__((noinline)) void refine(const Access& a, int64_t block) {
  const Block& known = a.shadow.blocks[block];
  const Lanes thread = LANE >> known.wide;
  uint32_t* const planes = a.shadow.planes + block * GRANULES;
  const uint64_t d = a.shadow.distance;
  if (known.write.time >= a.window.since) {
    store(planes + WRITE_TIME * d, Lanes(known.write.time));
    store(planes + WRITE_WHO * d, Lanes(known.write.who) + thread);
  }
  if (known.read.time >= a.window.since) {
    store(planes + READ_TIME * d, Lanes(known.read.time));
    store(planes + READ_WHO * d, Lanes(known.read.who) + thread);
  }
  a.shadow.fine[block] = a.window.now;
}

// Makes sure that these granules have records of their own.
AM_INLINE void make_fine(const Access& a, int64_t first, int64_t last) {
  for (int64_t block = first / GRANULES; block <= last / GRANULES; ++block)
    if (!is_fine(a, block)) refine(a, block);
}

// The same for those of lanes, and so many behind each.
AM_INLINE void make_fine(const Access& a, uint32_t mask, const int64_t* granules, uint32_t behind) {
  Lanes since;
#pragma clang loop unroll(full)
  for (int i = 0; i < 32; ++i) since[i] = a.shadow.fine[granules[i] >> 5];
  uint32_t left = bits_of(less(since, Lanes(a.window.since)));
  for (left = (behind ? ~0u : left) & mask; left; left &= left - 1) {
    const int64_t granule = granules[__builtin_ctz(left)];
    make_fine(a, granule, granule + behind);
  }
}

// An access to a whole block by threads side by side, the first of which is `me`. Returns false if
// the granules must be looked at one by one, since there is a conflict or an access of another kind.
template <uint32_t action>
AM_INLINE bool as_one(const Access& a, int64_t number, uint32_t me, uint32_t wide) {
  if (is_fine(a, number)) return false;
  Block& block = a.shadow.blocks[number];
  const uint32_t since = a.window.since;
  if (block.wide != wide) {
    if (block.write.time >= since || block.read.time >= since) return false;
    block.wide = wide;
  }
  const auto now = outcome<action>(block.write, block.read, me, a.window, a.shadow.is_read);
  if (__builtin_expect(now.conflict, 0)) return false;
  block.write = now.write;
  block.read = now.read;
  return true;
}

}  // namespace
