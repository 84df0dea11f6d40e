// sRGB to linear light in three channels; the fourth one is linear already.
// input: x = uint32[64] np.r_[[0, 0xffffffff, 0x0a0b0c0d, 0x0b0b0b0b], np.arange(60) * 71582788]
// output: y = float32[64, 4]
// output: z = float16[64, 4]
// grid: 64
// threadgroup: 32
// where:
//     c = (x[:, None] >> np.arange(0, 32, 8) & 255) / 255
//     light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
//     light[:, 3] = c[:, 3]
// expect: y = light
// expect: z = light
// close: 1e-5 1e-7
uint i = thread_position_in_grid.x;
((device float4*)y)[i] = unpack_unorm4x8_srgb_to_float(x[i]);
((device half4*)z)[i] = unpack_unorm4x8_srgb_to_half(x[i]);
