// Order between threadgroups by fences and atomics: who knows of what (races.cpp says when).
#pragma once

#include "races.h"

namespace {

// The threadgroup, in order of execution, that ran at a time.
uint32_t group_at(const Races& races, uint32_t time) {
  uint32_t low = 0, high = races.groups;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (races.begins[middle] <= time ? low : high) = middle;
  }
  return low;
}

// Whether a thread knows, by fences, of what a record tells.
bool is_known(const Races& races, Record<uint32_t> record, uint32_t thread) {
  const uint32_t acquired = races.acquired[thread];
  const uint32_t known = acquired > races.known ? acquired : races.known;
  const uint32_t group = group_at(races, record.time);
  uint32_t low = 0, high = known;  // the releases of each threadgroup are neighbours
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (races.released[middle].group < group) low = middle + 1;
    else high = middle;
  }
  for (; low < known && races.released[low].group == group; ++low) {
    const Release& release = races.released[low];
    if (record.time < release.before) return true;
    const bool alone = !(record.who & (SEVERAL | SEVERAL_OF_SIMD_GROUP));
    if (alone && (record.who & THREAD) == release.thread && record.time < release.own) return true;
  }
  // There was no room to note all releases: what nobody can know is not blamed.
  return races.releases == MOST_RELEASES && known == races.releases;
}

// Notes what an atomic access means to fences. Kernels without one do not come here.
__attribute__((cold, noinline)) void pass_on(Races& races, uint32_t thread, uint32_t action) {
  if (action != ATOMIC_STORE) races.read[thread] = races.releases;
  if (action == ATOMIC_LOAD || races.fence < races.first || races.releases == MOST_RELEASES) return;
  races.released[races.releases++] = {races.groups - 1, thread, races.ordered[1], races.fence};
}

}  // namespace
