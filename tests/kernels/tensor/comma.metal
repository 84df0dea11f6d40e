// Elements by two indices in brackets, as the Metal compiler takes them.
// input: x = float32[4,8] normal
// output: y = float32[4,8]
// grid: 8 4
// threadgroup: 8 4
// expect: y = 2 * x
// header:
#include <metal_tensor>
// body:
uint2 at = thread_position_in_grid.xy;
auto from = tensor(x, dextents<int, 2>(8, 4));
auto to = tensor(y, dextents<int, 2>(8, 4));
auto twice = [from](uint c, uint r) { return 2 * from[c, r]; };
to[at.x, at.y] = twice(at[0], at[1]);
