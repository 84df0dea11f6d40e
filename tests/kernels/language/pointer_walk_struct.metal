// Iterators: a struct that walks a device buffer.
// input: x = float32[96] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x.reshape(3, 32).sum(axis=0)
// header:
template <typename T>
struct Walker {
  const device T* at;
  const int step;
  Walker(const device T* start, int by) : at(start), step(by) {}
  T next() thread {
    T v = *at;
    at += step;
    return v;
  }
};
// body:
uint t = thread_position_in_grid.x;
Walker<float> walker(x + t, 32);
float sum = walker.next();
sum += walker.next();
sum += walker.next();
y[t] = sum;
