// Lanes write to one private array or another, of different lengths, through one pointer.
// input: x = int32[75] integers(0, 6)
// input: n = int32 4
// output: out = int32[75, 10]
// grid: 75
// threadgroup: 25
// where:
//     rows = []
//     for v in x:
//         a, b = [1, 2, 3, 4], [10, 20, 30, 40, 50, 60]
//         one = a if v % 2 else b
//         for i in range(int(n)): one[(v + i) % 4] += i
//         rows.append(a + b)
// expect: out = rows
uint t = thread_position_in_grid.x;
const int v = x[t];
int a[4], b[6];
for (int i = 0; i < 4; i++) a[i] = i + 1;
for (int i = 0; i < 6; i++) b[i] = 10 * (i + 1);
thread int* one = v % 2 ? a : b;
for (int i = 0; i < n; i++) one[(v + i) % 4] += i;
for (int i = 0; i < 4; i++) out[10 * t + i] = a[i];
for (int i = 0; i < 6; i++) out[10 * t + 4 + i] = b[i];
