// One component of half4.
// input: x = float16[8] [1, 2, 3, 4, 5, 40000, -7, 8]
// output: y = int16[8]
// grid: 2
// threadgroup: 2
uint i = thread_position_in_grid.x;
half4 v = ((const device half4*)x)[i];
((device short4*)y)[i] = short4(v);  // finds: float-to-int
