// Packed vectors in structs and arrays: converted, compared, changed by component and by operator.
// input: x = float32[7, 3] integers(-9, 9)
// output: y = float32[7, 3]
// output: z = bool[7, 3]
// grid: 7
// threadgroup: 4
// where:
//     v = x * 2 + 1
//     v[:, 1] = -5
// expect: y = v
// expect: z = v > 0
// header:
struct Point {
  packed_float3 at;
};
static_assert(sizeof(Point) == 12);
// body:
uint i = thread_position_in_grid.x;
Point p = ((const device Point*)x)[i];
p.at *= 2.0f;
p.at += float3(1);
p.at.y = -5;
((device Point*)y)[i] = p;
bool3 positive = p.at > float3(0);
for (int k = 0; k < 3; ++k) z[3 * i + k] = positive[k];
