// kernel: docs_exp
// The exponential of MLX's documentation on custom kernels, word for word.
// input: inp = float32[16777216] normal
// output: out = float32[16777216]
// template: T=float32
// grid: 16777216
// threadgroup: 256
    uint elem = thread_position_in_grid.x;
    T tmp = inp[elem];
    out[elem] = metal::exp(tmp);

// kernel: docs_exp_strided
// The same for arrays that need not be contiguous, word for word; here every second row is read.
// input: inp = float32[4096, 2048] normal
// view: inp = inp[::2]
// row_contiguous: false
// output: out = float32[2048, 2048]
// template: T=float32
// grid: 4194304
// threadgroup: 256
    uint elem = thread_position_in_grid.x;
    // Utils from `mlx/backend/metal/kernels/utils.h` are automatically included
    uint loc = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    T tmp = inp[loc];
    // Output arrays are always row contiguous
    out[elem] = metal::exp(tmp);

// kernel: docs_exp_transposed
// The same, of a transposed matrix.
// input: inp = float32[2048, 2048] normal
// view: inp = inp.T
// row_contiguous: false
// output: out = float32[2048, 2048]
// template: T=float32
// grid: 4194304
// threadgroup: 256
    uint elem = thread_position_in_grid.x;
    // Utils from `mlx/backend/metal/kernels/utils.h` are automatically included
    uint loc = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    T tmp = inp[loc];
    // Output arrays are always row contiguous
    out[elem] = metal::exp(tmp);

// kernel: docs_grid_sample
// The fused grid_sample of MLX's documentation, word for word.
// input: x = float32[2, 512, 512, 64] normal
// input: grid = float32[2, 256, 256, 2] uniform(-1.0, 1.0)
// output: out = float32[2, 256, 256, 64]
// template: T=float32
// grid: 8388608
// threadgroup: 256
    uint elem = thread_position_in_grid.x;
    int H = x_shape[1];
    int W = x_shape[2];
    int C = x_shape[3];
    int gH = grid_shape[1];
    int gW = grid_shape[2];

    int w_stride = C;
    int h_stride = W * w_stride;
    int b_stride = H * h_stride;

    uint grid_idx = elem / C * 2;
    float ix = ((grid[grid_idx] + 1) * W - 1) / 2;
    float iy = ((grid[grid_idx + 1] + 1) * H - 1) / 2;

    int ix_nw = floor(ix);
    int iy_nw = floor(iy);

    int ix_ne = ix_nw + 1;
    int iy_ne = iy_nw;

    int ix_sw = ix_nw;
    int iy_sw = iy_nw + 1;

    int ix_se = ix_nw + 1;
    int iy_se = iy_nw + 1;

    T nw = (ix_se - ix)    * (iy_se - iy);
    T ne = (ix    - ix_sw) * (iy_sw - iy);
    T sw = (ix_ne - ix)    * (iy    - iy_ne);
    T se = (ix    - ix_nw) * (iy    - iy_nw);

    int batch_idx = elem / C / gH / gW * b_stride;
    int channel_idx = elem % C;
    int base_idx = batch_idx + channel_idx;

    T I_nw = x[base_idx + iy_nw * h_stride + ix_nw * w_stride];
    T I_ne = x[base_idx + iy_ne * h_stride + ix_ne * w_stride];
    T I_sw = x[base_idx + iy_sw * h_stride + ix_sw * w_stride];
    T I_se = x[base_idx + iy_se * h_stride + ix_se * w_stride];

    I_nw = iy_nw >= 0 && iy_nw <= H - 1 && ix_nw >= 0 && ix_nw <= W - 1 ? I_nw : 0;
    I_ne = iy_ne >= 0 && iy_ne <= H - 1 && ix_ne >= 0 && ix_ne <= W - 1 ? I_ne : 0;
    I_sw = iy_sw >= 0 && iy_sw <= H - 1 && ix_sw >= 0 && ix_sw <= W - 1 ? I_sw : 0;
    I_se = iy_se >= 0 && iy_se <= H - 1 && ix_se >= 0 && ix_se <= W - 1 ? I_se : 0;

    out[elem] = nw * I_nw + ne * I_ne + sw * I_sw + se * I_se;

