// The sort of one thread out of MLX's merge sort, with its indices.
// dtypes: float32 int32
// input: x = T[128] integers(-50, 50)
// output: y = T[128]
// output: z = uint32[128]
// grid: 16
// where: o = np.argsort(x.reshape(16, 8), axis=1, kind="stable")
// expect: y = np.sort(x.reshape(16, 8), axis=1)
// expect: z = o
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sort.h"
// body:
uint t = thread_position_in_grid.x;
T values[8];
uint places[8];
for (uint i = 0; i < 8; i++) values[i] = x[8 * t + i], places[i] = i;
ThreadSort<T, uint, true, 8, LessThan<T>>::sort(values, places);
for (uint i = 0; i < 8; i++) y[8 * t + i] = values[i], z[8 * t + i] = places[i];
