// What one thread needs to run kernels: scratch memory, coroutine frames, a second stack for the
// fault handler, and the point to which a faulting kernel returns.
#pragma once

#include "libc.h"
#include "launch.h"

constexpr uint64_t SCRATCH_BYTES = 32 * 1024 + 64;
constexpr uint32_t MAX_GANGS = 1024;  // a threadgroup has at most so many threads
constexpr uint64_t SIGNAL_STACK_BYTES = 64 * 1024;

struct Frame {
  void* memory;
  uint64_t bytes;
};

struct Context : am_worker {
  volatile bool in_kernel;  // the fault handler may abandon what this thread does
  volatile int signal;      // why it was abandoned; 0 = out of memory
  void* volatile address;
  bool main_thread;
  uint8_t* signal_stack;  // null if the thread came with one of its own
  alignas(16) uint64_t resume[80];  // a jmp_buf: glibc has 200 bytes on x86-64, 312 on AArch64
  Frame frames[MAX_GANGS + 1];  // the last one is for sums: see forget_sums
  alignas(64) uint8_t scratch[SCRATCH_BYTES];
};

static uint32_t context_key;

[[noreturn]] static void abandon_kernel(Context* self, int signal, void* address) {
  self->in_kernel = false;
  self->signal = signal;
  self->address = address;
  longjmp(self->resume, 1);
}

static void* frame(am_worker* worker, uint32_t gang, uint64_t bytes) {
  Context* self = static_cast<Context*>(worker);
  if (gang > MAX_GANGS) abandon_kernel(self, 0, nullptr);
  Frame& frame = self->frames[gang];
  if (frame.bytes < bytes) {
    // Pages, not malloc: a fault in here must not leave a lock of the heap taken.
    if (frame.memory) munmap(frame.memory, frame.bytes);
    frame.bytes = (bytes + 4095) & ~uint64_t{4095};
    frame.memory = map_pages(frame.bytes);
    if (!frame.memory) {
      frame.bytes = 0;
      abandon_kernel(self, 0, nullptr);
    }
  }
  return frame.memory;
}

// The last frame has sums that a kernel keeps for this thread; between launches they are zero, which
// a kernel that was abandoned did not see to.
static void forget_sums(Context* self) {
  Frame& sums = self->frames[MAX_GANGS];
  if (sums.memory) munmap(sums.memory, sums.bytes);
  sums = {};
}

// A kernel whose private arrays overflow the stack leaves no room to handle the fault there.
static void provide_signal_stack(Context* self) {
  SignalStack current{};
  sigaltstack(nullptr, &current);
  if (!(current.flags & STACK_OFF) && current.size >= SIGNAL_STACK_BYTES / 2) return;
  self->signal_stack = static_cast<uint8_t*>(map_pages(SIGNAL_STACK_BYTES));
  if (!self->signal_stack) return;
  SignalStack ours{self->signal_stack, 0, SIGNAL_STACK_BYTES};
  sigaltstack(&ours, nullptr);
}

static bool on_main_thread() { return syscall(CALL_GETTID) == getpid(); }

// The context of the calling thread, made at its first launch; null if there is no memory.
static Context* own_context() {
  if (void* found = pthread_getspecific(context_key)) return static_cast<Context*>(found);
  Context* self = static_cast<Context*>(map_pages(sizeof(Context)));
  if (!self) return nullptr;
  self->threadgroup = self->scratch;
  self->frame = frame;
  self->main_thread = on_main_thread();
  provide_signal_stack(self);
  pthread_setspecific(context_key, self);
  return self;
}

// Runs when a thread ends.
static void drop_context(void* context) {
  Context* self = static_cast<Context*>(context);
  if (self->signal_stack) {
    SignalStack current{}, off{nullptr, STACK_OFF, 0};
    sigaltstack(nullptr, &current);
    if (current.base == self->signal_stack) sigaltstack(&off, nullptr);
    munmap(self->signal_stack, SIGNAL_STACK_BYTES);
  }
  for (Frame& frame : self->frames) {
    if (frame.memory) munmap(frame.memory, frame.bytes);
  }
  munmap(self, sizeof(Context));
}
