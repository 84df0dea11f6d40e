// What a sanitized build tells of a launch, and to whom. Generated code calls the functions at the end
// (simd/emit/events.py); events.cpp passes them on to the checkers, one file each, which report() what
// is wrong. targets/cpu/sanitized.py has the same structures for Python.
//
// One thread runs all threadgroups of such a launch, in order, so nothing here needs locks. Memory
// is zeroed when a launch begins (launch.cpp).
#pragma once

using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;

// Kinds of findings; anymetal/sanitizer/kinds.py has their texts.
enum Kind : uint32_t {
  BOUNDS_READ, BOUNDS_WRITE, BOUNDS_ATOMIC, MISALIGNED,
  RACE_THREADGROUP, RACE_DEVICE, RACE_GROUPS, RACE_ATOMIC,
  UNDEFINED_BRANCH, UNDEFINED_ADDRESS, UNDEFINED_OUTPUT, UNDEFINED_ATOMIC, UNWRITTEN_OUTPUT,
  MISSING_INIT_VALUE,
  BARRIER_DIVERGENT, BARRIER_AFTER_RETURN, SHUFFLE_INACTIVE, SHUFFLE_RANGE, SIMD_DIVERGENT,
  DIVISION_BY_ZERO, SHIFT_COUNT, FLOAT_TO_INT, INDEX_OVERFLOW, ORDER_DEPENDENT, NOT_A_NUMBER,
  DIVISION_OVERFLOW, METAL_LIMIT,
};

enum Action : uint32_t { LOAD, STORE, UPDATE, ATOMIC_LOAD, ATOMIC_STORE };

// In place of an array's number (passes/check_bounds.py): any array, and none.
constexpr uint32_t ANYWHERE = 0x7fffffff, NOWHERE = 0x7ffffffe;
constexpr uint32_t NO_SITE = 0xffffffff;

struct Place {
  uint32_t x, y, z;
};

struct Finding {
  uint32_t kind, site, object, bytes;
  uint64_t offset;  // in bytes from the beginning of the array; may be "negative"
  Place thread, group;  // position in the grid, of the threadgroup
  uint32_t other_site;  // of races: the access before; else NO_SITE
  Place other_thread, other_group;
  uint32_t detail;
  uint64_t count;  // how often, with this kind and these sites
};
static_assert(sizeof(Finding) == 88);

// An array that the program knows, by its number (`arrays` in am_notes).
struct Object {
  uint64_t bytes;
  uint32_t granule;    // what all accesses to it are multiples of, in place and size; 0: not told
  uint32_t is_device;  // it is not the threadgroup's
  // Arrays that share memory are watched as one, the `owner`; mostly that is the array itself.
  uint64_t base;     // where it begins in the memory of the owner
  uint64_t watched;  // bytes from its beginning on; 0 if it is not watched, or not an owner
  uint32_t owner;
  uint32_t reserved;
};

struct Launch;
struct Gang;
struct Races;        // races.h
struct Convergence;  // convergence.h

// The race detector is too large to be a part of every kernel: it is a library of its own, and this is
// what it offers. `prepare` makes its memory, for a launch of so many threadgroups; the others are its
// part in the events below.
struct Detector {
  bool (*prepare)(Launch*, uint64_t groups);
  void (*free)(Launch*);
  void (*begin)(Gang*);
  void (*end)(Gang*);
  void (*barrier)(Gang*, uint32_t flags, bool narrow);
  void (*fence)(Gang*, uint32_t mask);
  void (*access_run)(Gang*, uint32_t site, uint32_t mask, uint64_t offset, int64_t stride,
                     uint32_t object, uint32_t bytes, uint32_t action);
  void (*access_lanes)(Gang*, uint32_t site, uint32_t mask, const uint64_t* offsets,
                       const uint32_t* objects, uint32_t bytes, uint32_t action);
};

