// Const references to temporaries and to parts of structs.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 * x + 3
// header:
struct Wide { float4 v; float rest[2]; };
inline const thread float& rest(const thread Wide& w) { return w.rest[1]; }
// body:
uint t = thread_position_in_grid.x;
const thread float& next = x[t] + 1;
Wide w = {float4(x[t]), {0, 3}};
thread float4& v = w.v;
v.x += v.y;
y[t] = next + w.v.x + rest(w);
