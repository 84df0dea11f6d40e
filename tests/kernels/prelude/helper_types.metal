// WorkPerThread, ConditionalType, float16_t, is_complex_v, is_lane_convertible_v, the constants.
// output: y = int32[12]
// grid: 1
// expect: y = [8, 4, 2, 1, 4, 4, 4, 4, 4, 4096, 4, 1]
static_assert(is_same_v<ConditionalType<true, int, float>::type, int>);
static_assert(is_same_v<ConditionalType<false, int, float>::type, float>);
static_assert(is_same_v<float16_t, half> && is_same_v<bfloat16_t, bfloat>);
static_assert(is_complex_v<complex64_t> && is_complex_v<complex32_t> && !is_complex_v<float>);
static_assert(is_lane_convertible_v<int, float> && is_lane_convertible_v<float, bfloat16_t>);
static_assert(is_lane_convertible_v<bfloat16_t, half>);
y[0] = WorkPerThread<uint8_t>::n, y[1] = WorkPerThread<half>::n;
y[2] = WorkPerThread<float>::n, y[3] = WorkPerThread<complex64_t>::n;
y[4] = MAX_REDUCE_SPECIALIZED_DIMS, y[5] = REDUCE_N_READS, y[6] = REDUCE_N_WRITES;
y[7] = SOFTMAX_N_READS, y[8] = RMS_N_READS, y[9] = RMS_LOOPED_LIMIT, y[10] = CROSS_ENTROPY_N_READS;
y[11] = sizeof(bool);
