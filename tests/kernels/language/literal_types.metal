// The type that each literal has.
// output: y = int32[10]
// grid: 1
// expect: y = 1
y[0] = is_same_v<decltype(1.0), float>;
y[1] = is_same_v<decltype(1.0f), float>;
y[2] = is_same_v<decltype(1.0h), half>;
y[3] = is_same_v<decltype(1.0bf), bfloat>;
y[4] = is_same_v<decltype(1), int>;
y[5] = is_same_v<decltype(1u), uint>;
y[6] = is_same_v<decltype(1l), long>;
y[7] = is_same_v<decltype(1ul), ulong>;
y[8] = is_same_v<decltype('a'), char>;
y[9] = is_same_v<decltype(1.0h * 2), half> && is_same_v<decltype(1.0h * 2.0f), float>;
