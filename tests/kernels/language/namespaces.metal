// Namespaces, nested and anonymous, aliases, using declarations, metal opened again.
// input: x = float32[40] uniform(0, 4)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.sqrt(x) + 1 + 2 + np.float32(3)
// close: 1e-6
// header:
#include <metal_stdlib>
using namespace metal;
namespace outer {
constant float one = 1;
namespace inner { inline float two() { return 2; } }
namespace { inline float three() { return 3; } }
}
namespace deep::er { using outer::inner::two; }
namespace alias = outer;
// body:
using namespace metal;
using metal::sqrt;
uint t = thread_position_in_grid.x;
y[t] = metal::sqrt(x[t]) + alias::one + deep::er::two() + outer::three();
