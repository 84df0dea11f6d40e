// A lane that is known only as a loop runs, before and behind barriers, in the largest threadgroup.
// input: n = int32 5
// input: x = int32[2048] integers(-99, 99)
// output: y = int32[2048]
// grid: 2048
// threadgroup: 1024
// where:
//     v = x.reshape(64, 32).astype(np.int64)
//     first = v[:, :5].sum(1, keepdims=True)
//     w = (first + v).reshape(2, 1024)[:, ::-1].reshape(64, 32)
// expect: y = w[:, :5].sum(1, keepdims=True) + w + v[:, 31:]
threadgroup int shared[1024];
uint t = thread_position_in_threadgroup.x, i = thread_position_in_grid.x;
int value = x[i], sum = 0;
for (int k = 0; k < n; ++k) sum += simd_shuffle(value, ushort(k));
shared[t] = sum + value;
threadgroup_barrier(mem_flags::mem_threadgroup);
int other = shared[1023 - t];
sum = simd_shuffle(value, ushort(n + 26));
for (int k = 0; k < n; ++k) sum += simd_shuffle(other, ushort(k));
threadgroup_barrier(mem_flags::mem_threadgroup);
shared[t] = sum + other;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = shared[t];
