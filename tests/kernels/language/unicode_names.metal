// Names are made of any letters: buffers, threadgroup variables, functions, constants, types.
// input: größe = float32[64] arange
// output: 数据 = float32[64]
// grid: 64
// threadgroup: 32
// expect: 数据 = größe[tid ^ 31] * 3 + 2 * group + 64 + np.array([1, 2, 3, 4])[tid % 4]
// header:
constant float Ω[4] = {1, 2, 3, 4};
struct Ä { float ö; int ü; };
template <typename Ŧ>
Ŧ größer(Ŧ é, int ñ) {
  for (int ß = 0; ß < 4; ++ß) {
    if (ß == ñ) return é * Ŧ(ß);
  }
  return é;
}
// body:
uint ι = thread_position_in_grid.x;
uint λ = thread_index_in_simdgroup;
threadgroup float mémoire[32];
threadgroup Ä ж[2];
mémoire[λ] = größer(größe[ι], 3);
if (λ == 0) ж[1].ü = threadgroup_position_in_grid.x;
threadgroup_barrier(mem_flags::mem_threadgroup);
数据[ι] = mémoire[31 - λ] + 2 * ж[1].ü + größe_shape[0] + Ω[ι & 3];
