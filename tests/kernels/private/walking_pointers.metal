// Pointers walk through a private array towards each other, and are compared.
// input: x = int32[66, 12] integers(-50, 50)
// input: n = int32 11
// output: out = int32[66, 12]
// output: steps = int32[66]
// grid: 66
// threadgroup: 33
// where:
//     rows, counts = [], []
//     for row in x.tolist():
//         low, high, count = 0, int(n), 0
//         while low < high:
//             if row[low] % 2 == 0: low += 1
//             elif row[high] % 2: high -= 1
//             else: row[low], row[high] = row[high], row[low]
//             count += 1
//         rows.append(row); counts.append(count)
// expect: out = rows
// expect: steps = counts
uint t = thread_position_in_grid.x;
int v[12];
for (int i = 0; i < 12; i++) v[i] = x[12 * t + i];
thread int* low = v;
thread int* high = v + n;
int count = 0;
while (low < high) {
  if (*low % 2 == 0) {
    ++low;
  } else if (*high % 2 != 0) {
    --high;
  } else {
    const int kept = *low;
    *low = *high;
    *high = kept;
  }
  ++count;
}
for (int i = 0; i < 12; i++) out[12 * t + i] = v[i];
steps[t] = count;
