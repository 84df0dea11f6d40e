// Constant arrays in the body, indexed by constants and at run time.
// input: x = int32[50] integers(0, 3)
// output: y = int32[50]
// grid: 50
// threadgroup: 32
// expect: y = np.array([7, 11, 13, 17])[x] + 2 + 6
// body:
uint t = thread_position_in_grid.x;
constexpr int primes[] = {7, 11, 13, 17};
const int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
static_assert(sizeof(primes) / sizeof(int) == 4, "four of them");
static_assert(primes[1] == 11, "a constant expression");
y[t] = primes[x[t]] + table[0][1] + table[(t & 0) + 1][2];
