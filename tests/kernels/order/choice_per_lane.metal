// Ways that lanes take apart meet again: the components of a lane come from one of them.
// input: x = float32[64, 4] integers(-20, 20)
// output: y = float32[64, 4]
// grid: 64
// threadgroup: 32
// expect: y = np.where(x[:, :1] > 0, x * 2, x - 5) + 1
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
if (v.x > 0) v *= 2;
else v -= 5;
((device float4*)y)[i] = v + 1;
