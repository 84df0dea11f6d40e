// Helpers that get threadgroup memory in the usual spellings.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.repeat(x.reshape(2, 32).sum(axis=1), 32) + x
// header:
struct Shared { float slots[32]; float total; };
void put(threadgroup Shared& s, uint i, float v) { s.slots[i] = v; }
float all(const threadgroup float* slots, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += slots[i];
  return sum;
}
float one(float threadgroup const* slots, threadgroup const float& v) { return slots[0] * 0 + v; }
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup Shared shared;
put(shared, l, x[t]);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (l == 0) shared.total = all(shared.slots, 32);
threadgroup_barrier(mem_flags::mem_threadgroup);
threadgroup float* own = &shared.slots[l];
y[t] = shared.total + one(own, shared.slots[l]);
