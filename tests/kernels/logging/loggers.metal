// Loggers at program scope, in the body, under MLX's name; every way to call them.
// output: y = int32[4]
// grid: 4
// threadgroup: 4
// expect: y = np.arange(4)
// header:
#include <metal_logging>
constant os_log scope_logger("org.example", "scope");
constant mlx::os_log other("org.example", "other");
constexpr constant metal::os_log third("org.example", "third");
// body:
uint i = thread_position_in_grid.x;
os_log local("org.example", "local");
if (i == 0) {
  scope_logger.log("%d", 1);
  other.log_debug("%d", 2);
  third.log_info("%d", 3);
  local.log_error("%d", 4);
  os_log_default.log_fault("%d", 5);
  os_log_default.log_with_type(os_log_type_error, "%d", 6);
}
y[i] = i;
