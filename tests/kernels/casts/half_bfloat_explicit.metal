// Explicit casts between the two types of 16 bits, in every spelling.
// input: h = float16[64] normal(0, 100)
// input: b = bfloat16[64] normal(0, 100)
// output: y = bfloat16[64]
// output: z = float16[64]
// grid: 64
// threadgroup: 32
// expect: y = h
// expect: z = b
// header:
template <typename T, typename U>
T to(U v) { return static_cast<T>(v); }
// body:
uint t = thread_position_in_grid.x;
switch (t % 4) {
  case 0: y[t] = bfloat(h[t]); z[t] = half(b[t]); break;
  case 1: y[t] = static_cast<bfloat>(h[t]); z[t] = static_cast<half>(b[t]); break;
  case 2: y[t] = (bfloat)h[t]; z[t] = (half)b[t]; break;
  default: y[t] = to<bfloat>(h[t]); z[t] = to<half>(b[t]);
}
