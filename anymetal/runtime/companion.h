// Companions: threads that have nothing to do before another one's launches are over, and take part in
// these meanwhile.
//
// MLX evaluates on a thread of each stream, and whoever asks for a result waits for that. To wake the
// one and then the other takes up to 0.1 ms, during which nothing is computed. So the thread that asks
// runs the launch itself, and the stream's thread, for which MLX needs a task anyway, accompanies it:
// it is one of the threads that kernels may have, and awake when MLX comes with the next task.
#pragma once

#include "context.h"
#include "late.h"

constexpr uint32_t MOST_COMPANIONS = 16;  // one for a stream: launches on more of them have none
// All times are in nanoseconds. A companion that has not come after the first of these may be waiting
// for its leader's processor, and is moved to another one. After the second its place in the launch is a
// worker's: it has something else to do first.
constexpr uint64_t COMPANION_WAITS = 30000, COMPANION_LATE = 100000;
// The leader looks for it between two threadgroups, so launches in which one takes longer keep no place.
constexpr double LONGEST_GROUP = 100000;
constexpr uint64_t COMPANION_SPIN = 100000;  // without anything to do, before it sleeps
constexpr uint64_t COMPANION_STAYS = 4000;   // after it was dismissed: MLX comes with its next task

// The leader's launches are numbered periods: `led` is the latest that began, `dismissed` the latest that
// is over.
struct Companion {
  Worker self;  // displaced if it waits behind its leader
  uint32_t led, dismissed;
};

static Companion companions[MOST_COMPANIONS];
static uint32_t companions_used;

static bool is_dismissed(const Companion* companion, uint32_t time) {
  return static_cast<int32_t>(load(&companion->dismissed) - time) >= 0;
}

// Whether to keep a place for it, which is a worker's otherwise.
static bool is_expected(const Companion* companion, double group_time) {
  return companion && !load(&companion->self.sleeps) && group_time < LONGEST_GROUP;
}

static Companion* new_companion() {
  uint32_t number = load(&companions_used);
  do {
    if (number == MOST_COMPANIONS) return nullptr;
  } while (!replace(&companions_used, number, number + 1));
  return &companions[number];
}

static uint32_t lead(Companion* companion) {
  if (Context* self = own_context()) self->companion = companion;
  uint32_t time = companion->led + 1;
  store(&companion->led, time);
  return time;
}

static void make_way(Companion* companion) {
  if (load(&companion->self.thread)) displace(companion->self, sched_getcpu());
}

static void dismiss(Companion* companion) {
  if (Context* self = own_context()) self->companion = nullptr;
  swap(&companion->dismissed, load(&companion->led));
  if (load(&companion->self.sleeps)) futex_wake(&companion->dismissed, 1);
}

static void sleep_until_dismissed(Companion* companion, uint32_t time) {
  swap(&companion->self.sleeps, 1u);
  for (uint32_t seen; seen = load(&companion->dismissed), !is_dismissed(companion, time);) {
    futex_wait(&companion->dismissed, seen);
  }
  store(&companion->self.sleeps, 0u);
}
