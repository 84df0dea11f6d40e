// Words that Metal forbids, in comments and strings and as parts of names. goto new delete throw
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x + 3
// header:
/* virtual double try catch */
struct Only { int v; Only(int i) : v(i) {} Only() = delete; };
static inline int newest(int gotos) { return gotos; } // static int x;
// body:
uint t = thread_position_in_grid.x;
int new_value = x[t], deleted = 1, doubles = 2, throwing = 0;  // goto end
y[t] = newest(new_value) + deleted + doubles + Only(throwing).v;
