// A threadgroup sorts points by their digits, and fetches them back by number.
// input: x = T[512] random
// output: y = T[512]
// output: digits = T[512]
// dtypes: float32 float16 int8 int32 int64
// grid: 128
// threadgroup: 128
// where: rows, i = x.reshape(128, 4), np.arange(128)
// where: turned = (i & 7) << 4 | i >> 3
// expect: digits = rows[np.argsort(turned)].reshape(512)
// expect: y = rows[i ^ 5].reshape(512)
threadgroup vec<T, 4> shared[128];
uint i = thread_position_in_threadgroup.x;
shared[(i & 7u) << 4 | i >> 3] = ((const device vec<T, 4>*)x)[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
((device vec<T, 4>*)digits)[i] = shared[i];
uint other = i ^ 5u;
((device vec<T, 4>*)y)[i] = shared[(other & 7u) << 4 | other >> 3];
