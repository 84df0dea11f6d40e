// Overloaded operators: arithmetic, comparison, call, index, conversion, compound, increment.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// where:
//     v = (x + 3) % 7
// expect: y = v * v + 1 + 2 * v + (v == (x * 2) % 7) * 100
// header:
struct Mod7 {
  int v;
  Mod7(int i) : v(i - 7 * int(floor(i / 7.0f))) {}
  Mod7() = default;
  thread Mod7& operator+=(Mod7 o) thread { *this = Mod7(v + o.v); return *this; }
  thread Mod7& operator++() thread { v++; return *this; }
  Mod7 operator++(int) thread { Mod7 old = *this; v++; return old; }
  int operator()(int a, int b) const { return a * v + b; }
  int operator[](int i) const { return i * v; }
  explicit operator int() const { return v; }
  friend bool operator==(Mod7 a, Mod7 b) { return a.v == b.v; }
};
inline Mod7 operator+(Mod7 a, Mod7 b) { return a += b; }
inline int operator*(Mod7 a, Mod7 b) { return a.v * b.v; }
// body:
uint t = thread_position_in_grid.x;
Mod7 m = Mod7(x[t]) + 3;
Mod7 n = m;
n++;
++n;
int result = m * m + m(1, 1) + m[1];
y[t] = result + (m == Mod7(x[t] * 2) ? 100 : 0) + int(n) - m.v - 2;
