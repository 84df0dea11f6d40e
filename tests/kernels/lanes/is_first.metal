// One lane of each branch is the first one: it counts for all.
// input: x = int32[80] integers(0, 2)
// output: y = int32[80]
// grid: 80
// threadgroup: 64
// init: 0
// where:
//     gang = tid // 32
//     first = [t == min(j for j in range(80) if gang[j] == gang[t] and x[j] == x[t]) for t in range(80)]
// expect: y = np.array(first) * (x + 1)
uint i = thread_position_in_grid.x;
switch (x[i]) {
  case 0: if (simd_is_first()) y[i] = 1; break;
  case 1: if (simd_is_first()) y[i] = 2; break;
  default: if (simd_is_first()) y[i] = 3;
}
