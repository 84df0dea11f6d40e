// The first component is in the lowest bits.
// output: y = uint32[4]
// grid: 1
// expect: y = [0x04030201, 0x3c00c000, 0xff80, 0x40490fdb]
y[0] = as_type<uint>(uchar4(1, 2, 3, 4));
y[1] = as_type<uint>(half2(-2.0h, 1.0h));
y[2] = as_type<ushort>(bfloat(-INFINITY));
y[3] = as_type<uint>(M_PI_F);
