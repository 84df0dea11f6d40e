// A store to a place that was never computed.
// input: x = float32[64] normal
// output: y = float32[64]
// init: 0
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint at;
if (i > 0) at = i;
y[at] = x[i];  // finds: undefined-address
