// The bits of a float through a union.
// input: x = float32[64] normal
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = x.view(np.uint32) ^ 0x80000000
// header:
union Bits { float f; uint u; };
// body:
uint t = thread_position_in_grid.x;
Bits bits;
bits.f = x[t];
bits.u ^= 0x80000000u;
union { float f; uint u; } other = {bits.f};
y[t] = other.u;
