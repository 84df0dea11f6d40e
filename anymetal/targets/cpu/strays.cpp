// Takes notes of accesses that a checked build has kept from happening (passes/check_bounds.py): the first
// of each kind, that is the one of the thread with the lowest number, and how many there were.

using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint32_t = unsigned int;
using uint64_t = unsigned long;

#include "../../runtime/launch.h"

struct Place {
  uint32_t x, y, z;
};

// Several threads take notes of one launch.
class Locked {
 public:
  explicit Locked(int32_t* lock) : lock_(lock) {
    while (__atomic_exchange_n(lock_, 1, __ATOMIC_ACQUIRE)) {
    }
  }
  ~Locked() { __atomic_store_n(lock_, 0, __ATOMIC_RELEASE); }

 private:
  int32_t* const lock_;
};

// `site`: twice the number of the access, and 1 more if it writes; `lanes` those of a gang of `width`
// that stray. For each lane: where its access begins, and in which array. The rest is the gang's place.
extern "C" void am_stray(am_strays* strays, uint32_t site, uint32_t lanes, uint32_t width,
                         const uint64_t* positions, const uint32_t* arrays, uint32_t group_x,
                         uint32_t group_y, uint32_t group_z, uint32_t size_x, uint32_t size_y,
                         uint32_t, uint32_t full_x, uint32_t full_y, uint32_t full_z,
                         uint32_t grid_x, uint32_t grid_y, uint32_t, uint32_t gang) {
  uint32_t lane = static_cast<uint32_t>(__builtin_ctz(lanes)), thread = gang * width + lane;
  Place at{thread % size_x, thread / size_x % size_y, thread / size_x / size_y};
  at = {group_x * full_x + at.x, group_y * full_y + at.y, group_z * full_z + at.z};
  uint64_t number = (uint64_t{at.z} * grid_y + at.y) * grid_x + at.x;
  const Locked locked(&strays->lock);
  am_stray_kind& kind = site % 2 ? strays->writes : strays->reads;
  if (kind.count == 0 || number < kind.number) {
    kind.number = number;
    kind.position = positions[lane];
    kind.array = arrays[lane];
    kind.site = site / 2;
    kind.thread[0] = at.x, kind.thread[1] = at.y, kind.thread[2] = at.z;
  }
  kind.count += static_cast<uint32_t>(__builtin_popcount(lanes));
}
