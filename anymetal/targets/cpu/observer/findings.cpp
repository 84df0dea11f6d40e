// The table of findings: one for each kind and place, or pair of places.

#include "observer.h"

namespace {

uint64_t number_of(const Launch* launch, const Place& at) {
  return (uint64_t{at.z} * launch->grid.y + at.y) * launch->grid.x + at.x;
}

uint64_t hash_of(const Finding& finding) {
  uint64_t hash = finding.kind;
  hash = (hash ^ finding.site) * 0x9e3779b97f4a7c15;
  hash = (hash ^ hash >> 29 ^ finding.other_site) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

bool same(const Finding& one, const Finding& other) {
  return one.kind == other.kind && one.site == other.site && one.other_site == other.other_site;
}

}  // namespace

[[gnu::noinline, gnu::cold]] void report(Launch* launch, const Finding& finding) {
  const uint64_t wrap = 2 * uint64_t{launch->capacity} - 1;
  uint64_t slot = hash_of(finding) & wrap;
  while (const uint32_t number = launch->table[slot]) {
    Finding& known = launch->findings[number - 1];
    if (same(known, finding)) {
      const uint64_t count = known.count + 1;
      if (number_of(launch, finding.thread) < number_of(launch, known.thread)) known = finding;
      known.count = count;
      return;
    }
    slot = (slot + 1) & wrap;
  }
  if (launch->found == launch->capacity) {
    ++launch->lost;
    return;
  }
  launch->table[slot] = launch->found + 1;
  Finding& made = launch->findings[launch->found++];
  made = finding;
  made.count = 1;
}

Finding finding_of(const Gang* gang, uint32_t lane, uint32_t kind, uint32_t site) {
  Finding made{};
  made.kind = kind;
  made.site = site;
  made.object = NOWHERE;
  made.thread = thread_of(gang, lane);
  made.group = gang->group;
  made.other_site = NO_SITE;
  return made;
}

extern "C" [[gnu::noinline, gnu::cold]] void am_found(Gang* gang, uint32_t site, uint32_t kind,
                                                      uint32_t mask, const uint64_t* offsets,
                                                      const uint32_t* objects) {
  for (; mask; mask &= mask - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(mask));
    Finding made = finding_of(gang, lane, kind, site);
    made.object = objects[lane];
    made.offset = offsets[lane];
    report(gang->launch, made);
  }
}
