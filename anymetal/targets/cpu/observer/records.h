// What the race detector remembers of a granule of memory, and what follows from it.
//
// A granule is as many bytes as the narrowest access to its array has. It has two records, of
// the last write and of the last reads, each of a time and of who it was: 16 bytes, so a buffer
// of floats costs four times its size, where blocks.h cannot do with less. Times are a counter
// that rises wherever something may come into order (a threadgroup begins, a barrier, a fence),
// and one thread runs all threadgroups one after another. So a comparison of times says in which
// relation an access of before is to one of now:
//
//     since          first                  ordered                   now
//       |  an earlier  |   this threadgroup,   |   this threadgroup,    |
//       |  threadgroup |   before the barrier  |   since the barrier    |
//
// Only the middle is in order. Within a SIMD-group `ordered` may be later, by simdgroup_barrier.
// This is FastTrack's idea of an epoch in place of a vector clock, made exact by the structure of
// a launch: barriers order whole threadgroups, so one number says what a clock of 1,024 threads
// would. What several readers did is not kept for each, but as a state, as in HiRace: one thread,
// several of one SIMD-group, several. That is all that a later write asks.
//
// All functions work on one granule (V is uint32_t) and on those of 32 lanes at once (V is Lanes).
// Truth is 0 or all bits, as vector comparisons give it.
#pragma once

typedef uint32_t Lanes __attribute__((ext_vector_type(32), aligned(4)));
typedef uint64_t Offsets __attribute__((ext_vector_type(32), aligned(8)));
typedef bool Flags __attribute__((ext_vector_type(32)));

#define AM_INLINE __attribute__((always_inline)) inline

// Who it was: the thread in its threadgroup (the upper half of it the SIMD-group), the site, and:
constexpr uint32_t THREAD = 0x3ff, SIMD_GROUP = 0x3e0;
constexpr uint32_t SEVERAL_OF_SIMD_GROUP = 1 << 10, SEVERAL = 1 << 11;  // the thread is the first
constexpr uint32_t ATOMIC = 1 << 12;
constexpr uint32_t HAS_PLAIN = 1 << 13;  // in this threadgroup, perhaps in front of a barrier
constexpr uint32_t SITE_SHIFT = 14, MOST_SITES = 1 << (32 - SITE_SHIFT);

AM_INLINE uint32_t less(uint32_t a, uint32_t b) { return a < b ? ~0u : 0u; }
AM_INLINE Lanes less(Lanes a, Lanes b) { return (Lanes)(a < b); }
AM_INLINE uint32_t is_zero(uint32_t a) { return a == 0 ? ~0u : 0u; }
AM_INLINE Lanes is_zero(Lanes a) { return (Lanes)(a == 0); }
template <class V> AM_INLINE V pick(V condition, V yes, V no) {
  return (condition & yes) | (~condition & no);
}

template <class V> struct Record {
  V time, who;
};

// The times that matter to one gang and one kind of memory; lengths count from `first`.
struct Window {
  uint32_t since, first, ordered, ordered_in_simd_group, now;
};

// How the accesses of a record are related to one by `me`.
template <class V> struct Relation {
  V foreign;         // they are of another threadgroup
  V same_simd_group; // all of them are of this one's
  V unordered;
  V by_others;       // by another thread, or by several

  AM_INLINE Relation(Record<V> record, V me, const Window& w) {
    const V since = V(w.since), first = V(w.first);
    const V different = record.who ^ me;
    const V known = ~less(record.time, since);
    foreign = known & less(record.time, first);
    same_simd_group = is_zero(different & (SIMD_GROUP | SEVERAL));
    const V ordered = pick(same_simd_group, V(w.ordered_in_simd_group), V(w.ordered));
    unordered = known & ~less(record.time - first, ordered);
    by_others = ~is_zero(different & (THREAD | SEVERAL_OF_SIMD_GROUP | SEVERAL)) | foreign;
  }
};

// Whether an access is in conflict with those of a record, one side being a write.
template <bool atomic, class V>
AM_INLINE V in_conflict(Record<V> record, const Relation<V>& is) {
  const V conflict = is.unordered & is.by_others;
  if (!atomic) return conflict;
  const V plain = pick(is.foreign, ~is_zero(record.who & HAS_PLAIN), is_zero(record.who & ATOMIC));
  return conflict & plain;
}

// The record after a plain write.
template <class V> AM_INLINE Record<V> written(V me, const Window& w) {
  return {V(w.now), me | HAS_PLAIN};
}

// The record after a plain read. Readers of earlier threadgroups are kept: whoever writes now or
// later is in conflict with them. Atomic readers are not: plain ones are in conflict with more.
template <class V>
AM_INLINE Record<V> read(Record<V> record, const Relation<V>& is, V me, const Window& w) {
  const V counts = is.unordered & is_zero(record.who & ATOMIC);
  const V kept = counts & is.foreign, shared = counts & ~is.foreign & is.by_others;
  const V several =
      record.who | pick(is.same_simd_group, V(SEVERAL_OF_SIMD_GROUP), V(SEVERAL));
  const V who = pick(kept, record.who, pick(shared, several, me | HAS_PLAIN));
  return {pick(kept, record.time, V(w.now)), who};
}

// The record after an atomic access, of writes or of reads. Plain accesses are kept, for the reason
// above; the caller has seen whether this one is in conflict with them.
template <class V>
AM_INLINE Record<V> accessed_atomically(Record<V> record, const Relation<V>& is, V me,
                                        const Window& w) {
  const V kept = is.unordered & (is.foreign | is_zero(record.who & ATOMIC));
  const V shared = is.unordered & ~kept & is.by_others;
  const V several =
      record.who | pick(is.same_simd_group, V(SEVERAL_OF_SIMD_GROUP), V(SEVERAL));
  const V of_this_group = ~less(record.time, V(w.first));
  const V alone = me | ATOMIC | (record.who & HAS_PLAIN & of_this_group);
  return {pick(kept, record.time, V(w.now)), pick(kept, record.who, pick(shared, several, alone))};
}
