// Floats, words, bytes, vectors and bit fields over each other.
// input: x = float32[40] normal
// output: y = uint32[40]
// grid: 40
// threadgroup: 32
// where: w = x.view(np.uint32)
// expect: y = ((w >> 23) & 255) + (w & 255) + (w >> 16) + (w >> 31)
union Word {
  float f;
  uint w;
  uchar4 bytes;
  ushort halves[2];
  struct { uint mantissa : 23, exponent : 8, sign : 1; } parts;
};
uint t = thread_position_in_grid.x;
Word v;
v.f = x[t];
y[t] = v.parts.exponent + v.bytes.x + v.halves[1] + v.parts.sign;
