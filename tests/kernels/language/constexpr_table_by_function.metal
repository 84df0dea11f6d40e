// A table that a constexpr function computes.
// input: x = uint8[64] random
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.array([bin(v).count("1") for v in x]) + (x.astype(int) % 16) ** 2
// header:
struct Table { uchar counts[256]; ushort squares[16]; };
constexpr Table make() {
  Table t = {};
  for (int i = 0; i < 256; i++) t.counts[i] = t.counts[i / 2] + (i & 1);
  for (int i = 0; i < 16; i++) t.squares[i] = i * i;
  return t;
}
constant constexpr Table table = make();
static_assert(table.counts[255] == 8, "eight bits");
// body:
uint t = thread_position_in_grid.x;
y[t] = table.counts[x[t]] + table.squares[x[t] % 16];
