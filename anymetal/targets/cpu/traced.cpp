// Keeps what one thread tells of itself in a build for `anymetal.trace` (frontend/traced.py). The scalar
// build runs a thread on one processor at a time, so nobody else writes here.

using uint32_t = unsigned int;
using uint64_t = unsigned long;

struct Trace {
  uint64_t* words;  // two for each value: the number of its site and its own, and its bits
  uint64_t capacity, used, lost;
  uint32_t thread[3];
};

extern "C" Trace am_trace_state;
Trace am_trace_state;

// The context is that of generated code (simd/emit/positions.py); a gang is one thread.
extern "C" void am_trace(uint32_t site, uint32_t part, uint64_t bits, uint32_t group_x,
                         uint32_t group_y, uint32_t group_z, uint32_t size_x, uint32_t size_y,
                         uint32_t, uint32_t full_x, uint32_t full_y, uint32_t full_z, uint32_t,
                         uint32_t, uint32_t, uint32_t thread) {
  Trace& trace = am_trace_state;
  if (group_x * full_x + thread % size_x != trace.thread[0]) return;
  if (group_y * full_y + thread / size_x % size_y != trace.thread[1]) return;
  if (group_z * full_z + thread / size_x / size_y != trace.thread[2]) return;
  if (trace.used + 2 > trace.capacity) {
    ++trace.lost;
    return;
  }
  trace.words[trace.used++] = site | uint64_t{part} << 32;
  trace.words[trace.used++] = bits;
}
