// Zeros of a thread's own array stay, whatever a comment or a directive in front of it says of
// threadgroup memory: only those of threadgroup memory itself are without effect.
// input: n = int32[40] integers(1, 6)
// output: y = float32[40]
// output: z = float32[40]
// grid: 40
// threadgroup: 20
// expect: y = 2 * n
// expect: z = 3 * n
#define SHARED threadgroup
uint i = thread_position_in_grid.x;
// Initialize the registers and threadgroup memory
float a[8] = {0};
/* More threadgroup
   memory */
int b[8] = { };
#define MORE threadgroup float e[4] = {0};
MORE
#define ONCE_MORE threadgroup
float c[8] = {0.0f};
SHARED float t[32];
threadgroup /* for all threads */ float u[32] = {0};  // threadgroup memory
float d[2 * 4] = {0};
for (int k = 0; k < n[i]; k++) {
  a[k] = 1;
  b[k] = 1;
  c[k] = 1;
  d[k] = 2;
}
u[thread_position_in_threadgroup.x] = 0;
e[i % 4] = 0;
t[thread_position_in_threadgroup.x] = d[0];
float sum = 0, twice = 0;
for (int k = 0; k < 8; k++) {
  sum += a[k] + b[k];
  twice += c[k] + d[k];
}
y[i] = sum;
z[i] = twice + u[thread_position_in_threadgroup.x] + t[thread_position_in_threadgroup.x] - 2;
