// Every number is true but zero; true is one.
// input: x = float32[64] integers(-1, 1)
// input: n = int64[64] np.where(np.arange(64) % 3, 1 << 40, 0)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = (x != 0) * 1 + (n != 0) * 10 + (x != 0) * 200 + (~(n != 0)) * 1000
uint t = thread_position_in_grid.x;
bool a = x[t], b = n[t], c = half(x[t]);
bool4 v = bool4(x[t], !n[t], true, false);
y[t] = a + b * 10 + (c ? 100 : 0) + int(v.x) * 100 + int4(v).y * 1000;
