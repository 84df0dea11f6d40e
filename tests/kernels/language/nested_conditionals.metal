// Conditional directives around pieces of statements.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x + 2
// header:
#if __METAL_VERSION__ >= 310 && defined(__METAL__)
#define MODERN 1
#else
#define MODERN 0
double old_code() { goto nowhere; }
#endif
// body:
uint t = thread_position_in_grid.x;
y[t] = x[t]
#if MODERN
#if 0
  throw "never";
#endif
  + 2
#else
  + virtual
#endif
  ;
