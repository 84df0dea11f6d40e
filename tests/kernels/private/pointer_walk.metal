// A pointer that steps through a private array and stops at each lane's own place.
// input: x = int32[64] integers(1, 15)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = [sum(v * v for v in range(n)) for n in x.tolist()]
uint t = thread_position_in_grid.x;
int squares[16];
for (int i = 0; i < 16; i++) squares[i] = i * i;
thread int* p = squares;
thread int* end = squares + x[t];
int sum = 0;
while (p != end) sum += *p++;
y[t] = sum;
