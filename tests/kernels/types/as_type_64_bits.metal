// 64 bits: long, ulong, pairs of 32, fours of 16; halves in the order of memory.
// input: x = uint64[30] random
// output: y = uint64[30, 6]
// output: low = uint32[30]
// grid: 30
// expect: y = np.repeat(x, 6)
// expect: low = x % 2**32
uint i = thread_position_in_grid.x;
ulong v = x[i];
device ulong* row = y + 6 * i;
row[0] = as_type<ulong>(as_type<long>(v));
row[1] = as_type<ulong>(as_type<uint2>(v));
row[2] = as_type<ulong>(as_type<float2>(v));
row[3] = as_type<ulong>(as_type<ushort4>(v));
row[4] = as_type<ulong>(as_type<half4>(v));
row[5] = as_type<ulong>(as_type<int2>(as_type<short4>(v)));
low[i] = as_type<uint2>(v).x;
