// Threadgroup arrays of every type, of two dimensions, of vectors of three.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16 bool
// input: x = T[96] random
// output: y = T[96]
// output: z = T[96]
// grid: 96
// threadgroup: 48
// where:
//     r = x.reshape(2, 48)
// expect: y = r[:, ::-1]
// expect: z = r.reshape(2, 6, 8).transpose(0, 2, 1)
threadgroup T line[48];
threadgroup T square[8][6];
uint lid = thread_index_in_threadgroup, base = threadgroup_position_in_grid.x * 48;
line[47 - lid] = x[base + lid];
square[lid % 8][lid / 8] = x[base + lid];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[base + lid] = line[lid];
z[base + lid] = square[lid / 6][lid % 6];
