// Captures by value, by reference, generic, immediately called, passed on.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = 2 * x + 3 + 5 + 6
// header:
template <typename F>
int twice(F f) { return f(1) + f(2); }
// body:
uint t = thread_position_in_grid.x;
int sum = 0;
auto add = [&](int v) { sum += v; };
add(x[t]);
add(x[t]);
const int base = [=] { return int(t) * 0 + 3; }();
auto plus = [base](auto v) { return v + base - 3; };
sum += twice(plus) + base;
auto make = [](int n) { return [n](int v) -> int { return n * v; }; };
sum += make(5)(1);
int counter = 2;
auto count = [counter]() mutable { return ++counter; };
count();
y[t] = sum + count() - 1;
