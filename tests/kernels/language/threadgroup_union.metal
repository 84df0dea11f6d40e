// A union in threadgroup memory, and aligned arrays there.
// input: x = float32[64] normal
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = x.view(np.uint32).reshape(2, 32)[:, ::-1].reshape(-1)
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup union { float f[32]; uint u[32]; } shared;
alignas(16) threadgroup half tile[4][9];
threadgroup alignas(16) half other[4];
tile[l % 4][l / 4] = 1;
if (l < 4) other[l] = 0;
shared.f[l] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[t] = shared.u[31 - l];
