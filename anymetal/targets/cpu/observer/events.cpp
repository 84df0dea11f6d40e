// Events of a launch on their way to the checkers.

#include "convergence.h"

extern "C" {

Gang* am_begin(Launch* launch, uint32_t width, uint32_t group_x, uint32_t group_y, uint32_t group_z,
               uint32_t size_x, uint32_t size_y, uint32_t size_z, uint32_t full_x, uint32_t full_y,
               uint32_t full_z, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t number,
               uint32_t active) {
  const Place group{group_x, group_y, group_z};
  if (launch->started == launch->gang_count) {  // the first gang of a threadgroup
    launch->started = 0;
    ++launch->groups;
    launch->group = group;
    launch->size = {size_x, size_y, size_z};
    launch->full_size = {full_x, full_y, full_z};
    launch->grid = {grid_x, grid_y, grid_z};
    launch->gang_count = (size_x * size_y * size_z + width - 1) / width;
    convergence_group(launch);
  }
  ++launch->started;
  Gang* gang = launch->gangs + number;
  const uint32_t count = active ? active : width;
  *gang = {};
  gang->launch = launch;
  gang->number = number;
  gang->width = width;
  gang->lanes = count == 32 ? ~0u : (1u << count) - 1;
  gang->group = group;
  gang->first = number * width;
  gang->running = 1;
  launch->detector->begin(gang);
  convergence_begin(gang);
  return gang;
}

void am_end(Gang* gang) {
  gang->running = 0;
  gang->launch->detector->end(gang);
  convergence_end(gang);
}

void am_access_run(Gang* gang, uint32_t site, uint32_t mask, uint64_t offset, int64_t stride,
                   uint32_t object, uint32_t bytes, uint32_t action) {
  ++gang->launch->events;
  gang->launch->detector->access_run(gang, site, mask, offset, stride, object, bytes, action);
}

void am_access_lanes(Gang* gang, uint32_t site, uint32_t mask, const uint64_t* offsets,
                     const uint32_t* objects, uint32_t bytes, uint32_t action) {
  ++gang->launch->events;
  gang->launch->detector->access_lanes(gang, site, mask, offsets, objects, bytes, action);
}

void am_fence(Gang* gang, uint32_t, uint32_t mask) { gang->launch->detector->fence(gang, mask); }

void am_barrier(Gang* gang, uint32_t site, uint32_t flags, bool narrow, uint32_t mask) {
  ++gang->launch->events;
  gang->launch->detector->barrier(gang, flags, narrow);
  convergence_barrier(gang, site, narrow, mask);
  ++(narrow ? gang->narrow_meetings : gang->meetings);
}

void am_lanes(Gang* gang, uint32_t site, uint32_t what, uint32_t mask, const uint32_t* values) {
  ++gang->launch->events;
  convergence_lanes(gang, site, what, mask, values);
}
}
