// A struct with operators in the header, loaded through a cast of the buffer.
// input: x = int32[40, 2] integers(-30, 30)
// output: y = int32[40, 2]
// grid: 40
// threadgroup: 32
// where:
//     re, im = x[:, 0], x[:, 1]
// expect: y = np.stack([re * re - im * im + 3, 2 * re * im - 1], axis=1)
// header:
struct Gauss {
  int re;
  int im;
  Gauss operator*(Gauss o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
};
inline Gauss operator+(Gauss a, Gauss b) { return {a.re + b.re, a.im + b.im}; }
// body:
uint t = thread_position_in_grid.x;
Gauss v = ((const device Gauss*)x)[t];
((device Gauss*)y)[t] = v * v + Gauss{3, -1};
