// The smallest subnormal numbers, by their bits.
// output: y = uint32[3]
// grid: 1
// expect: y = [1, 1, 1]
y[0] = as_type<uint>(numeric_limits<float>::denorm_min());
y[1] = as_type<ushort>(numeric_limits<half>::denorm_min());
y[2] = as_type<ushort>(numeric_limits<bfloat>::denorm_min());
