// Finds barriers that not all threads reach, and what lanes do together without those they need.
//
// A barrier is for all threads: each of them has to come to the same barriers in the same order. Lanes of
// a SIMD-group run in lockstep, so those that are missing at a barrier have taken another way, but which
// one is known only later: they return (barrier-after-return, which GPUs bear with), or they come to
// another barrier, or to the end of the kernel (barrier-divergent). Until then a lane is `missing`.
//
// SIMD-groups are resumed in turn, each until its next barrier, so all come to their n-th barrier in the
// same round. They must be at the same place in each round, and none may have ended before.

#include "convergence.h"

namespace {

Convergence* of(const Gang* gang) { return gang->launch->convergence; }

MissingLanes* lanes_of(const Gang* gang) { return of(gang)->gangs + gang->number; }

uint32_t first_of(uint32_t lanes) { return static_cast<uint32_t>(__builtin_ctz(lanes)); }

// `lane` has not come to the barrier `site`. Where it is instead: at `other`, if that is a place.
void missed(const Gang* gang, uint32_t lane, Kind kind, uint32_t site, uint32_t other) {
  Finding finding = finding_of(gang, lane, kind, site);
  finding.other_site = other;
  finding.other_thread = finding.thread;
  finding.other_group = finding.group;
  report(gang->launch, finding);
}

// Lanes that are missing at a barrier, as far as they are among `lanes`, have now taken another way.
[[gnu::noinline, gnu::cold]] void settle(const Gang* gang, uint32_t lanes, Kind kind, uint32_t other) {
  MissingLanes* its = lanes_of(gang);
  for (uint32_t left = its->missing & lanes; left; left &= left - 1) {
    missed(gang, first_of(left), kind, its->site[first_of(left)], other);
  }
  its->told |= its->missing & lanes;
  its->missing &= ~lanes;
}

// Not all lanes of a SIMD-group have come to a barrier.
[[gnu::noinline, gnu::cold]] void lacks(const Gang* gang, uint32_t site, uint32_t lanes) {
  MissingLanes* its = lanes_of(gang);
  for (uint32_t left = lanes & ~its->missing & ~its->told; left; left &= left - 1) {
    const uint32_t lane = first_of(left);
    if (its->returned >> lane & 1) {
      its->told |= 1u << lane;
      missed(gang, lane, BARRIER_AFTER_RETURN, site, its->way_out[lane]);
    } else {
      its->missing |= 1u << lane;
      its->site[lane] = site;
    }
  }
}

// All SIMD-groups that have not ended have come to the barrier of this round: the others never will.
[[gnu::noinline, gnu::cold]] void complete(Launch* launch) {
  const Convergence* state = launch->convergence;
  for (uint32_t number = 0; number < launch->gang_count; ++number) {
    const Gang* gang = launch->gangs + number;
    MissingLanes* its = lanes_of(gang);
    if (gang->running || its->rounds >= state->rounds) continue;
    its->rounds = ~0u;  // once is enough
    for (uint32_t left = gang->lanes & ~its->told; left; left &= left - 1) {
      const bool returned = its->returned >> first_of(left) & 1;
      const uint32_t other = returned ? its->way_out[first_of(left)] : NO_SITE;
      missed(gang, first_of(left), returned ? BARRIER_AFTER_RETURN : BARRIER_DIVERGENT, state->site, other);
    }
  }
}

// Two SIMD-groups wait at different barriers: what comes first in the text is what one of them misses.
[[gnu::noinline, gnu::cold]] void apart(const Gang* gang, uint32_t site, uint32_t lane) {
  const Convergence* state = of(gang);
  if (site < state->site) {
    missed(gang->launch->gangs + state->gang, state->lane, BARRIER_DIVERGENT, site, state->site);
  } else {
    missed(gang, lane, BARRIER_DIVERGENT, state->site, site);
  }
}

// The SIMD-group has come to its next barrier of the whole threadgroup, with all its lanes or not.
void meet(const Gang* gang, uint32_t site, uint32_t mask, bool whole) {
  Convergence* state = of(gang);
  MissingLanes* its = lanes_of(gang);
  if (++its->rounds > state->rounds) {
    if (state->ended && !state->apart) complete(gang->launch);
    state->rounds = its->rounds;
    state->site = site;
    state->gang = gang->number;
    state->lane = first_of(mask);
  } else if (site != state->site && !state->apart && whole) {
    apart(gang, site, first_of(mask));
    state->apart = 1;
  }
  // What follows on a barrier that only some lanes have come to is no news.
  if (!whole) state->apart = 1;
}

typedef uint32_t Lanes __attribute__((ext_vector_type(32), aligned(4)));

// Which lanes are not zero, as bits.
uint32_t bits_of(Lanes truth) {
  typedef bool Bits __attribute__((ext_vector_type(32)));
  return __builtin_bit_cast(uint32_t, __builtin_convertvector(truth, Bits));
}

// In these lanes `value` is wrong.
[[gnu::noinline, gnu::cold]] void wrong(const Gang* gang, uint32_t site, Kind kind, uint32_t lanes,
                                        const uint32_t* values) {
  for (; lanes; lanes &= lanes - 1) {
    Finding finding = finding_of(gang, first_of(lanes), kind, site);
    finding.detail = values[first_of(lanes)];
    report(gang->launch, finding);
  }
}

// Lanes that a shuffle reads must exist, be active, and for quads be of the same one.
void shuffle(const Gang* gang, uint32_t site, uint32_t mask, const uint32_t* lanes, bool quad) {
  const Lanes source = *reinterpret_cast<const Lanes*>(lanes);
  Lanes outside = source > 31 ? Lanes(1) : Lanes(0);
  if (quad) {
    Lanes own;
    for (uint32_t lane = 0; lane < 32; ++lane) own[lane] = lane;
    outside |= (source ^ own) & ~3u;
  }
  const uint32_t far = bits_of(outside) & mask;
  if (far) wrong(gang, site, SHUFFLE_RANGE, far, lanes);
  if (mask == ~0u) return;
  const uint32_t active = bits_of(Lanes(mask) >> (source & 31) & 1u);
  const uint32_t lost = mask & ~active & ~far;
  if (lost) wrong(gang, site, SHUFFLE_INACTIVE, lost, lanes);
}

// An argument must be the same in all lanes.
void uniform(const Gang* gang, uint32_t site, uint32_t mask, const uint32_t* values) {
  if (!mask) return;
  const Lanes given = *reinterpret_cast<const Lanes*>(values);
  const uint32_t other = bits_of(given ^ Lanes(values[first_of(mask)])) & mask;
  if (other) wrong(gang, site, SIMD_DIVERGENT, other, values);
}

}  // namespace

