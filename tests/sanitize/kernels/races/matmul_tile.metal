// The tiles of a product: no barrier in front of the next ones.
// input: a = float32[16, 32] integers(-3, 3)
// input: b = float32[32, 16] integers(-3, 3)
// output: c = float32[16, 16]
// grid: 16 16
// threadgroup: 16 16
threadgroup float left[16][16];
threadgroup float right[16][16];
uint2 l = thread_position_in_threadgroup.xy;
float sum = 0;
for (uint k = 0; k < 32; k += 16) {
  left[l.y][l.x] = a[l.y * 32 + k + l.x];  // finds: race-threadgroup (either)
  right[l.y][l.x] = b[(k + l.y) * 16 + l.x];  // finds: race-threadgroup (either)
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = 0; j < 16; ++j) {
    sum += left[l.y][j] * right[j][l.x];  // finds: race-threadgroup (either)
  }
}
c[l.y * 16 + l.x] = sum;
