// Each lane takes the value of a lane of its own choice.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[96] random
// output: y = T[96]
// grid: 96
// threadgroup: 64
// expect: y = x.reshape(3, 32)[:, (np.arange(32) * 7 + 3) % 32]
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
y[i] = simd_shuffle(x[i], ushort(lane * 7 + 3) % 32);
