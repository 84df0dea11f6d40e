// MLX's functions from an element's number to its place in a strided array.
#pragma once

// Row-major position of element `elem`, in IdxT throughout.
template <typename IdxT = int64_t>
inline IdxT elem_to_loc(IdxT elem, constant const int* shape, constant const int64_t* strides,
                        int ndim) {
  IdxT loc = 0;
  for (int i = ndim - 1; i >= 0 && elem > 0; --i) {
    loc += (elem % shape[i]) * static_cast<IdxT>(strides[i]);
    elem /= shape[i];
  }
  return loc;
}

// x and y run along the last two axes, z counts the rest.
template <typename IdxT = int64_t>
inline IdxT elem_to_loc(uint3 elem, constant const int* shape, constant const int64_t* strides,
                        int ndim) {
  IdxT loc = elem.x * static_cast<IdxT>(strides[ndim - 1]) +
             elem.y * static_cast<IdxT>(strides[ndim - 2]);
  for (int axis = ndim - 3; axis >= 0; --axis) {
    loc += (elem.z % shape[axis]) * static_cast<IdxT>(strides[axis]);
    elem.z /= shape[axis];
  }
  return loc;
}

template <typename IdxT = int64_t>
inline IdxT elem_to_loc_1(uint elem, constant const int64_t& stride) {
  return elem * static_cast<IdxT>(stride);
}
template <typename IdxT = int64_t>
inline IdxT elem_to_loc_2(uint2 elem, constant const int64_t strides[2]) {
  return elem.x * static_cast<IdxT>(strides[1]) + elem.y * static_cast<IdxT>(strides[0]);
}
template <typename IdxT = int64_t>
inline IdxT elem_to_loc_3(uint3 elem, constant const int64_t strides[3]) {
  return elem.x * static_cast<IdxT>(strides[2]) + elem.y * static_cast<IdxT>(strides[1]) +
         elem.z * static_cast<IdxT>(strides[0]);
}

// The same position in two or three arrays of one shape.
template <typename IdxT = int64_t>
inline vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                                     constant const int64_t* a_strides,
                                     constant const int64_t* b_strides, int ndim) {
  return vec<IdxT, 2>(elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
                      elem_to_loc<IdxT>(elem, shape, b_strides, ndim));
}
template <typename IdxT = int64_t>
inline vec<IdxT, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape,
                                     constant const int64_t* a_strides,
                                     constant const int64_t* b_strides,
                                     constant const int64_t* c_strides, int ndim) {
  return vec<IdxT, 3>(elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
                      elem_to_loc<IdxT>(elem, shape, b_strides, ndim),
                      elem_to_loc<IdxT>(elem, shape, c_strides, ndim));
}

// Walks an array in row-major order, DIM axes by counters and the remaining ones (General) by
// elem_to_loc: next() is cheap where the innermost axis is long.
template <int DIM, typename OffsetT = size_t, bool General = true>
struct LoopedElemToLoc {
  int dim;
  LoopedElemToLoc<DIM - 1, OffsetT, General> inner_looper;
  OffsetT offset = 0;
  int index = 0;

  LoopedElemToLoc(int dim) : dim(dim), inner_looper(dim - 1) {}

  void next(const constant int* shape, const constant int64_t* strides) {
    if (dim == 0) return;
    ++index;
    offset += OffsetT(strides[dim - 1]);
    if (index >= shape[dim - 1]) {
      index = 0;
      inner_looper.next(shape, strides);
      offset = inner_looper.offset;
    }
  }

  void next(int n, const constant int* shape, const constant int64_t* strides) {
    if (dim == 0) return;
    index += n;
    offset += n * OffsetT(strides[dim - 1]);
    const int extent = shape[dim - 1];
    if (index >= extent) {
      const int carry = index / extent;
      index -= carry * extent;
      inner_looper.next(carry, shape, strides);
      offset = inner_looper.offset + index * OffsetT(strides[dim - 1]);
    }
  }

  OffsetT location() { return offset; }
};

template <typename OffsetT>
struct LoopedElemToLoc<1, OffsetT, true> {
  int dim;
  OffsetT offset = 0;
  uint index = 0;

  LoopedElemToLoc(int dim) : dim(dim) {}

  void next(const constant int* shape, const constant int64_t* strides) { next(1, shape, strides); }
  void next(int n, const constant int* shape, const constant int64_t* strides) {
    index += n;
    if (dim > 1) {
      offset = elem_to_loc<OffsetT>(index, shape, strides, dim);
    } else {
      offset += n * OffsetT(strides[0]);
    }
  }

  OffsetT location() { return offset; }
};

template <typename OffsetT>
struct LoopedElemToLoc<1, OffsetT, false> {
  OffsetT offset = 0;

  LoopedElemToLoc(int) {}

  void next(const constant int*, const constant int64_t* strides) {
    offset += OffsetT(strides[0]);
  }
  void next(int n, const constant int*, const constant int64_t* strides) {
    offset += n * OffsetT(strides[0]);
  }

  OffsetT location() { return offset; }
};
