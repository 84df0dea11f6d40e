// The corners of each type: smallest, largest, -1, 0, 1 in all pairs.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// output: y = T[25, 7]
// grid: 25
// threadgroup: 25
// where:
//     info = np.iinfo(dtype)
//     v = np.array([info.min, info.max, 0, 1, -1 if info.min else 2], object)
//     a, b = np.repeat(v, 5), np.tile(v, 5)
//     fit = lambda r: np.clip(r, info.min, info.max)
//     wrap = lambda r: (r - info.min) % 2 ** info.bits + info.min
// expect: y = np.stack([fit(a + b), fit(a - b), (a + b) // 2, (a + b + 1) // 2, (a * b) >> info.bits,
//     wrap(np.abs(a - b)), fit(a * b + a)], axis=1).astype(dtype)
using limits = numeric_limits<T>;
uint i = thread_position_in_grid.x;
T values[] = {limits::min(), limits::max(), T(0), T(1), T(limits::is_signed ? -1 : 2)};
T a = values[i / 5], b = values[i % 5];
device T* row = y + 7 * i;
row[0] = addsat(a, b);
row[1] = subsat(a, b);
row[2] = hadd(a, b);
row[3] = rhadd(a, b);
row[4] = mulhi(a, b);
row[5] = absdiff(a, b);
row[6] = madsat(a, b, a);
