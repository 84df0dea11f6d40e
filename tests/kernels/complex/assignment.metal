// += in thread, threadgroup and device memory.
// input: x = complex64[40] normal(size=(40,)) + 1j * normal(size=(40,))
// input: z = complex64[40] normal(size=(40,)) + 1j * (normal(size=(40,)) + 0.5)
// output: y = complex64[40]
// grid: 40
// threadgroup: 32
// expect: y = 2 * x + z + (1 + 2j)
// close: 1e-6 1e-6
uint i = thread_position_in_grid.x;
threadgroup complex64_t shared[32];
uint lid = thread_index_in_threadgroup;
complex64_t v = x[i];
v += z[i];
shared[lid] = v;
shared[lid] += complex64_t(1.0f, 2.0f);
y[i] = shared[lid];
y[i] += x[i];
