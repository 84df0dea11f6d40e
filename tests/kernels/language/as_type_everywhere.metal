// as_type between scalars and vectors, in expressions and in template code.
// input: x = uint32[32] random
// output: y = uint32[32]
// output: z = uint16[32]
// grid: 32
// expect: y = (x & 0x7fffffff)
// expect: z = x >> 16
// header:
template <typename To, typename From>
To bits(From v) { return as_type<To>(v); }
// body:
uint t = thread_position_in_grid.x;
float f = as_type<float>(x[t] & 0x7fffffffu);
y[t] = bits<uint>(bits<uchar4>(bits<half2>(as_type<ushort2>(f))));
z[t] = as_type<ushort2>(x[t]).y;
