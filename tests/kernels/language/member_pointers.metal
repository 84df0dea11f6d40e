// Pointers to members, and functors as template arguments.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x * 3 + 2
// header:
struct Pair { int a; int b; int sum() const { return a + b; } };
struct Triple { int operator()(int v) const { return 3 * v; } };
template <typename Op>
int apply(int v, Op op = Op()) { return op(v); }
template <int Pair::*field>
int get(Pair p) { return p.*field; }
// body:
uint t = thread_position_in_grid.x;
Pair p = {apply<Triple>(x[t]), 2};
int (Pair::*method)() const = &Pair::sum;
y[t] = (p.*method)() + get<&Pair::a>(p) - p.a;
