// State of the convergence checker (convergence.cpp), which Python allocates, and its events.
#pragma once

#include "observer.h"

// What lanes do together (frontend/wrong_operands.py).
enum Together : uint32_t { SHUFFLE, QUAD_SHUFFLE, UNIFORM, ALL, RETURNS };

// Lanes of one SIMD-group.
struct MissingLanes {
  uint32_t rounds;       // barriers of the threadgroup that it has come to
  uint32_t missing;      // lanes that have not come to a barrier, and whose other way is not known yet
  uint32_t returned;     // that have executed a `return`
  uint32_t told;         // of which something has been told: what follows from that is no news
  uint32_t site[32];     // of the barrier at which they are missing
  uint32_t way_out[32];  // of the `return`
};

// A threadgroup.
struct Convergence {
  uint32_t rounds;      // barriers that some SIMD-group has come to
  uint32_t site, gang, lane;  // the first that came to the last one
  uint32_t ended;       // whether a SIMD-group has
  uint32_t apart;       // whether they have come to different barriers: then nothing more is told
  uint32_t reserved[2];
  MissingLanes gangs[MOST_GANGS];
};
static_assert(sizeof(Convergence) == 32 + 272 * MOST_GANGS);

void convergence_group(Launch*);  // a threadgroup begins
void convergence_begin(Gang*);
void convergence_end(Gang*);
void convergence_barrier(Gang*, uint32_t site, bool narrow, uint32_t mask);
void convergence_lanes(Gang*, uint32_t site, uint32_t what, uint32_t mask, const uint32_t* values);
