// Workers that were woken and do not come.
//
// A scheduler may queue a worker behind the thread that woke it although another processor is idle:
// virtual machines do that to let processors rest. Such a worker runs when there is nothing left to
// do. So the owner of a launch, having waited for it in vain, forbids it the processor that the owner
// runs on; the system then moves the worker at once. When it comes, the worker lifts that again.
#pragma once

#include "libc.h"

constexpr uint32_t MAX_WORKERS = 1023;
// After being woken. On a quiet machine a thread runs 5 to 50 µs later.
constexpr uint64_t LATE_AFTER = 10000;

struct ProcessorSet {
  uint64_t bits[16];  // larger machines get an error, and wait for late workers
};

struct Worker {
  int32_t thread;       // its number for the system
  uint32_t sleeps;      // 1 from when it is about to sleep until it runs again
  uint32_t displaced;   // a Displacement
  ProcessorSet before;  // where it may run otherwise, while it is displaced
};

// Of a worker: it may run anywhere; one thread is about to forbid it a processor; that is done.
enum Displacement : uint32_t { ALLOWED, BEING_DISPLACED, DISPLACED };

static Worker crew[MAX_WORKERS];

// `displaced` must be BEING_DISPLACED.
static void forbid(Worker& worker, int processor) {
  ProcessorSet& before = worker.before = {};
  bool known = syscall(CALL_GETAFFINITY, worker.thread, sizeof before, &before) > 0;
  ProcessorSet allowed = before;
  allowed.bits[processor / 64] &= ~(uint64_t{1} << processor % 64);
  uint64_t any = 0;
  for (uint64_t bits : allowed.bits) any |= bits;
  bool done = known && any &&
              syscall(CALL_SETAFFINITY, worker.thread, sizeof allowed, &allowed) == 0;
  store(&worker.displaced, uint32_t{done ? DISPLACED : ALLOWED});
}

static bool displace(Worker& worker, int processor) {
  uint32_t allowed = ALLOWED;
  if (processor < 0 || processor >= 8 * int{sizeof(ProcessorSet)}) return false;
  if (!replace(&worker.displaced, allowed, uint32_t{BEING_DISPLACED})) return false;
  forbid(worker, processor);
  return true;
}

// Moves workers that have not come, at most `wanted` of `count`, off the caller's processor.
static void displace_late(uint32_t count, uint32_t wanted) {
  int here = sched_getcpu();
  for (uint32_t i = 0; i < count && wanted; ++i) {
    if (load(&crew[i].sleeps) && displace(crew[i], here)) --wanted;
  }
}

// A worker that has come to where its owner runs goes elsewhere.
static void keep_away(Worker& self, int processor) {
  if (sched_getcpu() == processor) displace(self, processor);
}

// It may run anywhere again.
static void stay_anywhere(Worker& self) {
  if (load(&self.displaced) != DISPLACED) return;
  syscall(CALL_SETAFFINITY, 0, sizeof self.before, &self.before);
  store(&self.displaced, uint32_t{ALLOWED});
}
