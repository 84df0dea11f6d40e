// Addresses that blocks share, and one that lanes take out of a loop in different iterations.
// input: x = int32[64] integers
// output: y = int32[64]
// output: z = int32[4096]
// grid: 64
// threadgroup: 64
// init: 0
// where:
//     at = np.arange(64) * 37 % 64
//     first = np.arange(64) + np.where(x > 0, x, 0)
//     steps = [next(n for n in range(64) if n == 63 or x[(k + n) % 64] >= 0) for k in at]
//     places = np.arange(64) * 64 + (at + steps) % 64
// expect: y = first[np.argsort(at)]
// expect: z = np.bincount(places, np.array(steps) + 1, minlength=4096).astype(np.int64)
uint i = thread_position_in_grid.x, at = (i * 37) & 63;
device int* mine = y + at;
*mine = i;
if (x[i] > 0) *mine += x[i];
device int* last;
uint k = at, n = 0;
do {
  last = z + (i * 64 + k);
  if (x[k] >= 0) break;
  k = (k + 1) & 63;
} while (n++ < 63);
*last = min(n, 63u) + 1;
