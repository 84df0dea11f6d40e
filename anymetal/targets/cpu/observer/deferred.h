// Accesses to threadgroup memory that are noted only if something comes that may be in conflict.
//
//     tile[l] = …                    write
//     threadgroup_barrier            what was before is in order
//     for (…) … tile[k] …            reads: deferred, nothing is looked up
//     threadgroup_barrier            what was deferred is in order, too: forgotten
//
// Accesses of one sort, plain reads or atomics, are in conflict with those of other sorts only. As
// long as all of these are in order, an access needs no check, and matters only to another one in front
// of the next barrier. So it is kept in a list until that comes. If something of another sort comes
// first, the list is gone through as if each access happened then (`settle` in races.cpp), with the
// times that it had.
//
// Accesses of one place of the program that go on from each other are one entry, that of the first. So
// accesses of a SIMD-group between two barriers may change places, which decides at most which of
// them a finding names.
#pragma once

#include "blocks.h"

enum Sort : uint32_t { READS, WRITES, ATOMICS };

// An access of a gang, or several that one place of the program made one after the other: access n
// is `n * step` behind the first.
struct Deferred {
  Window window;
  uint32_t site, mask, first, bytes, action;
  uint32_t count, has_offsets;  // whether lanes have offsets of their own
  int64_t offset, stride, step;

  AM_INLINE bool is_of(const Access& a, uint32_t lanes) const {
    return site == a.site && first == a.gang.first && mask == lanes && window.now == a.window.now;
  }
};

constexpr uint32_t MOST_DEFERRED = 1024, RECENT = 16;

// Those of one array.
struct DeferredList {
  uint32_t count;
  uint32_t cleared;         // the time since which they are
  uint32_t sort;
  uint32_t last[3];         // when there was an access of each sort
  uint32_t recent[RECENT];  // by site: one that may go on, plus 1
  Deferred all[MOST_DEFERRED];
  Lanes offsets[MOST_DEFERRED];
};

namespace {

AM_INLINE Sort sort_of(uint32_t action) {
  return action == LOAD ? READS : action == STORE ? WRITES : ATOMICS;
}

AM_INLINE DeferredList& list_of(const Access& a) {
  DeferredList& list = *a.shadow.deferred;
  if (list.cleared != a.races.cleared) {
    list.cleared = a.races.cleared;
    list.count = 0;
    for (uint32_t& one : list.recent) one = 0;
  }
  return list;
}

// Whether all that happened at this time and before is in order, for all threads.
AM_INLINE bool in_order(const Access& a, uint32_t time) {
  return time < a.window.since || time - a.window.first < a.window.ordered;
}

// Whether an access goes on as one before did.
AM_INLINE bool goes_on(DeferredList& list, const Access& a, uint32_t mask, int64_t offset,
                       int64_t stride) {
  const uint32_t number = list.recent[a.site % RECENT];
  if (!number) return false;
  Deferred& before = list.all[number - 1];
  if (!before.is_of(a, mask) || before.has_offsets || before.stride != stride) return false;
  if (before.count == 1) before.step = offset - before.offset;
  if (offset != before.offset + before.count * before.step) return false;
  ++before.count;
  return true;
}

// Defers an access if that can be. `offsets`: of all lanes, or null.
AM_INLINE bool defer(const Access& a, uint32_t action, uint32_t mask, int64_t offset, int64_t stride,
                     const uint64_t* offsets) {
  if (!a.shadow.deferred) return false;
  DeferredList& list = list_of(a);
  const Sort sort = sort_of(action);
  list.last[sort] = a.window.now;
  if (sort == WRITES || (list.count && list.sort != sort)) return false;
  const Sort other = sort == READS ? ATOMICS : READS;
  if (!in_order(a, list.last[WRITES]) || !in_order(a, list.last[other])) return false;
  if (!offsets && goes_on(list, a, mask, offset, stride)) return true;
  if (list.count == MOST_DEFERRED) return false;
  if (offsets)
    list.offsets[list.count] = __builtin_convertvector(*reinterpret_cast<const Offsets*>(offsets), Lanes);
  list.sort = sort;
  list.all[list.count++] = {a.window, a.site, mask,   a.gang.first, a.bytes, action,
                            1,        offsets != nullptr, offset, stride,  0};
  list.recent[a.site % RECENT] = list.count;
  return true;
}

// Whether something has been deferred and must be noted now.
AM_INLINE bool is_behind(const Access& a) {
  return a.shadow.deferred && a.shadow.deferred->count;
}

}  // namespace
