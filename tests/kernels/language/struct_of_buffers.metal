// Pointers into buffers as members, handed to a function by value.
// input: x = float32[60] integers(-9, 9)
// input: w = float32[3] [1, 2, 3]
// output: y = float32[20]
// grid: 20
// expect: y = x.reshape(20, 3) @ w
// header:
template <typename Row, typename Weights>
struct Task { Row row; Weights weights; int length; };
template <typename R, typename W>
float run(Task<R, W> task) {
  float sum = 0;
  while (task.length--) sum += *task.row++ * task.weights[2 - task.length];
  return sum;
}
// body:
uint t = thread_position_in_grid.x;
Task<const device float*, constant float*> task = {x + 3 * t, w, 3};
y[t] = run(task);
