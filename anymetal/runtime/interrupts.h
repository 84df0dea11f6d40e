// Ctrl-C while kernels run. Python's handler only sets a mark that the main thread looks at between
// two instructions of Python, that is after the launch. So our handler stands in front, stops the
// kernels that the main thread waits for, and calls Python's.
#pragma once

#include "guard.h"

constexpr uint32_t MAX_JOBS = 64;  // launches at the same time

static void stop(int32_t* cancel, int32_t why) {  // the first reason counts
  int32_t none = OK;
  replace(cancel, none, why);
}

// Launches that Ctrl-C stops, one for each slot of a job.
struct Watched {
  int32_t* cancel;  // null: nothing to stop
  int32_t patience;
};
static Watched watched[MAX_JOBS];

static SignalAction before_interrupt, first_before_interrupt;
static bool stood_in_front;

static void on_interrupt(int signal, SignalInfo* info, void* machine) {
  static bool inside;
  if (inside) {  // somebody stands in front of us and behind us
    return pass_on(first_before_interrupt, signal, info, machine);
  }
  inside = true;
  if (before_interrupt.handler.bits != IGNORE_ACTION) {
    for (Watched& one : watched) {
      int32_t* cancel = load(&one.cancel);
      if (cancel && fetch_add(&one.patience, -1) <= 0) stop(cancel, INTERRUPTED);
    }
  }
  pass_on(before_interrupt, signal, info, machine);
  inside = false;
}

// On the main thread only, as Python demands of whoever installs a handler for SIGINT. True if
// somebody else's handler stood there.
static bool stand_in_front() {
  SignalAction current{};
  sigaction(INTERRUPT, nullptr, &current);
  if (current.handler.detailed == on_interrupt) return false;
  if (!stood_in_front) first_before_interrupt = current;
  stood_in_front = true;
  before_interrupt = current;
  SignalAction action{};
  action.handler.detailed = on_interrupt;
  action.flags = DETAILED | ON_STACK;
  sigaction(INTERRUPT, &action, nullptr);
  return true;
}

static void step_back() { sigaction(INTERRUPT, &before_interrupt, nullptr); }
