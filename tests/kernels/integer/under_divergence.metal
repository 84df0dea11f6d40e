// Each lane by a function of its own choice.
// input: x = int32[100] random
// input: z = int32[100] random
// output: y = int32[100]
// grid: 100
// threadgroup: 64
// where:
//     X, Z = x.astype(object), z.astype(object)
//     fit = lambda v: np.clip(v, -2**31, 2**31 - 1)
// expect: y = np.choose(tid % 4, [fit(X + Z), (X * Z) >> 32, (X + Z) // 2, np.minimum(X, Z)]).astype(np.int32)
uint i = thread_position_in_grid.x;
switch (i % 4) {
  case 0: y[i] = addsat(x[i], z[i]); break;
  case 1: y[i] = mulhi(x[i], z[i]); break;
  case 2: y[i] = hadd(x[i], z[i]); break;
  default: y[i] = min(x[i], z[i]);
}
