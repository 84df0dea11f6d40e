// A product and a sum of vectors in one expression are rounded once, as those of scalars are; a
// product that has a name is rounded by itself. (1 + d)² is 1 + 2d + d², of which d² is lost.
// input: x = float32[2] [1 + 2**-13, -1 - 2**-12]
// input: u = float16[2] [1 + 2**-6, -1 - 2**-5]
// output: y = float32[15, 4]
// grid: 1
// threadgroup: 1
// where:
//     d = 2**-26
// expect: y = np.repeat([d, d, d, -d, -d, d, d, d, d, 0, 0, d, d, 2**-12, 0], 4)
const float4 a = x[0], b = x[0], c = x[1], one = 1;
float4 r[15];
r[0] = a * b + c;
r[1] = c + a * b;
r[2] = a * b - -c;
r[3] = -c - a * b;
r[4] = -c;
r[4] -= x[0] * b;  // a scalar times a vector is a product of vectors
r[5] = c;
r[5] += a * b;
float4 other = a;
r[6] = other * b + (other = c, other);  // the product has the value from before
const float3 three = a.xyz * b.xyz + c.xyz;
const float2 two = a.xy * b.xy + c.xy;
r[7] = float4(two, three.z, three.x);
r[8] = float4(a * b) + c;  // no conversion
const float4 product = a * b;
r[9] = product + c;
const thread float4& kept = a * b;
r[10] = kept + c;
r[11] = a * b + c * one;  // the left one is fused
float4 sum = c;
for (int i = 0; i < 3; ++i) {
    sum = i == 1 ? a * b + sum : sum;
}
r[12] = sum;
const half4 h = u[0], k = u[1];
const bfloat4 g = bfloat4(h), l = bfloat4(k);
r[13] = float4(g * g + l);
const half4 square = h * h;
r[14] = float4(square + k);
for (int i = 0; i < 15; ++i) {
    for (int j = 0; j < 4; ++j) y[4 * i + j] = r[i][j];
}
