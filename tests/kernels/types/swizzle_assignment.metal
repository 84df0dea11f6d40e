// Swizzles on the left: in any order, with operators, by xyzw and rgba.
// dtypes: float32 float16 int32 uint8
// input: x = T[6, 4] integers(0, 30)
// output: y = T[6, 4]
// grid: 6
// threadgroup: 4
// where:
//     a = x[:, [3, 1, 0, 2]].copy()
//     a[:, [2, 1]] += x[:, [0, 3]]
//     a[:, [0, 3]] = 7
// expect: y = a
uint i = thread_position_in_grid.x;
vec<T, 4> v = ((const device vec<T, 4>*)x)[i], a;
a.zxw = v.xwz;
a.y = v.g;
a.bg += v.xw;
a.ra = vec<T, 2>(7);
((device vec<T, 4>*)y)[i] = a;
