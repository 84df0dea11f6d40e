// Fields that cross byte borders, read through bytes and through words.
// input: x = uint8[96] random
// output: y = int32[32]
// grid: 32
// where:
//     n = x.reshape(32, 3).astype(int) @ np.array([1, 256, 65536])
// expect: y = sum(((n >> 3 * i) & 7) * (i + 1) for i in range(8)) * 100 + sum((n >> 2 * i) & 3 for i in range(12))
uint t = thread_position_in_grid.x;
const device uchar* b = x + 3 * t;
const int code[8] = {b[0] & 7,
                     (b[0] >> 3) & 7,
                     (b[0] >> 6) | ((b[1] & 1) << 2),
                     (b[1] >> 1) & 7,
                     (b[1] >> 4) & 7,
                     (b[1] >> 7) | ((b[2] & 3) << 1),
                     (b[2] >> 2) & 7,
                     b[2] >> 5};
int threes = 0, twos = 0;
for (int i = 0; i < 8; i++) threes += code[i] * (i + 1);
uint n = b[0] | b[1] << 8 | b[2] << 16;
while (n) {
  twos += n & 3;
  n >>= 2;
}
y[t] = threes * 100 + twos;
