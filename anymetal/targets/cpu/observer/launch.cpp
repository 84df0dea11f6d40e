// A launch of a sanitized build: what runs it in the place of the pool's am_run, for Python and for the
// bridge alike. It makes what the observer needs, and keeps what was found until Python takes it: no
// thread waits for the GIL.

#include "convergence.h"
#include "undefined.h"

#include "../../../runtime/launch.h"

extern "C" {
void* calloc(uint64_t, uint64_t);
void free(void*);
}

namespace {

constexpr uint32_t MOST_FINDINGS = 4096;  // places; a power of two

// What Python says about a program, once: before the first launch.
struct About {
  int32_t (*run)(Call*);  // the pool's am_run
  const Described* objects;
  uint32_t object_count, buffers;
  const Detector* detector;  // races.cpp
  const uint64_t* group_order;  // for the launches to come; null for the order of numbers
  const uint32_t* gang_order;
  uint64_t shared_twin;  // bytes of the twin of threadgroup memory
};

constexpr uint32_t IN_ORDER[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// How a launch went, in one piece of memory with its arrays.
struct Result {
  Result* next;
  Launch launch;
};

Result* first;
Result** last = &first;
int32_t lock;

class Locked {
 public:
  Locked() {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
  }
  ~Locked() { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }
};

void keep(Result* result) {
  const Locked locked;
  *last = result;
  last = &result->next;
}

void let_go_of_shadows(Launch& launch) {
  if (launch.races) launch.detector->free(&launch);
  free(launch.table);
  free(launch.gangs);
  free(launch.convergence);
  launch.table = nullptr;
  launch.gangs = nullptr;
  launch.convergence = nullptr;
}

template <typename T>
T* zeroed(uint64_t count) {
  return static_cast<T*>(calloc(count ? count : 1, sizeof(T)));
}

void free_result(Result* result) {
  free(result->launch.findings);
  free(result->launch.objects);
  free(result);
}

// Kernels of Metal libraries may be given memory twice. Whatever overlaps becomes one for the race
// detector: the array that begins first owns the others.
void join_shared(Launch& launch, void* const* given, uint32_t buffers) {
  for (bool joined = true; joined;) {
    joined = false;
    for (uint32_t i = 0; i < buffers; ++i) {
      Object& first = launch.objects[i];
      for (uint32_t k = 0; k < buffers; ++k) {
        Object& other = launch.objects[k];
        const uint64_t behind = static_cast<uint8_t*>(given[k]) - static_cast<uint8_t*>(given[i]);
        if (i == k || !other.watched || behind >= first.watched) continue;
        if (first.watched < behind + other.watched) first.watched = behind + other.watched;
        first.granule |= other.granule | static_cast<uint32_t>(behind);  // its lowest bit counts
        other.watched = 0;
        for (uint32_t n = 0; n < buffers; ++n) {
          if (launch.objects[n].owner != k) continue;
          launch.objects[n].owner = i;
          launch.objects[n].base += behind;
        }
        joined = true;
      }
    }
  }
}

bool prepare(Launch& launch, const About& about, void* const* given, uint64_t groups) {
  const auto* const extents = static_cast<const am_extent*>(given[about.buffers]);
  launch.group_order = about.group_order;
  launch.gang_order = about.gang_order ? about.gang_order : IN_ORDER;
  launch.object_count = about.object_count;
  launch.capacity = MOST_FINDINGS;
  launch.findings = zeroed<Finding>(MOST_FINDINGS);
  launch.table = zeroed<uint32_t>(2 * MOST_FINDINGS);
  launch.gangs = zeroed<Gang>(MOST_GANGS);
  launch.objects = zeroed<Object>(about.object_count);
  launch.convergence = zeroed<Convergence>(1);
  if (!launch.findings || !launch.table || !launch.gangs || !launch.objects) return false;
  if (!launch.convergence) return false;
  for (uint32_t i = 0; i < about.object_count; ++i) {
    const Described& described = about.objects[i];
    Object& object = launch.objects[i];
    object.bytes = described.is_buffer ? extents[i].bytes : described.bytes;
    object.granule = described.granule;
    object.is_device = described.is_buffer;
    object.watched = object.granule ? object.bytes : 0;
    object.owner = i;
  }
  join_shared(launch, given, about.buffers);
  launch.detector = about.detector;
  return launch.detector->prepare(&launch, groups);
}

}  // namespace

extern "C" {

About am_about;

int32_t am_observed_run(Call* call) {
  void* const* const given = call->buffers;
  Result* const result = zeroed<Result>(1);
  if (!result) return NO_MEMORY;
  Launch& launch = result->launch;
  int32_t status = NO_MEMORY;
  const uint64_t count = am_about.buffers + 2;
  void** buffers = nullptr;
  if (prepare(launch, am_about, given, call->groups)) {
    buffers = undefined_begin(&launch, am_about.objects, am_about.shared_twin, given, count);
  }
  if (buffers) {
    buffers[am_about.buffers + 1] = &launch;
    call->buffers = buffers;
    status = am_about.run(call);
    call->buffers = given;
    if (status == OK) undefined_tell(&launch, am_about.objects, buffers, count);
    undefined_end(buffers, count);
  }
  if (launch.objects) let_go_of_shadows(launch);
  if (status == NO_MEMORY) {
    free_result(result);
  } else {  // what a launch has found before it was stopped counts, too
    keep(result);
  }
  return status;
}

// The results so far, oldest first, which now belong to the caller.
Result* am_take_results() {
  const Locked locked;
  Result* const all = first;
  first = nullptr;
  last = &first;
  return all;
}

void am_free_results(Result* all) {
  while (all) {
    Result* const next = all->next;
    free_result(all);
    all = next;
  }
}
}
