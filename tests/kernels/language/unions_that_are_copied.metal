// A union with vectors in it is copied: assigned, begun with, handed over and given back.
// input: x = uint32[40] random
// output: y = uint32[40]
// grid: 40
// expect: y = (x & 255) + (x >> 24) * 3
// header:
union Word {
  uint2 wide;
  uchar4 bytes[2];
};
Word same(Word word) { return word; }
// body:
uint t = thread_position_in_grid.x;
Word one;
one.wide = uint2(x[t], x[t]);
Word two = one;
Word three;
three = same(two);
y[t] = three.bytes[0].x + 3 * three.bytes[1].w;
