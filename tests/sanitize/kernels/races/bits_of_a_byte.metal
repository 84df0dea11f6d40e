// Eight threads set bits of one byte.
// input: x = float32[256] normal
// output: y = uint8[32]
// grid: 256
// threadgroup: 256
// init: 0
uint i = thread_position_in_grid.x;
if (x[i] > 0) {
  y[i / 8] |= 1 << (i % 8);  // finds: race-device (either)
}
