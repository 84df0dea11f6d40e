// Four threads read the bytes of a word that another thread writes.
// input: x = uint32[32] integers(0, 1000)
// output: y = uint8[128]
// grid: 128
// threadgroup: 128
// expect: y = x.view(np.uint8)
threadgroup uint words[32];
uint l = thread_index_in_threadgroup;
if (l < 32) {
  words[l] = x[l];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = ((threadgroup uchar*)words)[l];
