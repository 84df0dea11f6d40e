// Ctrl-C while kernels run. Python's handler only sets a mark that the main thread looks at between
// two instructions of Python, that is after the launch. So our handler stands in front, stops the
// kernels that the main thread waits for, and calls the one behind.
//
// signal.signal(SIGINT, ...) removes it, and notebooks call that for every cell; so while launches
// run, somebody looks now and then whether it still stands there (keep_watch in pool.cpp). Any thread
// may run the handler, several at once, while another thread installs it.
#pragma once

#include "guard.h"

constexpr uint32_t MAX_JOBS = 64;  // launches at the same time

static int32_t* cancel_of(uint32_t slot);

static void stop(int32_t* cancel, int32_t why) {  // the first reason counts
  int32_t none = OK;
  replace(cancel, none, why);
}

// ---- Launches that Ctrl-C stops, one for each slot of a job.

constexpr uint64_t STOPPING = 1, MOST_IGNORED = 255;

struct alignas(16) Watched {
  uint64_t state;     // 0: none; STOPPING: by a handler, now; else number of the launch, and how
                      // many Ctrl-C it survives
  uint64_t launches;  // that had this slot: their numbers, so that no two states are the same
};
static Watched watched[MAX_JOBS];

static void watch(Watched* slot, int32_t ignored_interrupts) {
  uint64_t survives = ignored_interrupts > 0 ? static_cast<uint64_t>(ignored_interrupts) : 0;
  if (survives > MOST_IGNORED) survives = MOST_IGNORED;
  swap(&slot->state, ++slot->launches << 8 | survives);
}

// Returns when no handler will stop this launch any more: it would be another one in the same slot.
static void unwatch(Watched* slot) {
  for (uint64_t state; (state = load(&slot->state)) != 0; relax()) {
    if (state != STOPPING) replace(&slot->state, state, uint64_t{0});
  }
}

static void interrupt(uint32_t slot) {
  uint64_t* at = &watched[slot].state;
  for (uint64_t state = load(at); state > STOPPING;) {
    bool survives = state & MOST_IGNORED;
    if (!replace(at, state, survives ? state - 1 : STOPPING)) continue;
    if (survives) return;
    stop(cancel_of(slot), INTERRUPTED);
    return store(at, uint64_t{0});
  }
}

// ---- The handler, and those it stood in front of.

constexpr uint32_t MOST_HANDLERS = 16, MOST_AT_ONCE = 16;

static SignalAction behind[MOST_HANDLERS];  // what is counted does not change any more
static uint32_t handlers_behind, latest_behind;
static uint32_t installing;             // somebody is at it
static int32_t handling[MOST_AT_ONCE];  // threads that run the handler

// Takes note of a thread; false if it is there already (or there is no room).
static bool enter_handler(int32_t thread, int32_t** place) {
  for (int32_t& one : handling) {
    if (load(&one) == thread) return false;
  }
  for (int32_t& one : handling) {
    int32_t nobody = 0;
    if (load(&one) || !replace(&one, nobody, thread)) continue;
    *place = &one;
    return true;
  }
  return false;
}

static void on_interrupt(int signal, SignalInfo* info, void* machine) {
  int32_t* place = nullptr;
  if (!enter_handler(this_thread(), &place)) {
    // Somebody stands in front of us and behind us.
    return pass_on(behind[0], signal, info, machine);
  }
  const SignalAction& theirs = behind[load(&latest_behind)];
  if (theirs.handler.bits != IGNORE_ACTION) {
    for (uint32_t slot = 0; slot < MAX_JOBS; ++slot) interrupt(slot);
  }
  pass_on(theirs, signal, info, machine);
  store(place, 0);
}

// Has the handler pass on to this one; false if there were too many different ones.
static bool stand_before(const SignalAction& theirs) {
  uint32_t count = load(&handlers_behind), number = 0;
  for (; number < count; ++number) {
    const SignalAction& known = behind[number];
    if (known.handler.bits == theirs.handler.bits && known.flags == theirs.flags) break;
  }
  if (number == MOST_HANDLERS) return false;
  if (number == count) {
    behind[number] = theirs;
    store(&handlers_behind, count + 1);
  }
  store(&latest_behind, number);
  return true;
}

static bool is_ours(const SignalAction& action) { return action.handler.detailed == on_interrupt; }

// One system call if it stands there already.
static void stand_in_front() {
  SignalAction current{};
  sigaction(INTERRUPT, nullptr, &current);
  uint32_t nobody = 0;
  if (is_ours(current) || !replace(&installing, nobody, 1u)) return;
  if (stand_before(current)) {
    SignalAction ours{};
    ours.handler.detailed = on_interrupt;
    ours.flags = DETAILED | ON_STACK;
    sigaction(INTERRUPT, &ours, &current);
    if (!is_ours(current)) stand_before(current);  // it may have become another one meanwhile
  }
  store(&installing, 0u);
}
