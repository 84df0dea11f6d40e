// The launch interface between the pool, the generated code, pool.py and the bridge to MLX. It needs
// fixed-size integers, from libc.h or from the system, and includes neither.
#pragma once

struct am_launch {
  uint32_t grid[3];    // threads per grid
  uint32_t group[3];   // threads per threadgroup as dispatched (clamped to the grid)
  uint32_t groups[3];  // threadgroups per grid
  uint32_t reserved;
  const volatile int32_t* cancel;  // generated loops return early once this is not 0
};

struct am_worker {
  uint8_t* threadgroup;  // 32 KiB + 64 bytes, 64-byte aligned, contents arbitrary
  // Memory, 64-byte aligned, kept and reused: a coroutine frame for each gang of this worker, sums,
  // large private arrays (context.h). Valid until frame() is called again for the same.
  void* (*frame)(am_worker*, uint32_t gang, uint64_t bytes);
  // Locks of the launch, AM_LOCKS of them, each in a line of 64 bytes of its own (0 is free); null
  // while no other thread takes part. Does not change while the entry runs.
  uint8_t* locks;
};

constexpr uint32_t AM_LOCKS = 256, AM_LOCK_BYTES = 64;

constexpr uint32_t MAX_GANGS = 1024;  // a threadgroup has at most so many threads
// Behind the frames of gangs: sums that a kernel keeps for the thread, and large private arrays.
constexpr uint32_t SUMS_FRAME = MAX_GANGS, PRIVATE_FRAME = MAX_GANGS + 1;

// The memory of a buffer: `bytes` in all, `before` of them in front of its address (the elements of a
// view with negative strides).
struct am_extent {
  uint64_t before, bytes;
};

// Accesses outside of their arrays, of one kind, which a checked build (passes/check_bounds.py) has kept
// from happening: how many, and that of the thread with the lowest number.
struct am_stray_kind {
  uint64_t count, number, position;  // where it begins, from the beginning of the array on
  uint32_t array, site, thread[3];
};

struct am_strays {
  am_stray_kind reads, writes;
  int32_t lock;
};

// `buffers` are addresses; behind them that of an am_extent of each, and that of an am_strays, of
// which only checked builds know.
//
// Threadgroups are numbered x fastest, then y, then z; the entry runs those in [first, last). Each
// thread that took part calls it once more at the end, with first == last.
using Entry = void(void* const* buffers, const am_launch*, uint64_t first, uint64_t last,
                   am_worker*);

// How a launch ended. The cancel flag holds the same values.
enum Status : int32_t { OK, INTERRUPTED, TIMED_OUT, FAULT, NO_MEMORY, NO_STACK };

// One launch as Python describes it (the ctypes structure `Call` of pool.py).
struct Call {
  Entry* entry;  // `am_entry` of the kernel's library
  void* const* buffers;
  am_launch launch;
  uint64_t groups;        // product of launch.groups
  double group_time;      // nanoseconds, learnt from launch to launch; 0 = not yet known
  int32_t ignored_interrupts;  // how many Ctrl-C to let pass before the launch is stopped
  int32_t signal;         // out: what stopped a launch with status FAULT
  uint64_t address;       // out: where, for SIGSEGV and SIGBUS; 0 if the machine does not say
  int32_t interruptible;  // Ctrl-C stops it though it does not run on the main thread
  int32_t ordered;        // one thread runs all groups, from the first to the last
  uint32_t arrays;        // buffers with extents behind them; 0 if there are no extents
  uint32_t padding;
};

// What the pool offers: `am_run` runs a launch to its end; `am_watch`, on the main thread, lets
// Ctrl-C stop launches that the program waits for.
using Run = int32_t(Call*);
using Watch = void();

// Likewise: companions, threads that take part in another one's launches until these are over
// (companion.h). One is led by one thread, with `lead` before its launches and `dismiss` behind them.
// `lead` gives a number, with which the companion comes to `accompany`, sooner or later or never.
// `make_way`: the companion, which the caller waits for, may be waiting for the caller's processor.
struct Companion;
struct Companions {
  Companion* (*add)();  // null: there are too many
  uint32_t (*lead)(Companion*);
  void (*make_way)(Companion*);
  void (*accompany)(Companion*, uint32_t);
  void (*dismiss)(Companion*);
};
