// Structs with padding in threadgroup memory, written and read as a whole.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
struct Entry {
  uchar tag;
  float value;
};
// body:
uint i = thread_position_in_grid.x;
threadgroup Entry shared[64];
Entry mine;
mine.tag = uchar(i);
mine.value = x[i];
shared[i] = mine;
threadgroup_barrier(mem_flags::mem_threadgroup);
Entry e = shared[63 - i];
y[i] = e.value + e.tag;
