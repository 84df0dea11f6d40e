// Macros with side effects, do-while(0), pasted names, strings of tokens, variadic ones.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.maximum(x, 0) + 1 + 3 + 12 + 6
// header:
#define MAX_ONCE(a, b) ({ auto _a = (a); auto _b = (b); _a > _b ? _a : _b; })
#define ADD_TO(v, n) \
  do {               \
    v += (n);        \
  } while (0)
#define JOIN(a, b) a##b
#define CALL(f, ...) f(__VA_ARGS__)
#define REPEAT3(code) code code code
#ifndef MISSING
#define WIDTH 3
#elif WIDTH > 4
#error "not here"
#endif
// body:
uint t = thread_position_in_grid.x;
int calls = 0;
int v = MAX_ONCE(x[t] + 0 * calls++, 0);
if (calls == 1)
  ADD_TO(v, 1);
else
  ADD_TO(v, 1000);
int JOIN(three, _) = WIDTH;
#undef WIDTH
#define WIDTH 4
v += three_ + CALL(max, 12, WIDTH);
REPEAT3(v += 2;)
y[t] = v;
