// && and || call the right side only when it matters, also inside of loops.
// input: x = int32[60] integers(0, 9)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// expect: y = (x > 3) * 1 + (x <= 3) * 10 + np.where(x > 6, 100, 200) + x.clip(0, 4) * 1000
// header:
inline bool noted(thread int& n, int by, bool result) { n += by; return result; }
// body:
uint t = thread_position_in_grid.x;
int n = 0;
bool a = x[t] > 3 && noted(n, 1, true);
bool b = a || noted(n, 10, false);
bool c = !(x[t] > 6) || noted(n, 100, false);
if (c) n += 200;
int i = 0;
while (i < x[t] && i < 4 && noted(n, 1000, b || true)) i++;
y[t] = n;
