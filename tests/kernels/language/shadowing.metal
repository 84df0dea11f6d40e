// Names of inner scopes hide outer ones, those of Metal's functions, and of the header.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x + 11
// header:
constant int shift = 100;
inline int length(int v) { return v; }
// body:
uint t = thread_position_in_grid.x;
int max = x[t], min = 1, dot = 2, select = 3;
int shift = 4;
{
  int shift = 5;
  { int shift = min; max += shift; }
  max += shift;
}
y[t] = max + length(dot) + select + shift - 4;
