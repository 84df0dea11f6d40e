// A part of a private array is stored in each iteration of a loop with a barrier, all of it is read
// behind the loop: the array lasts while the thread waits.
// input: x = float32[2048] integers(-50, 50)
// input: n = int32[3] np.array([16, 3, 5])
// output: y = float32[2048]
// grid: 2048
// threadgroup: 1024
// expect: y = sum((k + 1) * (x + filled(k)) for k in range(16))
// where: filled = lambda k: (5 * k - 3) * 7 % 16
uint i = thread_position_in_grid.x;
float parts[16];
for (int k = 0; k < n[0]; ++k) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  parts[(k * 7 + n[1]) & 15] = x[i] + k;
}
float sum = 0;
for (int k = 0; k < n[0]; ++k) sum += parts[(n[2] * k) & 15] * (k + 1);
y[i] = sum;
