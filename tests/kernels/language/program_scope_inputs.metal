// Built-in inputs declared outside of functions, which helpers then read.
// input: x = float32[70] integers(-9, 9)
// output: y = float32[70]
// grid: 70
// threadgroup: 32
// expect: y = x + px + lid * 100 + lane * 1000
// header:
uint3 gid [[thread_position_in_grid]];
uint lane [[thread_index_in_simdgroup]];
namespace place {
const ushort2 local [[thread_position_in_threadgroup]];
}
inline float here(const device float* p) { return p[gid.x] + lane * 1000; }
// body:
float v = here(x) + gid.x;
const uint3 copy = gid;
uint lane = 100;
y[copy.x] = v + place::local.x * lane;
