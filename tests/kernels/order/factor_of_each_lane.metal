// A factor that differs between lanes is the same for the neighbours of one.
// input: x = float32[96, 4] integers(-20, 20)
// input: f = float32[96] integers(-9, 9)
// output: y = float32[96, 4]
// grid: 96
// threadgroup: 96
// expect: y = (x * f[:, None] + 1) * np.arange(96)[:, None]
uint i = thread_position_in_grid.x;
((device float4*)y)[i] = (((const device float4*)x)[i] * f[i] + 1) * float(i);
