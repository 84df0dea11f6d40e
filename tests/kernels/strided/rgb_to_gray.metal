// Three loads with stride 3.
// input: rgb = uint8[50, 3] random
// output: gray = int32[50]
// grid: 50
// threadgroup: 32
// expect: gray = (rgb.astype(int) @ [77, 150, 29]) >> 8
uint i = thread_position_in_grid.x;
gray[i] = (77 * rgb[i * 3] + 150 * rgb[i * 3 + 1] + 29 * rgb[i * 3 + 2]) >> 8;
