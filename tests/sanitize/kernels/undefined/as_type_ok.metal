// Of the half that is.
// input: x = float32[64] normal
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
half2 pair;
pair.x = half(x[i]);
y[i] = as_type<uint>(pair) & 0xffff;
