// Only the lanes that take the branch are summed.
// input: x = int32[96] integers
// output: y = int32[96]
// where:
//     def total(i):
//         row = i // 32 * 32
//         return sum(v for k, v in enumerate(x[row:row + 32]) if (k % 3 == 0) == (i % 32 % 3 == 0))
// grid: 96
// threadgroup: 96
// expect: y = [total(i) * (1 if i % 32 % 3 == 0 else 10) for i in range(96)]
uint i = thread_position_in_grid.x;
if (thread_index_in_simdgroup % 3 == 0) y[i] = simd_sum(x[i]);
else y[i] = simd_sum(x[i]) * 10;
