// Vectors of different types do not convert to each other.
// output: y = float32[4]
// grid: 4
// error: no viable conversion at 6:8
uint i = thread_position_in_grid.x;
float4 f = int4(1, 2, 3, 4);
y[i] = f.x;
