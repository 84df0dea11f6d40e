// The right operand of && must not be evaluated where the left is false: it would read out of range.
// input: x = int32[32] integers(0, 3)
// output: y = int32[50]
// grid: 50
// threadgroup: 64
// expect: y = [int(i < 32 and x[min(i, 31)] > 1) * 2 - int(i >= 32 or x[min(i, 31)] == 0)
//     for i in range(50)]
uint i = thread_position_in_grid.x;
int result = 0;
if (i < 32 && x[i] > 1) result += 2;
if (i >= 32 || x[i] == 0) result -= 1;
y[i] = result;
