// The exponential of every element, in the element's own type.
// input: x = T[300] normal
// output: y = T[300]
// dtypes: float32 float16 bfloat16
// grid: 300
// threadgroup: 64
// expect: y = np.exp(x.astype(np.float64))
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = exp(x[i]);
