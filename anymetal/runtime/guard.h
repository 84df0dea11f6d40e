// What may go wrong inside a kernel, turned into a status: memory faults and traps. Also the
// floating-point mode, which a kernel has for itself. (Ctrl-C: interrupts.h)
#pragma once

#include "context.h"

// ---- Floating point: Metal flushes float subnormals; no exception traps, round to nearest.

#if defined(__x86_64__)
constexpr uint64_t KERNEL_FLOAT_MODE = 0x1f80 | 0x8000 | 0x0040;  // all masked, FTZ, DAZ
static uint64_t float_mode() { return __builtin_ia32_stmxcsr(); }
static void set_float_mode(uint64_t mode) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(mode)); }
#else
constexpr uint64_t KERNEL_FLOAT_MODE = 1 << 24;  // FZ; half keeps its subnormals (no FZ16)
static uint64_t float_mode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static void set_float_mode(uint64_t mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
#endif

// ---- Handing a signal that is not ours to whoever had it before.

static void pass_on(const SignalAction& previous, int signal, SignalInfo* info, void* machine) {
  if (previous.handler.bits == DEFAULT_ACTION || previous.handler.bits == IGNORE_ACTION) {
    if (signal == INTERRUPT && previous.handler.bits == IGNORE_ACTION) return;
    SignalAction standard{};
    sigaction(signal, &standard, nullptr);
    if (info->code <= 0) raise(signal);  // someone sent it
    return;  // else the instruction runs again, and now ends the process
  }
  if (previous.flags & DETAILED) {
    previous.handler.detailed(signal, info, machine);
  } else {
    previous.handler.plain(signal);
  }
}

// ---- Faults: installed once for the process.

constexpr int FAULTS[] = {SEGMENT, BUS, ARITHMETIC, ILLEGAL, TRAP};
static SignalAction before_fault[16];

// Where Linux's `ucontext_t` has registers of the thread that a signal has interrupted.
#if defined(__x86_64__)
constexpr uint64_t STACK_POINTER = 160, PROGRAM_COUNTER = 168;
#else
constexpr uint64_t STACK_POINTER = 432, PROGRAM_COUNTER = 440;
#endif

static uint64_t saved(uint64_t place, void* machine) {
  return *reinterpret_cast<uint64_t*>(static_cast<uint8_t*>(machine) + place);
}

// A function touches each page of its frame as it takes it, so it faults near its stack pointer, and
// the only memory there that faults is the stack's end.
constexpr uint64_t NEAR_STACK = 16 * 1024;

static bool overflows_stack(const SignalInfo* info, void* machine) {
  uint64_t lowest = saved(STACK_POINTER, machine) - NEAR_STACK;
  return reinterpret_cast<uint64_t>(info->address) - lowest < 2 * NEAR_STACK;
}

static void on_fault(int signal, SignalInfo* info, void* machine) {
  Context* self = static_cast<Context*>(pthread_getspecific(context_key));
  if (!self || !self->in_kernel) return pass_on(before_fault[signal], signal, info, machine);
  bool has_address = (signal == SEGMENT || signal == BUS) && info->code > 0 && info->code < 0x80;
  if (has_address && overflows_stack(info, machine)) abandon_kernel(self, NO_STACK);
  abandon_kernel(self, FAULT, signal, has_address ? info->address : nullptr);
}

static void catch_faults() {
  SignalAction action{};
  action.handler.detailed = on_fault;
  // The handler leaves by longjmp, so the kernel must not block the signal meanwhile.
  action.flags = DETAILED | ON_STACK | NO_DEFER;
  for (int signal : FAULTS) sigaction(signal, &action, &before_fault[signal]);
}
