// numeric_limits, and the constants that kernels use.
// output: y = float32[6]
// output: z = int32[4]
// grid: 1
// threadgroup: 1
// expect: y = np.array([3.4028235e38, np.inf, 1.1920929e-7, 65504, -np.inf, np.pi], np.float32)
// expect: z = [2**31 - 1, -2**31, 255, -128]
y[0] = numeric_limits<float>::max();
y[1] = INFINITY;
y[2] = metal::numeric_limits<float>::epsilon();
y[3] = numeric_limits<half>::max();
y[4] = -numeric_limits<float>::infinity();
y[5] = M_PI_F;
z[0] = INT_MAX;
z[1] = numeric_limits<int>::min();
z[2] = numeric_limits<uchar>::max();
z[3] = numeric_limits<char>::lowest();
