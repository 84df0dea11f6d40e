// From one that has.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
float mine;
if (lane < 16) mine = x[i];
y[i] = simd_shuffle(mine, lane / 2);
