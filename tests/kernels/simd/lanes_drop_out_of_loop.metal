// Each iteration sums the lanes that are still in the loop.
// input: n = int32[32] integers(0, 6)
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// expect: y = [sum((n > k).sum() for k in range(m)) for m in n]
uint i = thread_position_in_grid.x;
int total = 0;
for (int k = 0; k < n[i]; k++) total += simd_sum(1);
y[i] = total;
