// Numbers that every type can hold survive the way through every type.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16
// input: x = T[60] integers(0, 120)
// output: y = T[60, 11]
// output: b = bool[60]
// grid: 60
// threadgroup: 32
// expect: y = np.repeat(x, 11)
// expect: b = x != 0
uint i = thread_position_in_grid.x;
T v = x[i];
device T* row = y + 11 * i;
row[0] = T(char(v)), row[1] = T(uchar(v)), row[2] = T(short(v)), row[3] = T(ushort(v));
row[4] = T(int(v)), row[5] = T(uint(v)), row[6] = T(long(v)), row[7] = T(ulong(v));
row[8] = T(float(v)), row[9] = T(half(v)), row[10] = T(bfloat(v));
b[i] = bool(v);
