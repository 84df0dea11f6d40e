// State of the race detector (races.cpp) during a launch.
#pragma once

#include "observer.h"
#include "records.h"

// The records of an array, in four planes of one number per granule: time and who of the last
// write, then of the last reads. Each has room for a granule per byte, in memory that the system
// provides where it is touched, and PADDING more in front and behind, for lanes that are not active.
constexpr int64_t PADDING = 128, GRANULES = 32;  // of a block

// What is remembered of 32 neighbouring granules as one (blocks.h), instead of records for each.
struct Block {
  Record<uint32_t> write, read;  // of the first granule
  uint32_t wide;                 // granule k is the one of the thread `k >> wide` behind
};

struct DeferredList;  // deferred.h

struct Shadow {
  uint32_t* planes;
  Block* blocks;
  uint32_t* fine;     // of each block: since when its granules have records of their own
  DeferredList* deferred;  // of threadgroup memory, or null
  uint64_t distance;  // from one plane to the next, in numbers
  uint64_t bytes;     // of the array
  uint32_t since;     // records that are older do not count
  uint8_t shift;      // a granule has 1 << shift bytes
  uint8_t device;     // memory of all threadgroups
  uint8_t is_read;    // in this launch so far
  uint8_t reserved;
};

// A thread made known what it and its threadgroup had done: an atomic write behind a fence.
struct Release {
  uint32_t group, thread;  // number of the threadgroup in order of execution; thread in it
  uint32_t before;         // what the threadgroup did before this time, is ordered
  uint32_t own;            // and what the thread itself did before this one
};

constexpr uint32_t MOST_SIMD_GROUPS = 32, MOST_THREADS = 1024, MOST_RELEASES = 1 << 16;

struct Races {
  Shadow* shadows;  // by number of the array; without planes if nobody can race for it
  uint32_t* begins;    // when each threadgroup of the launch began, in order of execution
  Place* places;       // where it was
  uint32_t arrays, groups;  // how many there are; how many have begun
  uint32_t time, first;     // `first`: when this threadgroup began
  uint32_t ordered[2];      // the last barrier, for threadgroup and for device memory
  uint32_t ordered_in_simd_group[2][MOST_SIMD_GROUPS];
  uint32_t live, arrived, flags;  // SIMD-groups that have not ended, that wait; what the barrier orders
  uint32_t cleared;               // when all of threadgroup memory was in order
  uint32_t fence;                 // the last one of this threadgroup
  uint32_t releases, known;       // how many; how many of them this threadgroup knows of
  uint32_t read[MOST_THREADS];    // releases that were there when a thread last read an atomic,
  uint32_t acquired[MOST_THREADS];  // and a fence came behind
  Release* released;
  uint64_t size;  // of all memory, of which this is the begin
};
