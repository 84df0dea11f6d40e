// An int beside a uint becomes a uint, beside a long a long.
// input: a = int32[64] integers(-9, 9)
// input: b = uint32[64] integers(0, 9)
// output: y = int64[64]
// grid: 64
// threadgroup: 32
// where:
//     ua = a.astype(np.int64) & 0xFFFFFFFF
//     less = ua < b
// expect: y = less * 1000 + (ua + b & 0xFFFFFFFF) % 7 + (a.astype(np.int64) - b) * 10 + ((ua - b) & 0xFFFFFFFF) // 2
uint t = thread_position_in_grid.x;
y[t] = (a[t] < b[t] ? 1000 : 0) + (a[t] + b[t]) % 7u + (long(a[t]) - b[t]) * 10 + (a[t] - b[t]) / 2;
