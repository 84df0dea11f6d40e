// Structs in structs in arrays, copied, passed and returned by value.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 3 + 10
// header:
struct Point { float u = 0, v = 0; };
struct Line { Point ends[2]; int colour : 4; bool closed; };
struct Scene {
  Line lines[3];
  float length() const {
    float sum = 0;
    for (int i = 0; i < 3; i++) sum += lines[i].ends[1].u - lines[i].ends[0].u + lines[i].colour;
    return sum;
  }
};
inline Scene made(float step) {
  Scene s = {};
  for (int i = 0; i < 3; i++) s.lines[i] = Line{{Point{1, 0}, Point{1 + step, 2}}, i + 1, i == 1};
  return s;
}
// body:
uint t = thread_position_in_grid.x;
const Scene scene = made(x[t]);
Scene copy = scene;
copy.lines[2].colour = 7;
y[t] = copy.length();
