// Types inside of types, aliases of them, templates inside of both.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 3 + 4
// header:
template <typename T>
struct Grid {
  using value_type = T;
  struct Cell {
    T v;
    template <int N> struct Ring { T around[N]; };
    enum { sides = 4 };
  };
  typename Cell::template Ring<3> ring;
};
// body:
uint t = thread_position_in_grid.x;
using G = Grid<int>;
G::Cell cell{x[t]};
G g = {{{1, 1, 1}}};
G::value_type sum = cell.v;
for (int i = 0; i < 3; i++) sum += g.ring.around[i];
y[t] = sum + G::Cell::sides;