// kernel: docs_grid_sample_vjp
// Its gradients, word for word: of the image by atomic additions, of the points by SIMD-group.
// input: x = float32[2, 512, 512, 64] normal
// input: grid = float32[2, 256, 256, 2] uniform(-1.0, 1.0)
// input: cotangent = float32[2, 256, 256, 64] normal
// output: x_grad = float32[2, 512, 512, 64]
// output: grid_grad = float32[2, 256, 256, 2]
// init: 0
// atomic_outputs: true
// template: T=float32
// grid: 8388608
// threadgroup: 256
    uint elem = thread_position_in_grid.x;
    int H = x_shape[1];
    int W = x_shape[2];
    int C = x_shape[3];
    // Pad C to the nearest larger simdgroup size multiple
    int C_padded = ceildiv(C, threads_per_simdgroup) * threads_per_simdgroup;

    int gH = grid_shape[1];
    int gW = grid_shape[2];

    int w_stride = C;
    int h_stride = W * w_stride;
    int b_stride = H * h_stride;

    uint grid_idx = elem / C_padded * 2;
    float ix = ((grid[grid_idx] + 1) * W - 1) / 2;
    float iy = ((grid[grid_idx + 1] + 1) * H - 1) / 2;

    int ix_nw = floor(ix);
    int iy_nw = floor(iy);

    int ix_ne = ix_nw + 1;
    int iy_ne = iy_nw;

    int ix_sw = ix_nw;
    int iy_sw = iy_nw + 1;

    int ix_se = ix_nw + 1;
    int iy_se = iy_nw + 1;

    T nw = (ix_se - ix)    * (iy_se - iy);
    T ne = (ix    - ix_sw) * (iy_sw - iy);
    T sw = (ix_ne - ix)    * (iy    - iy_ne);
    T se = (ix    - ix_nw) * (iy    - iy_nw);

    int batch_idx = elem / C_padded / gH / gW * b_stride;
    int channel_idx = elem % C_padded;
    int base_idx = batch_idx + channel_idx;

    T gix = T(0);
    T giy = T(0);
    if (channel_idx < C) {
        int cot_index = elem / C_padded * C + channel_idx;
        T cot = cotangent[cot_index];
        if (iy_nw >= 0 && iy_nw <= H - 1 && ix_nw >= 0 && ix_nw <= W - 1) {
            int offset = base_idx + iy_nw * h_stride + ix_nw * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], nw * cot, memory_order_relaxed);

            T I_nw = x[offset];
            gix -= I_nw * (iy_se - iy) * cot;
            giy -= I_nw * (ix_se - ix) * cot;
        }
        if (iy_ne >= 0 && iy_ne <= H - 1 && ix_ne >= 0 && ix_ne <= W - 1) {
            int offset = base_idx + iy_ne * h_stride + ix_ne * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], ne * cot, memory_order_relaxed);

            T I_ne = x[offset];
            gix += I_ne * (iy_sw - iy) * cot;
            giy -= I_ne * (ix - ix_sw) * cot;
        }
        if (iy_sw >= 0 && iy_sw <= H - 1 && ix_sw >= 0 && ix_sw <= W - 1) {
            int offset = base_idx + iy_sw * h_stride + ix_sw * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], sw * cot, memory_order_relaxed);

            T I_sw = x[offset];
            gix -= I_sw * (iy - iy_ne) * cot;
            giy += I_sw * (ix_ne - ix) * cot;
        }
        if (iy_se >= 0 && iy_se <= H - 1 && ix_se >= 0 && ix_se <= W - 1) {
            int offset = base_idx + iy_se * h_stride + ix_se * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], se * cot, memory_order_relaxed);

            T I_se = x[offset];
            gix += I_se * (iy - iy_nw) * cot;
            giy += I_se * (ix - ix_nw) * cot;
        }
    }

    T gix_mult = W / 2;
    T giy_mult = H / 2;

    // Reduce across each simdgroup first.
    // This is much faster than relying purely on atomics.
    gix = simd_sum(gix);
    giy = simd_sum(giy);

    if (thread_index_in_simdgroup == 0) {
        atomic_fetch_add_explicit(&grid_grad[grid_idx], gix * gix_mult, memory_order_relaxed);
        atomic_fetch_add_explicit(&grid_grad[grid_idx + 1], giy * giy_mult, memory_order_relaxed);
    }

// kernel: guide_exp
// With a check of the bounds, as guides have it.
// input: inp0 = float32[16777000] normal
// input: size = uint32 16777000
// output: out0 = float32[16777000]
// grid: 16777000
// threadgroup: 256
uint elem = thread_position_in_grid.x;
if (elem >= size) return;
out0[elem] = exp(inp0[elem]);

// kernel: guide_cholesky_blocks
// As guides have it: one threadgroup, whose first thread factors a block of the diagonal; then
// all threads take rows below. Sums run over all columns before.
// input: A = float32[512, 512] (lambda m: m @ m.T / 512 + np.eye(512))(normal())
// input: block_size = uint32 16
// output: L = float32[512, 512]
// grid: 32
// threadgroup: 32
uint t = thread_position_in_grid.x, threads = threads_per_threadgroup.x, n = A_shape[0];
for (uint start = 0; start < n; start += block_size) {
  uint end = min(start + block_size, n);
  if (t == 0) {
    for (uint j = start; j < end; j++) {
      float squares = 0;
      for (uint p = 0; p < j; p++) squares += L[j * n + p] * L[j * n + p];
      float diagonal = sqrt(max(A[j * n + j] - squares, 1e-10f));
      L[j * n + j] = diagonal;
      for (uint i = j + 1; i < end; i++) {
        float sum = 0;
        for (uint p = 0; p < j; p++) sum += L[i * n + p] * L[j * n + p];
        L[i * n + j] = (A[i * n + j] - sum) / diagonal;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_device);
  for (uint i = start + t; i < end; i += threads)
    for (uint j = i + 1; j < n; j++) L[i * n + j] = 0;
  for (uint row = end + t; row < n; row += threads) {
    for (uint j = start; j < end; j++) {
      float sum = 0;
      for (uint p = 0; p < j; p++) sum += L[row * n + p] * L[j * n + p];
      L[row * n + j] = (A[row * n + j] - sum) / L[j * n + j];
    }
  }
  threadgroup_barrier(mem_flags::mem_device);
}
