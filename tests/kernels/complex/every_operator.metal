// All operators in each precision, on whole numbers, which it holds exactly.
// dtypes: float32 float16 bfloat16
// input: x = T[20, 2] integers(-5, 5)
// input: z = T[20, 2] np.resize([2, 0, 0, 1, 1, 1, -1, 1, 4, 0], 40)
// output: y = T[20, 14]
// output: b = bool[20, 5]
// grid: 20
// threadgroup: 20
// where:
//     u, v = x[:, 0] + 1j * x[:, 1], z[:, 0] + 1j * z[:, 1]
//     real, imag = np.where(v.real == 0, 3, v.real), np.where(v.imag == 0, 3, v.imag)
//     rest = x[:, 0] - real * np.floor(x[:, 0] / real) + 1j * (x[:, 1] - imag * np.floor(x[:, 1] / imag))
//     less = (u.real < v.real) | ((u.real == v.real) & (u.imag < v.imag))
//     numbers = np.stack([u + v, u - v, u * v, u / v, rest, 3 - u, -u + v + 1], axis=1)
// expect: y = np.stack([numbers.real, numbers.imag], axis=2)
// expect: b = np.stack([u == v, less, less | (u == v), ~less & (u != v), ~less], axis=1)
using C = complex_t<T>;
uint i = thread_position_in_grid.x;
C u(x[2 * i], x[2 * i + 1]), v = vec<T, 2>(z[2 * i], z[2 * i + 1]);
C divisor(v.real == T(0) ? T(3) : v.real, v.imag == T(0) ? T(3) : v.imag), sum = -u;
threadgroup C shared[20];
shared[i] = sum;
shared[i] += v;
sum = shared[i];
sum += C(T(1));
C all[] = {u + v, u - v, u * v, u / v, u % divisor, T(3) - u, sum};
for (int k = 0; k < 7; ++k) ((device vec<T, 2>*)y)[7 * i + k] = vec<T, 2>(all[k]);
bool order[] = {u == v, u < v, u <= v, u > v, u >= v};
for (int k = 0; k < 5; ++k) b[5 * i + k] = order[k];
