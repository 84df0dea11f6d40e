// A team takes row after row of what all its SIMD-groups need, and stores behind the last one.
// input: a = float32[256] integers(-9, 9)
// input: b = float32[512] integers(-9, 9)
// output: y = float32[256]
// output: z = float32[512]
// grid: 256
// threadgroup: 256
// expect: y = (a.reshape(8, 32)[:, :16] @ b.reshape(16, 32)).ravel()
// expect: z = b - 1
threadgroup float left[8][32], right[16][32];
uint l = thread_index_in_threadgroup, g = l / 32, lane = l % 32;
left[g][lane] = a[l];
right[g][lane] = b[l];
right[g + 8][lane] = b[l + 256];
threadgroup_barrier(metal::mem_flags::mem_threadgroup);
float sum = 0;
#pragma unroll
for (uint k = 0; k < 16; ++k) sum += left[g][k] * right[k][lane];
y[l] = sum;
threadgroup_barrier(metal::mem_flags::mem_threadgroup);
right[g][lane] -= 1;
right[g + 8][lane] -= 1;
z[l] = right[g][lane];
z[l + 256] = right[g + 8][lane];
