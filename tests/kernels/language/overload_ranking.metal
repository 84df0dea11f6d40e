// The overload that fits best: exact, promoted, converted, template, variadic template.
// output: y = int32[8]
// grid: 1
// expect: y = [1, 2, 3, 4, 1, 5, 6, 3]
// header:
inline int pick(int) { return 1; }
inline int pick(uint) { return 2; }
inline int pick(float) { return 3; }
inline int pick(half) { return 4; }
inline int pick(float4) { return 5; }
template <typename... T> int pick(T...) { return 6; }
// body:
const short s = 1;
y[0] = pick(1);
y[1] = pick(1u);
y[2] = pick(1.0f);
y[3] = pick(1.0h);
y[4] = pick(int(s));
y[5] = pick(float4(1));
y[6] = pick(1, 2);
y[7] = pick(float(s));
