// A vote of lanes of which some have not made up their minds.
// input: x = float32[64] normal
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
bool mine;
if (i % 32 < 16) mine = x[i] > 0;
y[i] = popcount(uint(ulong(simd_ballot(mine))));  // finds: undefined-output
