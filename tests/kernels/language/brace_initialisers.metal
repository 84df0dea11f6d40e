// Braces for vectors, arrays, structs, with designators and defaults.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 + 6 + 0 + 5 + 7
// header:
struct Options { int a = 1; float3 v = {1, 2, 3}; int rest[3] = {}; };
// body:
uint t = thread_position_in_grid.x;
Options plain{};
Options other = {.a = 2, .v = float3{2, 0, 0}};
float2 pair{3, 4};
int list[]{1, 2, 2};
float zero{};
y[t] = x[t] + plain.a + other.a + plain.v.x + plain.v.y + plain.v.z + other.rest[1] + zero +
       list[0] + list[1] + list[2] + pair.x + pair.y;
