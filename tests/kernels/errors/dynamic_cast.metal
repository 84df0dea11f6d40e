// Metal has no run-time type information.
// output: y = int32[4]
// grid: 4
// error: 'dynamic_cast' is not supported in Metal at 10:15
// header:
struct A { int v; };
struct B : A {};
// body:
B b;
thread A* a = dynamic_cast<thread A*>(&b);
y[thread_position_in_grid.x] = a->v;
