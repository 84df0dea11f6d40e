// A store of a half4 behind the end.
// output: y = float16[64]
// grid: 17
// threadgroup: 17
uint i = thread_position_in_grid.x;
((device half4*)y)[i] = half4(i);  // finds: bounds-write
