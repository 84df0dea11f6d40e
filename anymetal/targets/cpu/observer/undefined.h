// The twins of a launch: which bytes of its outputs, and of threadgroup memory, are undefined. Generated
// code keeps them (passes/track_undefined.py); here is their memory, and what they tell at the end.
#pragma once

#include "observer.h"

// What Python says about an array of a program, once: before the first launch.
struct Described {
  uint64_t bytes;    // of an array that is no buffer
  uint32_t granule;  // what its accesses are multiples of, if they are told; else 0
  uint32_t is_buffer;
  uint32_t element;  // bytes of an element of an output that has a twin, else 0
  uint32_t site;     // the place to name if not all of that output is written
  uint32_t grain;    // for how many bytes of that output its twin has one
  uint32_t reserved;
};

// The addresses of a launch's buffers and, behind them, those of twins; null if there is no memory.
// `count`: of addresses in front of the twins.
void** undefined_begin(const Launch*, const Described*, uint64_t shared_twin, void* const* buffers,
                       uint64_t count);

// At the end of a launch: tells of the elements of outputs that nobody has written.
void undefined_tell(Launch*, const Described*, void* const* buffers, uint64_t count);

// Gives the memory back.
void undefined_end(void** buffers, uint64_t count);
