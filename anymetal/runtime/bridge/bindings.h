// The arrays of one launch as an entry gets them, and as much as it takes to tell of them: in one
// piece of memory, since a launch takes no longer than a few allocations.

#pragma once

#include <cstdint>
#include <vector>

#include "mlx/array.h"
#include "plan.h"

namespace anymetal {

class Bindings {
 public:
  // For so many buffers, not bound yet; the first `count` of `inputs` will be. Checked builds note in
  // `strays` what strays.
  Bindings(size_t buffers, const std::vector<mlx::core::array>& inputs, size_t count,
           am_strays* strays)
      : buffers_(buffers) {
    size_t words = 3 * buffers + 2;
    for (size_t i = 0; i < count; ++i) words += 2 + inputs[i].ndim();
    words_.reserve(words);
    words_.resize(3 * buffers + 2);
    addresses()[buffers] = extents();
    addresses()[buffers + 1] = strays;
    for (size_t i = 0; i < count; ++i) {
      const mlx::core::array& input = inputs[i];
      words_.push_back(input.itemsize());
      words_.push_back(input.ndim());
      words_.insert(words_.end(), input.shape().begin(), input.shape().end());
    }
  }

  void put(size_t slot, void* address, am_extent extent) {
    addresses()[slot] = address;
    extents()[slot] = extent;
  }

  // Behind the addresses stand those of extents and strays (launch.h).
  void** addresses() { return reinterpret_cast<void**>(words_.data()); }
  const void* address(size_t slot) const { return reinterpret_cast<void*>(words_[slot]); }
  const am_extent& extent(size_t slot) const {
    return const_cast<Bindings*>(this)->extents()[slot];
  }

  // What strayed in these arrays; `outputs` belong to them, too.
  Noted noted(const am_strays& strays, std::vector<Shaped> outputs) {
    Noted all{strays, {extents(), extents() + buffers_}, {}};
    for (auto at = words_.begin() + 3 * buffers_ + 2; at != words_.end();) {
      const size_t itemsize = *at++, axes = *at++;
      all.arrays.push_back({{at, at + axes}, itemsize});
      at += axes;
    }
    for (Shaped& output : outputs) all.arrays.push_back(std::move(output));
    return all;
  }

 private:
  am_extent* extents() { return reinterpret_cast<am_extent*>(words_.data() + buffers_ + 2); }

  const size_t buffers_;
  std::vector<uint64_t> words_;
};

}  // namespace anymetal
