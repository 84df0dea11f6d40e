// `auto` behind an address space, as pointer and as reference.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x + 3
// header:
constant int table[2] = {1, 2};
// body:
uint t = thread_position_in_grid.x;
device auto& out = y[t];
const device auto* in = x + t;
threadgroup float slots[32];
threadgroup auto& mine = slots[t];
constant auto& two = table[1];
thread auto& same = t;
mine = *in;
out = mine + two + table[0] + same - t;
