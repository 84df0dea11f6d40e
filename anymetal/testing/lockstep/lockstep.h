// The lockstep simulator: the threads of a threadgroup as fibers, which meet at cross-lane calls and
// barriers.
//
// Each thread runs until it meets others or is done. Where it is, is told by a key: the line of the
// call, and for each loop around it the line of the loop and the number of the iteration. In
// structured programs keys only grow, in the order of words in a dictionary. So once every thread
// waits, those of a SIMD-group with the least key are exactly the lanes that take part in that call:
// no other lane can still come there. That is what Metal says of divergent control flow, without a
// mask anywhere.
#pragma once
namespace am {

constexpr int LANES = 32, QUAD = 4, MOST_THREADS = 1024, DEEPEST = 30, LONGEST = 2 * DEEPEST + 1;
constexpr size_t STACK = 512 << 10;

struct Group;
typedef void Operation(Group&);

enum State { RUNNING, AT_CALL, AT_BARRIER, DONE };

struct Thread {
  void* stack_pointer;
  State state;
  int depth;              // loops around, at this moment
  uint key[LONGEST + 1];  // loop, iteration, loop, iteration, …, call
  int length;
  Operation* operation;
  alignas(16) unsigned char first[16], second[16], result[16];
  uint number;
};

// The lanes of a SIMD-group that take part in one call.
struct Group {
  Thread* lane[LANES];  // null: not there, or elsewhere
};

struct Attributes {
  uint3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
  uint3 threads_per_threadgroup, threads_per_grid, threadgroups_per_grid;
  uint3 dispatch_threads_per_threadgroup;
  uint thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup;
  uint simdgroups_per_threadgroup, threads_per_simdgroup, thread_index_in_quadgroup;
  uint quadgroup_index_in_threadgroup, quadgroups_per_threadgroup;
};

typedef void Body(void* const* buffers, const Attributes& a);

static Thread threads[MOST_THREADS];
static Attributes attributes[MOST_THREADS];
static Thread* self;
static int self_number;
static void* scheduler;
static char* stacks;
static Body* body;
static void* const* body_buffers;

// Puts away what a call has to preserve, on the stack, and takes up what lies on another one.
extern "C" void am_switch(void** save, void* load) __attribute__((visibility("hidden")));
#if defined(__aarch64__)
constexpr int FRAME = 20, RETURN = 1;  // words; that of the address to return to
asm(R"(
.text
.globl am_switch
.hidden am_switch
.type am_switch, @function
am_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
.size am_switch, .-am_switch
)");
#else
constexpr int FRAME = 8, RETURN = 6;  // the last word is what a call would have left there
asm(R"(
.text
.globl am_switch
.hidden am_switch
.type am_switch, @function
am_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size am_switch, .-am_switch
)");
#endif

static void wait_as(State state) {
  self->state = state;
  am_switch(&self->stack_pointer, scheduler);
}

static void fiber() {
  body(body_buffers, attributes[self_number]);
  wait_as(DONE);
  abort();
}

// -------------------------------------------------------------------------------- where we are

inline void enter_loop(uint line) {
  if (!self) return;
  if (self->depth == DEEPEST) abort();
  self->key[2 * self->depth] = line;
  self->key[2 * self->depth + 1] = 0;
  self->depth++;
}
inline void iterate() {
  if (self) self->key[2 * self->depth - 1]++;
}
// A loop may be left out of the middle of loops inside.
inline void leave_loop(int depth) {
  if (self) self->depth = depth;
}
inline int depth_now() { return self ? self->depth : 0; }

inline void meet(uint line, Operation* operation) {
  self->key[2 * self->depth] = line;
  self->length = 2 * self->depth + 1;
  self->operation = operation;
  wait_as(AT_CALL);
}

static int compare(const Thread& a, const Thread& b) {
  for (int i = 0; i < a.length && i < b.length; i++)
    if (a.key[i] != b.key[i]) return a.key[i] < b.key[i] ? -1 : 1;
  return a.length - b.length;
}

// --------------------------------------------------------------------------------- scheduling

// Lets the lanes with the least key have their call; whether any lane of the SIMD-group waited.
static bool release(int first, int behind) {
  Thread* least = nullptr;
  for (int i = first; i < behind; i++)
    if (threads[i].state == AT_CALL && (!least || compare(threads[i], *least) < 0))
      least = &threads[i];
  if (!least) return false;
  Group group = {};
  for (int i = first; i < behind; i++)
    if (threads[i].state == AT_CALL && compare(threads[i], *least) == 0) {
      if (threads[i].operation != least->operation) abort();  // two calls in one line
      group.lane[i - first] = &threads[i];
    }
  least->operation(group);
  for (Thread* lane : group.lane)
    if (lane) lane->state = RUNNING;
  return true;
}

static bool run_threads(int count) {
  bool ran = false;
  for (int i = 0; i < count; i++) {
    if (threads[i].state != RUNNING) continue;
    self = &threads[i];
    self_number = i;
    am_switch(&scheduler, self->stack_pointer);
    ran = true;
  }
  self = nullptr;
  return ran;
}

static void run_together(int count) {
  if (!stacks) {
    // To read and write; private, anonymous, with pages only where something is written.
    stacks = (char*)mmap(nullptr, MOST_THREADS * STACK, 1 | 2, 0x2 | 0x20 | 0x4000, -1, 0);
    if (stacks == (char*)-1) abort();
  }
  for (int i = 0; i < count; i++) {
    void** frame = (void**)(stacks + (i + 1) * STACK) - FRAME;
    memset(frame, 0, FRAME * sizeof(void*));
    frame[RETURN] = (void*)fiber;  // returned to, which leaves the stack as behind a call
    threads[i].stack_pointer = frame;
    threads[i].state = RUNNING;
    threads[i].depth = 0;
  }
  while (run_threads(count)) {
    bool released = false;
    for (int first = 0; first < count; first += LANES)
      released |= release(first, first + LANES < count ? first + LANES : count);
    if (released) continue;
    for (int i = 0; i < count; i++)  // threads that are done count as arrived
      if (threads[i].state == AT_BARRIER) threads[i].state = RUNNING;
  }
}

static void place(Attributes& a, uint3 grid, uint3 group, uint3 groups, uint3 at, uint number) {
  uint3 size;
  for (int k = 0; k < 3; k++) size[k] = min(group[k], grid[k] - at[k] * group[k]);
  uint count = size.x * size.y * size.z;
  uint3 inside(number % size.x, number / size.x % size.y, number / (size.x * size.y));
  a.thread_position_in_threadgroup = inside;
  a.thread_position_in_grid = at * group + inside;
  a.threadgroup_position_in_grid = at;
  a.threads_per_threadgroup = size;
  a.threads_per_grid = grid;
  a.threadgroups_per_grid = groups;
  a.dispatch_threads_per_threadgroup = group;
  a.thread_index_in_threadgroup = number;
  a.thread_index_in_simdgroup = number % LANES;
  a.simdgroup_index_in_threadgroup = number / LANES;
  a.simdgroups_per_threadgroup = (count + LANES - 1) / LANES;
  a.threads_per_simdgroup = LANES;
  a.thread_index_in_quadgroup = number % QUAD;
  a.quadgroup_index_in_threadgroup = number / QUAD;
  a.quadgroups_per_threadgroup = (count + QUAD - 1) / QUAD;
}

// `together`: threads of a threadgroup meet; else they may as well run one after the other.
static void run(Body* what, void* const* buffers, const uint* size, bool together) {
  uint3 grid(size[0], size[1], size[2]), group, groups;
  for (int k = 0; k < 3; k++) {
    group[k] = min(size[3 + k], grid[k]);
    groups[k] = (grid[k] + group[k] - 1) / group[k];
  }
  body = what;
  body_buffers = buffers;
  for (uint z = 0; z < groups.z; z++)
    for (uint y = 0; y < groups.y; y++)
      for (uint x = 0; x < groups.x; x++) {
        uint3 at(x, y, z);
        uint count = 1;
        for (int k = 0; k < 3; k++) count *= min(group[k], grid[k] - at[k] * group[k]);
        for (uint i = 0; i < count; i++) {
          place(attributes[i], grid, group, groups, at, i);
          if (!together) what(buffers, attributes[i]);
        }
        if (together) run_together(count);
      }
}

}  // namespace am

// A loop remembers how many are around it, so that a `break` out of one inside is no matter.
#define LOOP { const int am_depth = am::depth_now(); am::enter_loop(__LINE__);
#define ITER am::iterate();
#define END_LOOP am::leave_loop(am_depth); }
