// The scheduler of the scalar build, where each thread of a threadgroup is a coroutine: brings those
// threads together that execute a cross-lane call together. What a thread tells of the call is in
// its promise; rendezvous.py fills it in.
//
// Metal says that threads of a SIMD-group which take different ways run under different masks, and
// are together again where their ways join. So all threads first run until they wait; then those
// that are furthest behind in program order, at one and the same point, are the active lanes.

using uint32_t = unsigned int;

constexpr uint32_t SIMD_GROUP = 32;
constexpr uint32_t OPERANDS = 4;
constexpr int PROMISE_ALIGN = 16;

struct Lanes;

struct Record {
  void (*meeting)(Lanes&);     // null unless the thread waits in a cross-lane call
  uint32_t operand[OPERANDS];  // of the call; the result takes the place of the first
  uint32_t words;              // length of the key
  uint32_t key[];
};

// One cross-lane call. A meeting is the function that computes the results of the active lanes.
struct Lanes {
  bool active[SIMD_GROUP];
  uint32_t operand[OPERANDS][SIMD_GROUP], result[SIMD_GROUP];

  float number(uint32_t operand_index, uint32_t lane) const {
    return active[lane] ? __builtin_bit_cast(float, operand[operand_index][lane]) : 0;
  }
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
    for (uint32_t k = 0; k < OPERANDS; ++k) lanes.operand[k][i] = record->operand[k];
  }
  last->meeting(lanes);
  for (uint32_t i = 0; i < count; ++i) {
    if (!lanes.active[i]) continue;
    Record* record = record_of(threads[i]);
    record->operand[0] = lanes.result[i];
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
    uint32_t source = lanes.operand[1][i];
    lanes.result[i] = source < SIMD_GROUP && lanes.active[source] ? lanes.operand[0][source] : 0;
  }
}

extern "C" void __am_ballot(Lanes& lanes) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) bits |= uint32_t{lanes.active[i] && lanes.operand[0][i]} << i;
  for (uint32_t& result : lanes.result) result = bits;
}

// Matrices as <metal_simdgroup_matrix> spreads them: a lane has columns c and c + 1 of a row, and
// here all lanes ask for the columns of one parity. Products are added in the order of columns.
extern "C" void __am_matrix_fma(Lanes& lanes) {
  auto lane_at = [](uint32_t row, uint32_t column) {
    return (row & 4) << 2 | (column & 4) << 1 | (row & 3) << 1 | (column >> 1 & 1);
  };
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) {
    uint32_t row = (i >> 2 & 4) | (i >> 1 & 3), column = (i >> 1 & 4) | (i << 1 & 2);
    float sum = lanes.number(3, i);
    for (uint32_t k = 0; k < 8; ++k) {
      sum = __builtin_fmaf(lanes.number(k & 1, lane_at(row, k)),
                           lanes.number(2, lane_at(k, column)), sum);
    }
    lanes.result[i] = __builtin_bit_cast(uint32_t, sum);
  }
}

template <typename T, typename Combine>
static void reduce(Lanes& lanes, Combine combine) {
  T total{};
  bool first = true;
  for (uint32_t i = 0; i < SIMD_GROUP; ++i) {
    if (!lanes.active[i]) continue;
    T value = __builtin_bit_cast(T, lanes.operand[0][i]);
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
    total = combine(total, __builtin_bit_cast(T, lanes.operand[0][i]));
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
