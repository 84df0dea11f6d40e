// All four kinds of folds, over operators and the comma.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = (x + 6) + ((1 - (2 - (3 - x)))) + 100 * ((x < 5) & (x < 3)) + 3
// header:
template <typename... A> int sum(A... a) { return (a + ...); }
template <typename... A> int alternate(A... a) { return (a - ...); }
template <typename... A> bool all_above(int v, A... a) { return (true && ... && (v < a)); }
template <typename... F> void run(F... f) { (f(), ...); }
// body:
uint t = thread_position_in_grid.x;
int n = 0;
run([&] { n++; }, [&] { n += 2; });
y[t] = sum(x[t], 1, 2, 3) + alternate(1, 2, 3, x[t]) + (all_above(x[t], 5, 3) ? 100 : 0) + n;
