// Fields of one struct are written by two threads; the field is the same in the end.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x
// header:
struct Pair {
  float left;
  float right;
};
// body:
threadgroup Pair pairs[32];
uint l = thread_index_in_threadgroup;
if (l % 2 == 0) {
  pairs[l / 2].left = x[l];  // finds: race-threadgroup (either)
} else {
  pairs[l / 2].left = x[l];  // finds: race-threadgroup (either)
  pairs[l / 2].right = x[l];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = l % 2 == 0 ? pairs[l / 2].left : pairs[l / 2].right;
