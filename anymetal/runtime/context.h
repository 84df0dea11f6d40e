// What one thread needs to run kernels: scratch memory, coroutine frames, a second stack for the
// fault handler, and the point to which a faulting kernel returns.
#pragma once

#include "libc.h"
#include "launch.h"

constexpr uint64_t SCRATCH_BYTES = 32 * 1024 + 64;
constexpr uint32_t FRAMES = PRIVATE_FRAME + 1;
constexpr uint64_t KEPT_BYTES = 64 << 20;  // of private arrays, from one launch to the next
constexpr uint64_t SIGNAL_STACK_BYTES = 64 * 1024;

struct Frame {
  void* memory;
  uint64_t bytes;
};

struct Seat;

struct Context : am_worker {
  volatile bool in_kernel;  // the fault handler may abandon what this thread does
  volatile Status why;      // it was abandoned
  volatile int signal;      // FAULT: which
  void* volatile address;
  bool main_thread;
  Seat* volatile seat;    // of a launch that is profiled (profile.h), else null
  Companion* companion;   // of this thread's launches (companion.h), or null
  uint8_t* signal_stack;  // null if the thread came with one of its own
  alignas(16) uint64_t resume[80];  // a jmp_buf: glibc has 200 bytes on x86-64, 312 on AArch64
  Frame frames[FRAMES];
  alignas(64) uint8_t scratch[SCRATCH_BYTES];
};

static uint32_t context_key;

[[noreturn]] static void abandon_kernel(Context* self, Status why, int signal = 0,
                                        void* address = nullptr) {
  self->in_kernel = false;
  self->why = why;
  self->signal = signal;
  self->address = address;
  longjmp(self->resume, 1);
}

static void drop_frame(Frame& frame) {
  if (frame.memory) munmap(frame.memory, frame.bytes);
  frame = {};
}

static void* frame(am_worker* worker, uint32_t gang, uint64_t bytes) {
  Context* self = static_cast<Context*>(worker);
  if (gang >= FRAMES) abandon_kernel(self, NO_MEMORY);
  Frame& frame = self->frames[gang];
  if (frame.bytes < bytes) {
    // Pages, not malloc: a fault in here must not leave a lock of the heap taken.
    if (frame.memory) munmap(frame.memory, frame.bytes);
    frame.bytes = (bytes + 4095) & ~uint64_t{4095};
    frame.memory = map_pages(frame.bytes);
    if (!frame.memory) {
      frame.bytes = 0;
      abandon_kernel(self, NO_MEMORY);
    }
  }
  return frame.memory;
}

// Between launches the sums are zero, which a kernel that was abandoned did not see to.
static void forget_sums(Context* self) { drop_frame(self->frames[SUMS_FRAME]); }

// A threadgroup of 1024 threads with a megabyte each is no reason to keep a gigabyte.
static void forget_private_arrays(Context* self) {
  Frame& arrays = self->frames[PRIVATE_FRAME];
  if (arrays.bytes > KEPT_BYTES) drop_frame(arrays);
}

// A kernel that overflows the stack leaves no room to handle the fault there.
static void provide_signal_stack(Context* self) {
  SignalStack current{};
  sigaltstack(nullptr, &current);
  if (!(current.flags & STACK_OFF) && current.size >= SIGNAL_STACK_BYTES / 2) return;
  self->signal_stack = static_cast<uint8_t*>(map_pages(SIGNAL_STACK_BYTES));
  if (!self->signal_stack) return;
  SignalStack ours{self->signal_stack, 0, SIGNAL_STACK_BYTES};
  sigaltstack(&ours, nullptr);
}

static bool on_main_thread() { return this_thread() == getpid(); }

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
  for (Frame& frame : self->frames) drop_frame(frame);
  munmap(self, sizeof(Context));
}
