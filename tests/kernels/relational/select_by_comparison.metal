// The condition of select out of a comparison of vectors: the ReLU of four at once.
// dtypes: float32 float16
// input: x = T[25, 4] normal
// output: y = T[25, 4]
// grid: 25
// threadgroup: 32
// expect: y = np.where(x > 0, x, 0)
uint i = thread_position_in_grid.x;
vec<T, 4> v = ((const device vec<T, 4>*)x)[i];
((device vec<T, 4>*)y)[i] = select(vec<T, 4>(0), v, v > vec<T, 4>(0));
