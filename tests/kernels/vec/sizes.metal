// A vector of three has the size of four; a packed one has its own.
// output: y = int32[12]
// grid: 1
// threadgroup: 1
// expect: y = [8, 16, 16, 12, 2, 4, 4, 3, 32, 6, 16, 48]
y[0] = sizeof(float2);
y[1] = sizeof(float3);
y[2] = sizeof(float4);
y[3] = sizeof(packed_float3);
y[4] = sizeof(uchar2);
y[5] = sizeof(bool3);
y[6] = sizeof(half2);
y[7] = sizeof(packed_char3);
y[8] = sizeof(long3);
y[9] = sizeof(packed_half3);
y[10] = alignof(int3);
y[11] = sizeof(float3x3);
