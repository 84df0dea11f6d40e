// A loop whose text ends in a return: who goes on by `continue` meets the others one iteration later.
// input: x = uint32[32] np.where(np.arange(32) % 3 == 0, 96, np.arange(32))
// input: z = uint32[128] np.zeros(128)
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// expect: y = np.where(np.arange(32) % 3 == 0, 11, 21)
uint i = thread_position_in_grid.x;
uint a = x[i];
int rounds = 0;
while (true) {
    if (rounds++ >= 5) break;
    if (((a >> 5) & 3) == 3) {
        uint v = x[(a + 11u) % 32u] ^ a;
        a += simd_max(z[(v + 30u) % 128u] + 32u);
        continue;
    }
    int n = 0;
    while (true) {
        for (int k = 0; k < 5; k++) {
            y[i] = simd_sum(1);
            return;
        }
        if (++n > int(i % 5u)) break;
    }
    a = a & 32u;
}
