// A union without a name inside of a struct.
// input: x = int32[40] integers(0, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 2 + 65536 * 3
struct Tagged {
  int tag;
  union {
    int whole;
    struct { short low, high; };
  };
};
uint t = thread_position_in_grid.x;
Tagged v = {0, {0}};
v.low = x[t] * 2;
v.high = 3;
y[t] = v.tag + v.whole;
