// Limits<U> of integers.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// output: y = T[4]
// grid: 1
// where:
//     info = np.iinfo(dtype)
// expect: y = np.array([info.max, info.min, info.max, info.min], dtype)
T all[] = {Limits<T>::max, Limits<T>::min, Limits<T>::finite_max, Limits<T>::finite_min};
for (int i = 0; i < 4; ++i) y[i] = all[i];
