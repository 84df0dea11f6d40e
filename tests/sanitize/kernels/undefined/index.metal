// An index that is set in the first half only.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint at;
if (i < 32) at = 63 - i;
y[i] = x[at];  // finds: undefined-address
