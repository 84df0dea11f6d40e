// Between all types and vectors of 32 bits, there and back.
// input: x = uint32[40] random
// output: y = uint32[40, 9]
// grid: 40
// threadgroup: 32
// expect: y = np.repeat(x, 9)
uint i = thread_position_in_grid.x, v = x[i];
device uint* row = y + 9 * i;
row[0] = as_type<uint>(as_type<int>(v));
row[1] = as_type<uint>(as_type<float>(v));
row[2] = as_type<uint>(as_type<short2>(v));
row[3] = as_type<uint>(as_type<ushort2>(v));
row[4] = as_type<uint>(as_type<half2>(v));
row[5] = as_type<uint>(as_type<bfloat2>(v));
row[6] = as_type<uint>(as_type<char4>(v));
row[7] = as_type<uint>(as_type<uchar4>(v));
row[8] = as_type<uint>(as_type<uchar4>(as_type<half2>(as_type<float>(v))));
