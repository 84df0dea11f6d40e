// Texts in constant memory, characters in switches and arithmetic.
// input: n = int32[40] integers(0, 999)
// output: y = uint8[160]
// grid: 40
// threadgroup: 32
// expect: y = np.array([list(b"%3d#" % v) for v in n])
// header:
constant char digits[] = "0123456789";
inline char at(constant char* text, int i) { return text[i]; }
// body:
uint t = thread_position_in_grid.x;
device uchar* out = y + 4 * t;
int v = n[t];
for (int i = 2; i >= 0; i--, v /= 10) {
  out[i] = v || i == 2 ? at(digits, v % 10) : ' ';
}
switch (out[0]) {
  case ' ': case '9': default: out[3] = "!#"[1];
}