void convergence_group(Launch* launch) {
  Convergence* state = launch->convergence;
  state->rounds = state->ended = state->apart = 0;
}

void convergence_begin(Gang* gang) {
  MissingLanes* its = lanes_of(gang);
  its->rounds = its->missing = its->returned = its->told = 0;
}

void convergence_end(Gang* gang) {
  Convergence* state = of(gang);
  MissingLanes* its = lanes_of(gang);
  if (its->missing) settle(gang, ~0u, BARRIER_DIVERGENT, NO_SITE);
  state->ended = 1;
  if (state->rounds == 0 || state->apart) return;
  // Behind the last one nobody is left who would come to the barriers of the others.
  for (uint32_t n = 0; n < gang->launch->gang_count; ++n) {
    if (gang->launch->gangs[n].running) return;
  }
  complete(gang->launch);
}

void convergence_barrier(Gang* gang, uint32_t site, bool narrow, uint32_t mask) {
  MissingLanes* its = lanes_of(gang);
  if (!mask) return;
  if (its->missing & mask) settle(gang, mask, BARRIER_DIVERGENT, site);
  const uint32_t absent = gang->lanes & ~mask;
  if (absent) lacks(gang, site, absent);
  if (!narrow) meet(gang, site, mask, !(absent & ~its->returned));
}

void convergence_lanes(Gang* gang, uint32_t site, uint32_t what, uint32_t mask, const uint32_t* values) {
  if (gang->width != 32) return;  // lanes of the scalar build come one after another
  switch (what) {
    case SHUFFLE:
    case QUAD_SHUFFLE:
      return shuffle(gang, site, mask, values, what == QUAD_SHUFFLE);
    case UNIFORM:
      return uniform(gang, site, mask, values);
    case ALL:
      if (mask != ~0u) wrong(gang, site, SIMD_DIVERGENT, mask, values);
      return;
    case RETURNS: {
      MissingLanes* its = lanes_of(gang);
      its->returned |= mask;
      for (uint32_t left = mask; left; left &= left - 1) its->way_out[first_of(left)] = site;
      if (its->missing & mask) settle(gang, mask, BARRIER_AFTER_RETURN, site);
    }
  }
}
