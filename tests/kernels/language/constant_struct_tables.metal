// Tables of structs with vectors and nested arrays in constant memory, by reference and pointer.
// input: x = uint8[40] integers(0, 2)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.array([1.0, 20.0, 300.0])[x] + np.array([6, 15, 24])[x] + np.array([3, 1, 2])[x]
// header:
struct Mode { float weight; float3 colour; uchar codes[3]; };
constant Mode modes[] = {
    {1, float3(1, 2, 3), {3, 0, 0}},
    {20, float3(4, 5, 6), {0, 1, 0}},
    {300, float3(7, 8, 9), {0, 0, 2}},
};
inline float sum(constant Mode& m) { return m.colour.x + m.colour.y + m.colour.z; }
inline int code(constant const Mode* m, int i) { return m[i].codes[i]; }
// body:
uint t = thread_position_in_grid.x;
constant Mode& mode = modes[x[t]];
y[t] = mode.weight + sum(mode) + code(modes, x[t]);
