// A switch in a loop: `break` leaves the switch, `continue` the iteration, `return` the kernel.
// input: code = int32[50, 12] integers(0, 4)
// output: y = int32[50]
// where:
//     def machine(codes):
//         value = 1
//         for c in codes:
//             if c == 0: value += 3
//             elif c == 1: value *= 2
//             elif c == 2: continue
//             elif c == 3: return value
//             value -= 1
//         return -value
// grid: 50
// threadgroup: 32
// expect: y = [machine(row) for row in code.tolist()]
uint t = thread_position_in_grid.x;
int value = 1;
for (int k = 0; k < 12; k++) {
  switch (code[t * 12 + k]) {
    case 0: value += 3; break;
    case 1: value *= 2; break;
    case 2: continue;
    case 3: y[t] = value; return;
  }
  value -= 1;
}
y[t] = -value;
