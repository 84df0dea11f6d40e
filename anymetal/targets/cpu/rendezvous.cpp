// The scheduler of the scalar build, where each thread of a threadgroup is a coroutine: brings those
// threads together that execute a cross-lane call together. What a thread tells of the call is in
// its promise; anymetal/simd/rendezvous.py fills it in.
//
// Metal says that threads of a SIMD-group which take different ways run under different masks, and
// are together again where their ways join. So all threads first run until they wait; then those
// that are furthest behind in program order, at one and the same point, are the active lanes.

using uint32_t = unsigned int;

constexpr uint32_t SIMD_GROUP = 32;
constexpr int PROMISE_ALIGN = 16;

struct Lanes;

struct Record {
  void (*meeting)(Lanes&);  // null unless the thread waits in a cross-lane call
  uint32_t value;           // operand of the call, then its result
  uint32_t argument;        // source lane of a shuffle
  uint32_t words;           // length of the key
  uint32_t key[];
};

// One cross-lane call. A meeting is the function that computes the results of the active lanes.
struct Lanes {
  bool active[SIMD_GROUP];
  uint32_t value[SIMD_GROUP], argument[SIMD_GROUP], result[SIMD_GROUP];
};

static Record* record_of(void* thread) {
  return static_cast<Record*>(__builtin_coro_promise(thread, PROMISE_ALIGN, false));
}

// Less than, equal to or greater than 0 as `a` is behind, beside or ahead of `b`.
static int compare(const Record* a, const Record* b) {
  for (uint32_t i = 0; i < a->words && i < b->words; ++i) {
    if (a->key[i] != b->key[i]) return a->key[i] < b->key[i] ? -1 : 1;
  }
  return 0;  // keys of different lengths differ earlier: in the number of a loop
}

// Serves the threads of one SIMD-group that are furthest behind; false if none is in a call.
static bool meet(void* const* threads, uint32_t count) {
  const Record* last = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const Record* record = record_of(threads[i]);
    if (record->meeting && (!last || compare(record, last) < 0)) last = record;
  }
  if (!last) return false;
  Lanes lanes{};
  for (uint32_t i = 0; i < count; ++i) {
    const Record* record = record_of(threads[i]);
    lanes.active[i] = record->meeting && compare(record, last) == 0;
    lanes.value[i] = record->value;
    lanes.argument[i] = record->argument;
  }
  last->meeting(lanes);
  for (uint32_t i = 0; i < count; ++i) {
    if (!lanes.active[i]) continue;
    Record* record = record_of(threads[i]);
    record->value = lanes.result[i];
    record->meeting = nullptr;
    __builtin_coro_resume(threads[i]);
  }
  return true;
}

// Lets those go on that wait at a barrier: all that are not done. False if there are none.
static bool pass_barrier(void* const* threads, uint32_t count) {
  bool passed = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (__builtin_coro_done(threads[i])) continue;
    __builtin_coro_resume(threads[i]);
    passed = true;
  }
  return passed;
}

// Runs the threads of one threadgroup, all started and suspended, to their end. Those that have
// returned do not keep others waiting at a barrier.
extern "C" void am_rendezvous(void* const* threads, uint32_t count) {
  do {
    for (uint32_t first = 0; first < count; first += SIMD_GROUP) {
      uint32_t left = count - first;
      while (meet(threads + first, left < SIMD_GROUP ? left : SIMD_GROUP)) {
      }
    }
  } while (pass_barrier(threads, count));
}

// ---- Meetings, by the names of the intrinsics

extern "C" void __am_simdgroup_barrier(Lanes&) {}

extern "C" void __am_shuffle(Lanes& lanes) {
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) {
    uint32_t source = lanes.argument[i];
    lanes.result[i] = source < SIMD_GROUP && lanes.active[source] ? lanes.value[source] : 0;
  }
}

extern "C" void __am_ballot(Lanes& lanes) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) bits |= uint32_t{lanes.active[i] && lanes.value[i]} << i;
  for (uint32_t& result : lanes.result) result = bits;
}

template <typename T, typename Combine>
static void reduce(Lanes& lanes, Combine combine) {
  T total{};
  bool first = true;
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) {
    if (!lanes.active[i]) continue;
    T value = __builtin_bit_cast(T, lanes.value[i]);
    total = first ? value : combine(total, value);
    first = false;
  }
  for (uint32_t& result : lanes.result) result = __builtin_bit_cast(uint32_t, total);
}

template <typename T, typename Combine>
static void scan(Lanes& lanes, T total, bool exclusive, Combine combine) {
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) {
    if (!lanes.active[i]) continue;
    T before = total;
    total = combine(total, __builtin_bit_cast(T, lanes.value[i]));
    lanes.result[i] = __builtin_bit_cast(uint32_t, exclusive ? before : total);
  }
}

#define REDUCE(name, T, expression) \
  extern "C" void __am_reduce_##name(Lanes& lanes) { \
    reduce<T>(lanes, [](T a, T b) -> T { return expression; }); \
  }
#define SCAN(name, T, identity, expression) \
  extern "C" void __am_scan_##name(Lanes& lanes) { \
    scan<T>(lanes, identity, false, [](T a, T b) -> T { return expression; }); \
  } \
  extern "C" void __am_xscan_##name(Lanes& lanes) { \
    scan<T>(lanes, identity, true, [](T a, T b) -> T { return expression; }); \
  }

// Signed sums and products wrap as the unsigned ones do: they have the same bits.
REDUCE(add_f32, float, a + b)
REDUCE(add_i32, uint32_t, a + b)
REDUCE(add_u32, uint32_t, a + b)
REDUCE(mul_f32, float, a * b)
REDUCE(mul_i32, uint32_t, a * b)
REDUCE(mul_u32, uint32_t, a * b)
REDUCE(min_f32, float, __builtin_fminf(a, b))  // the number, if one is NaN
REDUCE(min_i32, int, a < b ? a : b)
REDUCE(min_u32, uint32_t, a < b ? a : b)
REDUCE(max_f32, float, __builtin_fmaxf(a, b))
REDUCE(max_i32, int, a > b ? a : b)
REDUCE(max_u32, uint32_t, a > b ? a : b)
REDUCE(and_u32, uint32_t, a & b)
REDUCE(or_u32, uint32_t, a | b)
REDUCE(xor_u32, uint32_t, a ^ b)
SCAN(add_f32, float, 0, a + b)
SCAN(add_u32, uint32_t, 0, a + b)
SCAN(mul_f32, float, 1, a * b)
SCAN(mul_u32, uint32_t, 1, a * b)
