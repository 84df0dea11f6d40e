// Subscript, call, arrow, conversion, comparison, comma and assignment operators.
// input: x = float32[40] integers(1, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 2 + 3 * x + 1 + x
// header:
struct Box { float v; };
struct Handle {
  thread Box* box;
  thread Box* operator->() const { return box; }
  float operator()(float a, float b) const { return a * box->v + b; }
  float operator[](int i) const { return i * box->v; }
  thread Handle& operator=(float v) thread { box->v = v; return *this; }
  explicit operator bool() const { return box->v > 0; }
  bool operator<(Handle other) const { return box->v < other.box->v; }
};
// body:
uint t = thread_position_in_grid.x;
Box a = {x[t]}, b = {0};
Handle h = {&a}, g = {&b};
g = x[t] + 1;
y[t] = (h && h < g) ? h[2] + h(3, 1) + h->v : -1;
