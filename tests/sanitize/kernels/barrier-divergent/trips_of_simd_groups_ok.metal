// The loop runs equally often for all; only the work depends on the row.
// input: x = float32[5, 32] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
float sum = 0;
for (uint first = 0; first < 5; first += 4) {
  uint row = first + simdgroup_index_in_threadgroup;
  if (row < 5) sum += x[row * 32 + lane];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = sum;
