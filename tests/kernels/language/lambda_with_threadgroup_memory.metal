// Threadgroup memory and outputs captured by reference and by pointer.
// input: x = float32[96] integers(-50, 50)
// output: y = float32[96]
// grid: 96
// threadgroup: 48
// expect: y = x.reshape(2, 48)[:, ::-1].ravel() * 2
threadgroup float cells[48];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
auto put = [&](uint at, float v) { cells[at] = v; };
auto take = [p = cells](uint at) { return p[at]; };
put(47 - l, x[t]);
threadgroup_barrier(mem_flags::mem_threadgroup);
[&](float v) { y[t] = v + v; }(take(l));
