// What `anymetal.profile` wants to know: when each launch began and ended, and where its threads are
// about a thousand times a second. Off, it costs a look at `recording` per launch, and at a bit of the
// job per thread.
//
// A thread of its own sends SIGPROF to the threads that are inside of launches, one after the other;
// the handler notes their program counters. Timers of the system would not do: those of processor time
// tick every few milliseconds, and one that is armed with each launch never ends within a short one.
// `perf` would need rights that containers do not give.
#pragma once

#include "guard.h"

constexpr int PROFILE_SIGNAL = 27;                       // SIGPROF
constexpr int RESTART = 0x10000000, LET_THROUGH = 1;     // SA_RESTART, SIG_UNBLOCK
constexpr uint64_t LOG_WORDS = uint64_t{1} << 26;        // of address space; pages come as they fill
constexpr uint64_t SHORTEST_PAUSE = 750000, PAUSES = 500000;  // nanoseconds: 1 ms on average
constexpr uint32_t MAX_SEATS = 2048;

static bool start_thread(void* (*body)(void*));

// Entries of the log, in 64-bit words. The first one has the kind, and above it how many words follow.
constexpr uint64_t LAUNCH = 1, SAMPLE = 2;

static uint32_t recording;  // 1 while launches are noted
static uint32_t noting;     // launches that will be noted when they end
static uint64_t* log_words;
static uint64_t log_used, log_lost;

// A thread inside of a launch. `thread` is 0 while the seat is free.
struct Seat {
  int32_t thread;
  Entry* entry;
  SignalSet blocked;  // by the thread, outside
};
static Seat seats[MAX_SEATS];
static uint32_t seats_used;
static uint32_t sampler_started, sampler_sleeps;
static SignalAction before_profile;

// Room for an entry; null if the log is full. Also called by the handler.
static uint64_t* log_room(uint64_t kind, uint64_t words) {
  uint64_t at = load(&log_used);
  do {
    if (at + words + 1 > LOG_WORDS) {
      fetch_add(&log_lost, uint64_t{1});
      return nullptr;
    }
  } while (!replace(&log_used, at, at + words + 1));
  log_words[at] = kind | words << 8;
  return log_words + at + 1;
}

// ---- Launches

static uint64_t pair(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

// The arrays of a launch stand behind its addresses (launch.h).
static void write_launch(uint64_t* at, const Call* call, uint64_t begun, uint64_t ended,
                         int32_t status) {
  const am_launch& launch = call->launch;
  *at++ = reinterpret_cast<uint64_t>(call->entry);
  *at++ = begun;
  *at++ = ended;
  *at++ = pair(static_cast<uint32_t>(this_thread()), static_cast<uint32_t>(status));
  *at++ = pair(launch.grid[0], launch.grid[1]);
  *at++ = pair(launch.grid[2], launch.group[0]);
  *at++ = pair(launch.group[1], launch.group[2]);
  if (!call->arrays) return;
  const auto* extents = static_cast<const am_extent*>(call->buffers[call->arrays]);
  for (uint32_t i = 0; i < call->arrays; ++i) *at++ = extents[i].bytes;
}

static void note_launch(const Call* call, uint64_t begun, int32_t status) {
  uint64_t ended = now();
  if (uint64_t* at = log_room(LAUNCH, 7 + call->arrays)) write_launch(at, call, begun, ended, status);
  fetch_add(&noting, ~0u);
}

// Whether the launch that begins now is to be noted: then the profile ends behind its end.
static bool wants_note() {
  if (!load(&recording)) return false;
  fetch_add(&noting, 1u);
  if (load(&recording)) return true;
  fetch_add(&noting, ~0u);  // it has just ended
  return false;
}

// ---- Samples

static void on_sample(int signal, SignalInfo* info, void* machine) {
  constexpr int SENT_TO_THREAD = -6;  // SI_TKILL: by us, unless somebody else does the same
  if (info->code != SENT_TO_THREAD) return pass_on(before_profile, signal, info, machine);
  Context* self = static_cast<Context*>(pthread_getspecific(context_key));
  if (!self || !self->in_kernel || !self->seat) return;
  uint64_t* at = log_room(SAMPLE, 2);
  if (!at) return;
  at[0] = reinterpret_cast<uint64_t>(self->seat->entry);
  at[1] = saved(PROGRAM_COUNTER, machine);
}

static void take_seat(Context* self, Entry* entry) {
  for (uint32_t i = 0; i < MAX_SEATS; ++i) {
    Seat& seat = seats[i];
    int32_t nobody = 0;
    if (load(&seat.thread) || !replace(&seat.thread, nobody, -1)) continue;
    for (uint32_t used = load(&seats_used); used <= i && !replace(&seats_used, used, i + 1);) {
    }
    seat.entry = entry;
    self->seat = &seat;
    SignalSet samples{};
    samples.bits[0] = uint64_t{1} << (PROFILE_SIGNAL - 1);
    pthread_sigmask(LET_THROUGH, &samples, &seat.blocked);
    return store(&seat.thread, this_thread());
  }
}

static void leave_seat(Context* self) {
  Seat* seat = self->seat;
  if (!seat) return;  // there were too many
  self->seat = nullptr;
  pthread_sigmask(SET_MASK, &seat->blocked, nullptr);
  store(&seat->thread, 0);
}

// A period of its own might keep in step with the kernel's.
static uint64_t next_pause() {
  static uint64_t state = 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return SHORTEST_PAUSE + state % PAUSES;
}

static void* take_samples(void*) {
  for (;;) {
    if (!load(&recording)) {
      swap(&sampler_sleeps, 1u);
      if (!load(&recording)) futex_wait(&sampler_sleeps, 1);
      store(&sampler_sleeps, 0u);
      continue;
    }
    Time pause{0, static_cast<int64_t>(next_pause())};
    nanosleep(&pause, nullptr);
    for (uint32_t i = 0, used = load(&seats_used); i < used; ++i) {
      int32_t thread = load(&seats[i].thread);
      if (thread <= 0) continue;
      syscall(CALL_TGKILL, int64_t{getpid()}, int64_t{thread}, int64_t{PROFILE_SIGNAL});
    }
  }
}

// In front of whoever has the signal, who gets what is not ours. It stays: a signal may still be on its
// way when the profile has ended.
static void stand_for_samples() {
  SignalAction current{};
  sigaction(PROFILE_SIGNAL, nullptr, &current);
  if (current.handler.detailed == on_sample) return;
  before_profile = current;
  SignalAction action{};
  action.handler.detailed = on_sample;
  action.flags = DETAILED | ON_STACK | RESTART;
  sigaction(PROFILE_SIGNAL, &action, nullptr);
}

// ---- The profile

static bool begin_profile() {
  if (!log_words) log_words = static_cast<uint64_t*>(reserve_pages(LOG_WORDS * sizeof(uint64_t)));
  if (!log_words) return false;
  stand_for_samples();
  log_used = log_lost = 0;
  store(&recording, 1u);
  uint32_t no = 0, yes = 1;
  if (!load(&sampler_started)) {
    if (replace(&sampler_started, no, 1u)) start_thread(take_samples);
  } else if (load(&sampler_sleeps) && replace(&sampler_sleeps, yes, 0u)) {
    futex_wake(&sampler_sleeps, 1);
  }
  return true;
}

static void forget_profile() {  // in the child of a fork
  recording = noting = seats_used = sampler_started = sampler_sleeps = 0;
  for (Seat& seat : seats) seat.thread = 0;
}
