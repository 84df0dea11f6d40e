// Reading arrays without copying them: `array.__dlpack__()` gives a capsule with the address,
// shape and strides of an evaluated array of any dtype, of MLX or another library (foreign.py).
// Called with the GIL held.

#include "libc.h"
#include "launch.h"

struct Tensor {  // DLTensor of the DLPack standard
  uint8_t* data;
  int32_t device[2];
  int32_t axes;
  uint8_t kind, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;  // in elements; null = row-contiguous
  uint64_t offset;   // in bytes
};

struct Object;
extern "C" {
int PyCapsule_IsValid(Object*, const char*);
int64_t PyList_Size(Object*);
Object* PyList_GetItem(Object*, int64_t);
void* PyCapsule_GetPointer(Object*, const char*);
}

struct Versioned {  // DLManagedTensorVersioned
  uint32_t version[2];
  void *context, *deleter;
  uint64_t flags;
  Tensor tensor;
};

static Tensor* tensor_in(Object* capsule) {
  const char* versioned = "dltensor_versioned";
  if (PyCapsule_IsValid(capsule, versioned))
    return &static_cast<Versioned*>(PyCapsule_GetPointer(capsule, versioned))->tensor;
  return static_cast<Tensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
}

// An axis of size 1 may have any stride; an array without elements is contiguous.
static bool row_contiguous(const Tensor* tensor) {
  if (!tensor->strides) return true;
  int64_t expected = 1;
  bool packed = true;
  for (int32_t axis = tensor->axes - 1; axis >= 0; --axis) {
    if (tensor->shape[axis] == 0) return true;
    if (tensor->shape[axis] == 1) continue;
    packed &= tensor->strides[axis] == expected;
    expected *= tensor->shape[axis];
  }
  return packed;
}

// The memory between the first and the last element in it.
static am_extent extent_of(const Tensor* tensor) {
  uint64_t itemsize = uint64_t{tensor->bits} * tensor->lanes / 8, elements = 1, before = 0, behind = 0;
  for (int32_t axis = tensor->axes - 1; axis >= 0; --axis) {
    if (tensor->shape[axis] == 0) return {};
    int64_t stride = tensor->strides ? tensor->strides[axis] : static_cast<int64_t>(elements);
    int64_t reach = (tensor->shape[axis] - 1) * stride;
    (reach < 0 ? before : behind) += static_cast<uint64_t>(reach < 0 ? -reach : reach);
    elements *= static_cast<uint64_t>(tensor->shape[axis]);
  }
  return {before * itemsize, (before + behind + 1) * itemsize};
}

extern "C" {

// Writes the address of each array's first element to buffers[slots[i]], what memory it has to
// extents[slots[i]], and to strided[i] whether it is something else than row-contiguous. Returns how
// many are, or -1 with a Python exception.
int64_t am_bind(Object* capsules, const int32_t* slots, void** buffers, am_extent* extents,
                uint8_t* strided) {
  int64_t count = PyList_Size(capsules), found = 0;
  for (int64_t i = 0; i < count; ++i) {
    Tensor* tensor = tensor_in(PyList_GetItem(capsules, i));
    if (!tensor) return -1;
    buffers[slots[i]] = tensor->data + tensor->offset;
    extents[slots[i]] = extent_of(tensor);
    strided[i] = !row_contiguous(tensor);
    found += strided[i];
  }
  return found;
}

// The element strides of one array; returns how many, or -1 with a Python exception.
int64_t am_strides(Object* capsule, int64_t* strides) {
  Tensor* tensor = tensor_in(capsule);
  if (!tensor) return -1;
  int64_t packed = 1;
  for (int32_t axis = tensor->axes - 1; axis >= 0; --axis) {
    strides[axis] = tensor->strides ? tensor->strides[axis] : packed;
    packed *= tensor->shape[axis];
  }
  return tensor->axes;
}
}
