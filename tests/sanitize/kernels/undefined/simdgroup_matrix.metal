// A product of matrices is added to one that was never set.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
simdgroup_float8x8 a, b, c;
simdgroup_load(a, x, 8);
simdgroup_load(b, x, 8);
simdgroup_multiply_accumulate(c, a, b, c);
simdgroup_store(c, y, 8);  // finds: undefined-output
