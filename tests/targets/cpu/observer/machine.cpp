// Launches of machine.py: makes what the race detector is given, and calls it.
#include "observer.h"
#include "races.h"

extern "C" {
extern const Detector am_race_detector;
void* calloc(uint64_t, uint64_t);
void free(void*);

Launch* machine_launch(uint32_t objects, const uint64_t* bytes, const uint32_t* granules,
                       const uint32_t* is_device, uint32_t findings, const Place* grid,
                       const Place* threadgroup, uint64_t groups) {
  Launch* const launch = static_cast<Launch*>(calloc(1, sizeof(Launch)));
  launch->findings = static_cast<Finding*>(calloc(findings, sizeof(Finding)));
  launch->table = static_cast<uint32_t*>(calloc(2 * findings, sizeof(uint32_t)));
  launch->capacity = findings;
  launch->gangs = static_cast<Gang*>(calloc(MOST_GANGS, sizeof(Gang)));
  launch->objects = static_cast<Object*>(calloc(objects + 1, sizeof(Object)));
  launch->object_count = objects;
  for (uint32_t i = 0; i < objects; ++i) {
    launch->objects[i].bytes = bytes[i];
    launch->objects[i].granule = granules[i];
    launch->objects[i].is_device = is_device[i];
    launch->objects[i].watched = granules[i] ? bytes[i] : 0;
    launch->objects[i].owner = i;
  }
  launch->grid = *grid;
  launch->full_size = *threadgroup;
  return am_race_detector.prepare(launch, groups) ? launch : nullptr;
}

uint32_t machine_found(const Launch* launch, const Finding** findings) {
  *findings = launch->findings;
  return launch->found;
}

void machine_free(Launch* launch) {
  am_race_detector.free(launch);
  free(launch->findings);
  free(launch->table);
  free(launch->gangs);
  free(launch->objects);
  free(launch);
}

Gang* machine_begin(Launch* launch, const Place* group, const Place* size, uint32_t number,
                    uint32_t lanes, uint32_t gangs) {
  launch->size = *size;
  launch->gang_count = gangs;
  launch->started = number + 1;
  Gang* const gang = launch->gangs + number;
  *gang = {};
  gang->launch = launch;
  gang->number = number;
  gang->width = 32;
  gang->lanes = lanes;
  gang->group = *group;
  gang->first = 32 * number;
  am_race_detector.begin(gang);
  return gang;
}

void machine_set_time(Gang* gang, uint32_t time) { gang->launch->races->time = time; }
void machine_end(Gang* gang) { am_race_detector.end(gang); }
void machine_barrier(Gang* gang, uint32_t flags, bool narrow) {
  am_race_detector.barrier(gang, flags, narrow);
}
void machine_fence(Gang* gang, uint32_t mask) { am_race_detector.fence(gang, mask); }
void machine_run(Gang* gang, uint32_t site, uint32_t mask, uint64_t offset, int64_t stride,
                 uint32_t object, uint32_t bytes, uint32_t action) {
  am_race_detector.access_run(gang, site, mask, offset, stride, object, bytes, action);
}
void machine_lanes(Gang* gang, uint32_t site, uint32_t mask, const uint64_t* offsets,
                   const uint32_t* objects, uint32_t bytes, uint32_t action) {
  am_race_detector.access_lanes(gang, site, mask, offsets, objects, bytes, action);
}
}
