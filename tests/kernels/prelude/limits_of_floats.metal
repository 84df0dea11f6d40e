// Limits<U> of floating types: infinities, and the largest numbers besides.
// dtypes: float32 float16 bfloat16
// output: y = T[4]
// grid: 1
// where:
//     large = {"float32": np.finfo("f").max, "float16": 65504, "bfloat16": 255 * 2.0 ** 120}[dtype]
// expect: y = [np.inf, -np.inf, large, -large]
T all[] = {Limits<T>::max, Limits<T>::min, Limits<T>::finite_max, Limits<T>::finite_min};
for (int i = 0; i < 4; ++i) y[i] = all[i];
