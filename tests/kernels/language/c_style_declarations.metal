// Structs, enumerations and typedefs as C has them.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 5 + 2 + 3
// header:
typedef struct { int a, b; } Pair;
typedef struct Node { int value; struct Inner { int deep; } inner; } Node;
typedef enum { first = 1, second } Order;
typedef int Triple[3];
static inline int total(const thread Pair* p) { return p->a + p->b; }
// body:
uint t = thread_position_in_grid.x;
Pair p = {x[t], 5};
struct Node n = {2, {3}};
Triple list = {0};
Order o = second;
list[o] = n.value;
y[t] = total(&p) + list[2] + n.inner.deep;
