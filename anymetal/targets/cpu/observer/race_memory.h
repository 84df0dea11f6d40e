// The memory of the race detector: records for the arrays of a launch, which one launch hands on to the
// next.
#pragma once

#include "deferred.h"

extern "C" {
void* mmap(void*, uint64_t, int, int, int, int64_t);
int munmap(void*, uint64_t);
int madvise(void*, uint64_t, int);
}

namespace {

constexpr int READ_WRITE = 1 | 2;            // PROT_READ | PROT_WRITE
constexpr int ON_DEMAND = 0x02 | 0x20 | 0x4000;  // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE

// Records of large arrays are all touched, one after the other. A launch has its own, fresh ones.
constexpr uint64_t LARGE = 8 << 20;
constexpr int HUGE_PAGES = 14;  // MADV_HUGEPAGE

// Hands out parts of a piece of memory; of none, it measures what is needed.
struct Parts {
  uint8_t* memory;
  uint64_t used;

  template <class T> T* take(uint64_t count) {
    T* const part = reinterpret_cast<T*>(memory + used);
    used += (count * sizeof(T) + 63) / 64 * 64;
    return part;
  }
};

Races* take_all(Parts parts, const Launch& launch, uint64_t groups, uint32_t time, uint64_t* size) {
  Races* const races = parts.take<Races>(1);
  Races made{};
  made.shadows = parts.take<Shadow>(launch.object_count);
  made.begins = parts.take<uint32_t>(groups);
  made.places = parts.take<Place>(groups);
  made.released = parts.take<Release>(MOST_RELEASES);
  made.arrays = launch.object_count;
  made.time = time;
  for (uint32_t i = 0; i < launch.object_count; ++i) {
    const Object& object = launch.objects[i];
    if (parts.memory) made.shadows[i] = {};
    if (!object.watched) continue;
    const uint64_t distance = object.watched + 2 * PADDING;  // as for granules of a byte
    const uint64_t blocks = distance / GRANULES + 1;
    uint32_t* const planes = parts.take<uint32_t>(4 * distance);
    Block* const block = parts.take<Block>(blocks);
    uint32_t* const fine = parts.take<uint32_t>(blocks);
    const uint32_t shift = __builtin_ctz(object.granule | 16);
    DeferredList* const deferred = object.is_device ? nullptr : parts.take<DeferredList>(1);
    if (parts.memory)
      made.shadows[i] = {planes + PADDING, block, fine + PADDING / GRANULES, deferred, distance,
                         object.watched, made.time, static_cast<uint8_t>(shift), object.is_device != 0, 0, 0};
  }
  made.size = *size = parts.used;
  if (parts.memory) *races = made;
  return races;
}

// The memory of the last launch: the next one often needs the same. To get fresh pages takes several
// times as long as to note what a launch does. Time goes on, so that old records do not count.
Races* kept;

bool can_serve(const Races& before, const Launch& launch, uint64_t size) {
  if (before.size != size || before.arrays != launch.object_count || before.time >> 30) return false;
  for (uint32_t i = 0; i < before.arrays; ++i) {
    if (before.shadows[i].bytes != launch.objects[i].watched) return false;
  }
  return true;
}

void unmap(Races* races) {
  if (races) munmap(races, races->size);
}

bool prepare(Launch* launch, uint64_t groups) {
  uint64_t size;
  uint32_t time = 1;
  take_all({}, *launch, groups, time, &size);
  void* memory = __atomic_exchange_n(&kept, nullptr, __ATOMIC_ACQ_REL);
  if (memory && can_serve(*static_cast<Races*>(memory), *launch, size)) {
    time = static_cast<Races*>(memory)->time + 1;
  } else {
    unmap(static_cast<Races*>(memory));
    memory = mmap(nullptr, size, READ_WRITE, ON_DEMAND, -1, 0);
    if (memory == reinterpret_cast<void*>(-1)) return false;
    if (size > LARGE) madvise(memory, size, HUGE_PAGES);
  }
  launch->races = take_all({static_cast<uint8_t*>(memory), 0}, *launch, groups, time, &size);
  return true;
}

void release(Launch* launch) {
  unmap(__atomic_exchange_n(&kept, launch->races, __ATOMIC_ACQ_REL));
  launch->races = nullptr;
}

}  // namespace
