// A random number generator: long chains of wrapping arithmetic.
// input: seed = uint32 12345
// output: y = uint32[64]
// where:
//     def draw(state):
//         for _ in range(10):
//             state ^= (state << 13) & 0xffffffff
//             state ^= state >> 17
//             state ^= (state << 5) & 0xffffffff
//         return state * 2654435761 % 2**32
// grid: 64
// threadgroup: 32
// expect: y = [draw(12345 + 7919 * (i + 1)) for i in range(64)]
uint state = seed + 7919u * (thread_position_in_grid.x + 1);
for (int k = 0; k < 10; k++) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
}
y[thread_position_in_grid.x] = state * 2654435761u;
