// A program-scope table of structs, and one of vectors.
// input: x = int32[50] integers(0, 2)
// output: y = float32[50]
// grid: 50
// threadgroup: 32
// expect: y = np.array([1.5, 4.0, 9.5])[x] + np.array([3.0, 7.0, 11.0])[x]
// header:
struct Entry { int base; float extra; };
constant Entry entries[] = {{1, 0.5f}, {4, 0.0f}, {9, 0.5f}};
constant float2 points[3] = {float2(1, 2), float2(3, 4), {5, 6}};
// body:
uint t = thread_position_in_grid.x;
constant Entry& entry = entries[x[t]];
y[t] = entry.base + entry.extra + points[x[t]].x + points[x[t]].y;
