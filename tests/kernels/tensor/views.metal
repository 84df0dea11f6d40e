// Tensors of one to three dimensions: extents, strides, elements, slices.
// input: x = int32[4,5,6] integers(0, 1000)
// output: y = int32[8,6]
// grid: 6
// threadgroup: 6
// expect: y = np.stack([x[1, 2], x[1, 2], x[3, 4], np.full(6, 456456), x[2, 1], x[2, 3],
//     np.full(6, 323), x.ravel()[:6]])
// header:
#include <metal_tensor>
// body:
int i = thread_position_in_grid.x;
tensor<device const int, dextents<int, 3>, tensor_inline> t(x, dextents<int, 3>(6, 5, 4));
auto all = tensor(y, extents<int, 6, 8>());
all(i, 0) = t(i, 2, 1);
all[array<int, 2>{i, 1}] = t[array<int, 3>{i, 2, 1}];
all[{i, 2}] = t[{i, 4, 3}];
all(i, 3) = t.get_extent(0) + 10 * t.get_extent(1) + 100 * t.get_extent(2) +
            1000 * t.get_stride(1) + 10000 * (t.get_stride(2) + (t.get_rank() * 5));
auto plane = t.slice(0, 1, 2);
all(i, 4) = plane(i, 0, 0);
auto known = t.template slice<6, dynamic_extent, 1>(0, 2, 2);
all(i, 5) = known(i, 1, 0);
all(i, 6) = known.get_extent(1) + 10 * plane.get_extent(2) + 100 * known.get_rank();
auto line = tensor(x, dextents<int, 1>(120));
all(i, 7) = line[i];