// A SIMD-group (of 32 lanes; one of the scalar build has 1), from am_begin on until am_end.
struct Gang {
  Launch* launch;
  uint32_t number;  // in its threadgroup
  uint32_t width;   // lanes
  uint32_t lanes;   // those that there are, as bits
  Place group;      // position of the threadgroup
  uint32_t first;   // number of the first lane's thread in the threadgroup
  uint32_t running;  // whether it has not ended
  uint32_t meetings, narrow_meetings;  // barriers so far, of the threadgroup and of the SIMD-group
  uint32_t reserved;
};
static_assert(sizeof(Gang) == 56);

constexpr uint32_t MOST_GANGS = 1024;

// A launch. Python reads the findings when it has ended.
struct Launch {
  const uint64_t* group_order;  // numbers of threadgroups, in the order in which they run; or null
  const uint32_t* gang_order;   // numbers of 32 gangs likewise (targets/cpu/other_orders.py)
  Finding* findings;
  uint32_t* table;  // by hash: the number of a finding, plus 1; twice as many as findings
  Gang* gangs;      // MOST_GANGS, of the current threadgroup
  Object* objects;
  uint32_t object_count;
  uint32_t capacity;  // of findings: a power of two
  uint32_t found;     // findings so far
  uint32_t gang_count;  // of the current threadgroup
  uint32_t started;   // gangs of it that have begun, in any order
  uint32_t reserved;
  uint64_t lost;      // findings for which there was no room
  uint64_t events;    // accesses, barriers, cross-lane calls
  uint64_t groups;    // threadgroups so far
  Place grid, size, full_size, group;  // size: of the current threadgroup; full_size: of most
  const Detector* detector;  // of races
  Races* races;              // its memory
  Convergence* convergence;  // the same of convergence.cpp
};
static_assert(sizeof(Launch) == 168);

// The thread of a lane: its position in the grid.
inline Place thread_of(const Gang* gang, uint32_t lane) {
  const Launch* launch = gang->launch;
  const uint32_t number = gang->first + lane, x = launch->size.x, y = launch->size.y;
  return {gang->group.x * launch->full_size.x + number % x,
          gang->group.y * launch->full_size.y + number / x % y,
          gang->group.z * launch->full_size.z + number / x / y};
}

// Notes a finding (its count is ignored). The first of each kind and places is kept, that is the one of
// the thread with the lowest number, and all are counted.
void report(Launch*, const Finding&);

// A finding of one lane, with what every finding has.
Finding finding_of(const Gang*, uint32_t lane, uint32_t kind, uint32_t site);

// -- what generated code calls. `mask`: lanes as bits.

extern "C" {
// The gang `number` of a threadgroup begins. `active`: how many lanes there are, 0 for all.
Gang* am_begin(Launch*, uint32_t width, uint32_t group_x, uint32_t group_y, uint32_t group_z,
               uint32_t size_x, uint32_t size_y, uint32_t size_z, uint32_t full_x, uint32_t full_y,
               uint32_t full_z, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t number,
               uint32_t active);
void am_end(Gang*);

// Something is wrong in these lanes; for each of all lanes: where in which array.
void am_found(Gang*, uint32_t site, uint32_t kind, uint32_t mask, const uint64_t* offsets,
              const uint32_t* objects);

// An access to memory that threads share; lanes of `mask` stay inside of the array. The offset of lane
// k is `offset + k * stride`.
void am_access_run(Gang*, uint32_t site, uint32_t mask, uint64_t offset, int64_t stride,
                   uint32_t object, uint32_t bytes, uint32_t action);
void am_access_lanes(Gang*, uint32_t site, uint32_t mask, const uint64_t* offsets,
                     const uint32_t* objects, uint32_t bytes, uint32_t action);

// A barrier follows, for lanes of `mask`. `flags`: Metal's mem_flags. `narrow`: simdgroup_barrier.
void am_barrier(Gang*, uint32_t site, uint32_t flags, bool narrow, uint32_t mask);

// A fence follows, atomic_thread_fence.
void am_fence(Gang*, uint32_t site, uint32_t mask);

// Lanes of `mask` are about to do something together (`what`: convergence.h). `values`: a number of
// each of all lanes, such as the one whose value a shuffle takes.
void am_lanes(Gang*, uint32_t site, uint32_t what, uint32_t mask, const uint32_t* values);
}
