// Finds data races: two accesses to a common byte by different threads, one of them a write, not both
// atomic, that nothing puts in order. records.h says how accesses are remembered and compared.
//
// What orders accesses is what Metal promises, and not what happened to come first:
// * threadgroup_barrier among the threads of a threadgroup, for the memory that its flags name;
// * simdgroup_barrier among those of a SIMD-group, likewise. That they run in lockstep orders nothing;
// * between threadgroups, or without a barrier, only this: a thread that executes a fence and then
//   writes an atomic has published what its threadgroup did up to its last barrier, and what it
//   itself did up to the fence. A thread that reads an atomic later and then executes a fence knows of it,
//   as do the others of its threadgroup behind their next barrier. Any atomic serves: which word a
//   thread reads is not followed, so a wrong flag is not found, and a right one is never blamed.
//   A threadgroup_barrier is no such fence, not with mem_device either: its scope is the threadgroup.
#include "blocks.h"
#include "deferred.h"
#include "fences.h"
#include "race_memory.h"

namespace {

constexpr uint32_t MEM_DEVICE = 1, MEM_THREADGROUP = 2;
constexpr uint32_t NOBODY = ~0u;

// -- time --------------------------------------------------------------------------------------

// Forgets everything: the counter of time has come to its end.
__attribute__((cold, noinline)) void begin_anew(Races& races) {
  for (uint32_t i = 0; i < races.arrays; ++i) {
    const Shadow& shadow = races.shadows[i];
    if (!shadow.planes) continue;
    const int64_t end = static_cast<int64_t>(shadow.bytes >> shadow.shift) + PADDING;
    for (int64_t at = -PADDING; at < end; ++at) {
      shadow.planes[at + WRITE_TIME * shadow.distance] = 0;
      shadow.planes[at + READ_TIME * shadow.distance] = 0;
    }
    for (int64_t block = 0; block <= end / GRANULES; ++block) {
      shadow.blocks[block] = {};
      shadow.fine[block] = 0;
    }
    if (shadow.deferred) *shadow.deferred = {};
    races.shadows[i].since = 1;
  }
  for (auto& of_memory : races.ordered_in_simd_group)
    for (uint32_t& ordered : of_memory) ordered = 0;
  if (races.groups) races.places[0] = races.places[races.groups - 1];
  if (races.groups) races.groups = 1;
  races.begins[0] = races.time = races.first = races.ordered[0] = races.ordered[1] = 1;
  races.cleared = 1;
  races.fence = races.releases = races.known = 0;
  for (uint32_t& count : races.read) count = 0;
  for (uint32_t& count : races.acquired) count = 0;
}

void tick(Races& races) {
  if (++races.time == ~0u) begin_anew(races);
}

Window window(const Races& races, const Shadow& shadow, const Gang& gang) {
  const uint32_t ordered = races.ordered[shadow.device];
  const uint32_t own = races.ordered_in_simd_group[shadow.device][gang.first / 32];
  const uint32_t first = races.first;
  const uint32_t since = shadow.device || shadow.since > first ? shadow.since : first;
  return {since, first, ordered - first, (own > ordered ? own : ordered) - first, races.time};
}

// -- findings ----------------------------------------------------------------------------------

// The thread with a number in a threadgroup.
Place thread_in(const Launch& launch, const Place& group, uint32_t thread) {
  const Place &grid = launch.grid, &size = launch.full_size;
  const Place begin{group.x * size.x, group.y * size.y, group.z * size.z};
  const uint32_t x = grid.x - begin.x < size.x ? grid.x - begin.x : size.x;  // less at the edge
  const uint32_t y = grid.y - begin.y < size.y ? grid.y - begin.y : size.y;
  return {begin.x + thread % x, begin.y + thread / x % y, begin.z + thread / x / y};
}

__attribute__((cold, noinline)) void found(const Access& a, uint32_t lane, int64_t granule,
                                           Record<uint32_t> record, bool wrote) {
  const Launch& launch = *a.gang.launch;
  const uint32_t thread = a.gang.first + lane;
  if (a.races.fence && is_known(a.races, record, thread)) return;
  const bool foreign = record.time < a.window.first;
  const uint32_t kind = (record.who & ATOMIC) || a.is_atomic ? RACE_ATOMIC
                        : foreign                            ? RACE_GROUPS
                        : a.shadow.device                    ? RACE_DEVICE
                                                             : RACE_THREADGROUP;
  Finding finding = finding_of(&a.gang, lane, kind, a.site);
  finding.object = a.object;
  finding.bytes = a.bytes;
  finding.offset = (static_cast<uint64_t>(granule) << a.shadow.shift) - launch.objects[a.object].base;
  finding.other_site = record.who >> SITE_SHIFT;
  finding.other_group =
      foreign ? a.races.places[group_at(a.races, record.time)] : a.gang.group;
  const uint32_t other = record.who & THREAD;
  finding.other_thread = thread_in(launch, finding.other_group, other);
  const bool near = (other ^ thread) < 32 && (record.who & SEVERAL);
  if (!foreign && (other == thread || near))  // the first of several, but not the one in conflict
    finding.other_thread = {NOBODY, NOBODY, NOBODY};
  if (foreign && a.is_atomic && (record.who & ATOMIC)) {  // a plain one in front of a barrier
    finding.other_site = NO_SITE;
    finding.other_thread = {NOBODY, NOBODY, NOBODY};
  }
  finding.detail = wrote;
  report(a.gang.launch, finding);
}

// -- accesses ----------------------------------------------------------------------------------

// One lane and one granule, which reports.
template <uint32_t action> void one(const Access& a, uint32_t lane, int64_t granule) {
  make_fine(a, granule, granule);
  uint32_t* const planes = a.shadow.planes + granule;
  const uint64_t d = a.shadow.distance;
  const Record<uint32_t> write{planes[0], planes[d]}, read_{planes[2 * d], planes[3 * d]};
  const uint32_t me = a.me + lane;
  const auto now = outcome<action>(write, read_, me, a.window, a.shadow.is_read);
  if (__builtin_expect(now.conflict, 0)) {
    const Relation<uint32_t> to_write(write, me, a.window);
    if (in_conflict<(action >= UPDATE)>(write, to_write)) found(a, lane, granule, write, true);
    else found(a, lane, granule, read_, false);
  }
  if constexpr (action == LOAD || action == ATOMIC_LOAD) {
    planes[2 * d] = now.read.time, planes[3 * d] = now.read.who;
  } else {
    planes[0] = now.write.time, planes[d] = now.write.who;
  }
}

// The lanes in turn, whatever they access.
template <uint32_t action>
__attribute__((noinline)) void each(const Access& a, uint32_t mask, const uint64_t* offsets) {
  for (; mask; mask &= mask - 1) {
    const uint32_t lane = __builtin_ctz(mask);
    const uint64_t offset = offsets[lane], bytes = a.bytes;
    if (offset > a.shadow.bytes || bytes > a.shadow.bytes - offset) continue;
    const int64_t last = (offset + bytes - 1) >> a.shadow.shift;
    for (int64_t granule = offset >> a.shadow.shift; granule <= last; ++granule)
      one<action>(a, lane, granule);
  }
}

AM_INLINE uint32_t equal(Offsets a, uint64_t b) {
  return __builtin_bit_cast(uint32_t, __builtin_convertvector(a == b, Flags));
}

constexpr int MOST_ROWS = 4, LEAST_IN_ROW = 4;

// Neighbouring lanes access neighbouring granules, those from lane 0 on being these 32. Returns
// whether there is a conflict; then records may be those from before.
template <uint32_t action>
AM_INLINE bool one_by_one(const Access& a, Lanes lane, Lanes active, int64_t granule) {
  constexpr bool reads = action == LOAD || action == ATOMIC_LOAD;
  const uint64_t d = a.shadow.distance;
  const Lanes me = Lanes(a.me) + lane;
  uint32_t* const planes = a.shadow.planes + granule;
  const Record<Lanes> write{load(planes), load(planes + d)};
  Record<Lanes> read_{};
  if (reads || a.shadow.is_read) read_ = {load(planes + 2 * d), load(planes + 3 * d)};
  const auto now = outcome<action>(write, read_, me, a.window, a.shadow.is_read);
  if (__builtin_expect(any(now.conflict & active), 0)) return true;
  if constexpr (reads) {
    store(planes + 2 * d, pick(active, now.read.time, read_.time));
    store(planes + 3 * d, pick(active, now.read.who, read_.who));
  } else {
    store(planes, pick(active, now.write.time, write.time));
    store(planes + d, pick(active, now.write.who, write.who));
  }
  return false;
}

// Neighbouring lanes access neighbouring memory, 1 << wide granules each. Returns whether there is
// a conflict; then records may be those from before.
template <uint32_t action>
AM_INLINE bool side_by_side(const Access& a, uint32_t mask, int64_t granule, uint32_t wide) {
  const bool whole = mask == ~0u && granule % GRANULES == 0;
  if (!whole) {
    const int64_t low = __builtin_ctz(mask), high = 32 - __builtin_clz(mask);
    make_fine(a, granule + (low << wide), granule + (high << wide) - 1);
  }
  for (uint32_t begin = 0; begin < 32u << wide; begin += 32, granule += 32) {
    if (whole) {
      if (as_one<action>(a, granule / GRANULES, a.me + (begin >> wide), wide)) continue;
      make_fine(a, granule, granule);
    }
    const Lanes lane = (LANE + begin) >> wide;
    const Lanes active = ~is_zero(Lanes(mask) >> lane & 1);
    if (one_by_one<action>(a, lane, active, granule)) return true;
  }
  return false;
}

AM_INLINE Lanes gathered(const uint32_t* plane, const int64_t* granules) {
  Lanes result;
#pragma clang loop unroll(full)
  for (int i = 0; i < 32; ++i) result[i] = plane[granules[i]];
  return result;
}

// Lanes access granules anywhere, one each. Returns those whose record is now another lane's: as if
// the others came first. If there is a conflict it does nothing, and returns all.
template <uint32_t action>
AM_INLINE uint32_t scattered(const Access& a, uint32_t mask, const int64_t* granules, bool& conflict) {
  constexpr bool reads = action == LOAD || action == ATOMIC_LOAD;
  uint32_t* const planes = a.shadow.planes;
  const uint64_t d = a.shadow.distance;
  const Lanes me = Lanes(a.me) + LANE, active = ~is_zero(Lanes(mask) >> LANE & 1);
  const Record<Lanes> write{gathered(planes, granules), gathered(planes + d, granules)};
  Record<Lanes> read_{};
  if (reads || a.shadow.is_read)
    read_ = {gathered(planes + 2 * d, granules), gathered(planes + 3 * d, granules)};
  const auto now = outcome<action>(write, read_, me, a.window, a.shadow.is_read);
  conflict = any(now.conflict & active);
  if (__builtin_expect(conflict, 0)) return mask;
  const Record<Lanes> before = reads ? read_ : write, record = reads ? now.read : now.write;
  const Lanes changed = (record.time ^ before.time) | (record.who ^ before.who);
  if (!any(changed & active)) return 0;
  uint32_t* const times = planes + (reads ? 2 * d : 0);
#pragma clang loop unroll(full)
  for (int i = 31; i >= 0; --i) {  // the lowest of several lanes stays
    times[granules[i]] = record.time[i];
    times[d + granules[i]] = record.who[i];
  }
  return bits_of(~is_zero(gathered(times + d, granules) ^ record.who) & active);
}

// Granules of one byte from now on: an access does not begin or end with one. What was noted of
// larger ones is void.
__attribute__((cold, noinline)) void make_finer(Access& a) {
  tick(a.races);
  a.shadow.shift = 0;
  a.shadow.since = a.races.time;
  a.window = window(a.races, a.shadow, a.gang);
}

// Lanes access memory anywhere, all of them in bounds and at the begin of a granule.
template <uint32_t action>
__attribute__((noinline)) void anywhere(Access& a, uint32_t mask, const uint64_t* offsets) {
  const uint64_t limit = a.shadow.bytes - a.bytes, within = (1u << a.shadow.shift) - 1;
  int64_t granules[32];
  uint64_t bits = a.bytes;
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t active = mask >> lane & 1, offset = offsets[lane];
    mask &= ~(static_cast<uint32_t>(offset > limit) << lane);
    bits |= active ? offset : 0;
    granules[lane] = active && offset <= limit ? static_cast<int64_t>(offset >> a.shadow.shift) : -PADDING;
  }
  if (bits & within) {
    make_finer(a);
    return each<action>(a, mask, offsets);
  }
  const uint32_t parts = a.bytes >> a.shadow.shift;
  make_fine(a, mask, granules, parts - 1);
  uint32_t left = 0;
  for (uint32_t part = parts; part; --part) {
    uint32_t lost = mask;
    bool conflict = false;
    for (int round = 0; lost && !conflict && round < 3; ++round)
      lost = scattered<action>(a, lost, granules, conflict);
    left |= lost;
    for (int64_t& granule : granules) ++granule;
  }
  if (left) each<action>(a, left, offsets);
}

// Lanes whose offsets are a few rows, as threads of a tile have them: in each row neighbouring lanes
// access neighbouring memory, or all read the same.
template <uint32_t action>
AM_INLINE void in_rows(Access& a, uint32_t mask, const uint64_t* offsets) {
  const uint64_t bytes = a.bytes, size = a.shadow.bytes, odd = (1u << a.shadow.shift) - 1;
  const uint32_t wide = static_cast<uint32_t>(__builtin_ctzll(bytes)) - a.shadow.shift;
  const Offsets at = *reinterpret_cast<const Offsets*>(offsets);
  const Offsets begins = at - __builtin_convertvector(LANE, Offsets) * bytes;  // of rows
  uint32_t rest = mask;
  if ((bytes & (bytes - 1)) == 0 && (bytes & odd) == 0 && wide <= 2) {
    for (int rows = 0; rest && rows < MOST_ROWS; ++rows) {
      const uint32_t lane = __builtin_ctz(rest);
      const uint64_t offset = offsets[lane], begin = offset - lane * bytes;
      const uint32_t row = equal(begins, begin) & rest, last = 31 - __builtin_clz(row);
      const uint32_t same = action == LOAD ? equal(at, offset) & rest : 0;
      if ((offset & odd) || offset > size || begin + (last + 1) * bytes > size) break;
      if (__builtin_popcount(same) > __builtin_popcount(row)) {  // what two do shows what all do
        const uint32_t others = same & (same - 1);
        each<action>(a, same & ~(others & (others - 1)), offsets);
        rest &= ~same;
        continue;
      }
      if (__builtin_popcount(row) < LEAST_IN_ROW) break;
      if (side_by_side<action>(a, row, static_cast<int64_t>(begin) >> a.shadow.shift, wide))
        each<action>(a, row, offsets);
      rest &= ~row;
    }
  }
  if (rest) anywhere<action>(a, rest, offsets);
}

// Whether several lanes that read the same would change nothing: several have in this moment, and
// what was written is in order. Loops over memory that all threads share come here all the time.
AM_INLINE bool is_settled(const Access& a, uint64_t offset) {
  if (offset + a.bytes > a.shadow.bytes) return false;
  const int64_t granule = static_cast<int64_t>(offset >> a.shadow.shift);
  const int64_t end = granule + (a.bytes >> a.shadow.shift);
  const uint32_t* at = a.shadow.planes + granule;
  const uint64_t d = a.shadow.distance;
  for (int64_t part = granule; part < end; ++part, ++at) {
    if (!is_fine(a, part / GRANULES)) return false;
    const uint32_t wrote = at[0], who = at[3 * d];
    const bool near = (who & SEVERAL_OF_SIMD_GROUP) && !((who ^ a.me) & SIMD_GROUP);
    const bool in_order = wrote < a.window.since || wrote - a.window.first < a.window.ordered;
    const bool noted = at[2 * d] == a.window.now && ((who & SEVERAL) || near) && !(who & ATOMIC);
    if (!in_order || !noted) return false;
  }
  return true;
}

template <uint32_t action>
AM_INLINE void run(Access& a, uint32_t mask, int64_t offset, int64_t stride) {
  const int64_t bytes = a.bytes, size = static_cast<int64_t>(a.shadow.bytes);
  const int64_t low = offset + __builtin_ctz(mask) * stride;
  const int64_t high = offset + (31 - __builtin_clz(mask)) * stride + bytes;
  const uint32_t wide = static_cast<uint32_t>(__builtin_ctzll(bytes)) - a.shadow.shift;
  const bool even = ((offset | bytes) & ((int64_t{1} << a.shadow.shift) - 1)) == 0;
  if (stride == bytes && even && wide <= 2 && (bytes & (bytes - 1)) == 0 && low >= 0 &&
      high <= size && !side_by_side<action>(a, mask, offset >> a.shadow.shift, wide))
    return;
  if (stride == 0) {  // what two do shows what all do
    if (action == LOAD && even && is_settled(a, offset)) return;
    if (!even) make_finer(a);
    const uint32_t others = mask & (mask - 1);
    mask &= ~(others & (others - 1));
  }
  uint64_t offsets[32];
  for (int lane = 0; lane < 32; ++lane) offsets[lane] = offset + lane * stride;
  stride == 0 ? each<action>(a, mask, offsets) : anywhere<action>(a, mask, offsets);
}

// Calls `use` with the action as a constant.
template <class Use> AM_INLINE void with_action(uint32_t action, Use use) {
  switch (action) {
    case LOAD: return use.template operator()<LOAD>();
    case STORE: return use.template operator()<STORE>();
    case UPDATE: return use.template operator()<UPDATE>();
    case ATOMIC_LOAD: return use.template operator()<ATOMIC_LOAD>();
    case ATOMIC_STORE: return use.template operator()<ATOMIC_STORE>();
  }
}

__attribute__((noinline)) void note_run(Access& a, uint32_t action, uint32_t mask, int64_t offset,
                                        int64_t stride) {
  with_action(action, [&]<uint32_t action> { run<action>(a, mask, offset, stride); });
}

__attribute__((noinline)) void note_lanes(Access& a, uint32_t action, uint32_t mask,
                                          const uint64_t* offsets) {
  with_action(action, [&]<uint32_t action> { in_rows<action>(a, mask, offsets); });
}

// Notes what was deferred.
__attribute__((noinline)) void settle(const Access& now) {
  DeferredList& list = *now.shadow.deferred;
  const uint32_t count = list.count;
  list.count = 0;
  for (uint32_t& one : list.recent) one = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Deferred& d = list.all[i];
    const Gang& gang = now.gang.launch->gangs[d.first / now.gang.width];
    Access a{gang,    now.races,          now.shadow, now.object, d.site,
             d.bytes, d.action >= UPDATE, d.window,   d.site << SITE_SHIFT | d.first};
    if (d.has_offsets) {
      const Offsets offsets = __builtin_convertvector(list.offsets[i], Offsets);
      note_lanes(a, d.action, d.mask, reinterpret_cast<const uint64_t*>(&offsets));
    }
    for (uint32_t n = 0; !d.has_offsets && n < d.count; ++n)
      note_run(a, d.action, d.mask, d.offset + n * d.step, d.stride);
  }
}

AM_INLINE Access access(Gang* gang, uint32_t site, uint32_t mask, uint32_t object, uint32_t bytes,
                        uint32_t action) {
  Races& races = *gang->launch->races;
  Shadow& shadow = races.shadows[gang->launch->objects[object].owner];
  const bool atomic = action >= UPDATE;
  if (action == LOAD || action == ATOMIC_LOAD) shadow.is_read = 1;
  if (atomic && races.fence)
    for (; mask; mask &= mask - 1) pass_on(races, gang->first + __builtin_ctz(mask), action);
  const uint32_t me = site << SITE_SHIFT | gang->first;
  return {*gang, races, shadow, object, site, bytes, atomic, window(races, shadow, *gang), me};
}

void complete_barrier(Races& races) {
  const uint32_t flags = races.flags, fence = races.fence;
  tick(races);
  if (flags & MEM_THREADGROUP) races.ordered[0] = races.cleared = races.time;
  if (flags & MEM_DEVICE) races.ordered[1] = races.time;
  races.arrived = 0;
  races.flags = ~0u;
  if (!fence) return;
  for (uint32_t& ordered : races.ordered)  // what the barrier does not order, fences in front of it do
    if (ordered < races.fence) ordered = races.fence;
  for (const uint32_t acquired : races.acquired)
    if (races.known < acquired) races.known = acquired;
}

void begin_group(Races& races, const Gang& gang) {
  tick(races);
  races.first = races.ordered[0] = races.ordered[1] = races.begins[races.groups] = races.time;
  races.places[races.groups++] = gang.group;
  races.cleared = races.time;
  races.live = gang.launch->gang_count;
  races.arrived = races.known = 0;
  races.flags = ~0u;
  if (!races.fence) return;
  for (uint32_t& count : races.read) count = 0;
  for (uint32_t& count : races.acquired) count = 0;
}

// -- events ------------------------------------------------------------------------------------

void begin(Gang* gang) {
  if (gang->launch->started == 1) begin_group(*gang->launch->races, *gang);
}

// The last gang to arrive completes a barrier, or the last of the others to end.
void barrier(Gang* gang, uint32_t flags, bool narrow) {
  Races& races = *gang->launch->races;
  if (narrow) {
    tick(races);
    const uint32_t own = gang->first / 32;
    if (flags & MEM_THREADGROUP) races.ordered_in_simd_group[0][own] = races.time;
    if (flags & MEM_DEVICE) races.ordered_in_simd_group[1][own] = races.time;
    return;
  }
  races.flags &= flags;
  if (++races.arrived == races.live) complete_barrier(races);
}

void end(Gang* gang) {
  Races& races = *gang->launch->races;
  if (races.live && --races.live == races.arrived && races.arrived) complete_barrier(races);
}

void access_run(Gang* gang, uint32_t site, uint32_t mask, uint64_t offset, int64_t stride,
                uint32_t object, uint32_t bytes, uint32_t action) {
  if (!mask || object >= gang->launch->races->arrays) return;
  Access a = access(gang, site, mask, object, bytes, action);
  if (!a.shadow.planes) return;
  const int64_t first = static_cast<int64_t>(offset + gang->launch->objects[object].base);
  if (defer(a, action, mask, first, stride, nullptr)) return;
  if (is_behind(a)) settle(a);
  note_run(a, action, mask, first, stride);
}

void access_lanes(Gang* gang, uint32_t site, uint32_t mask, const uint64_t* offsets,
                  const uint32_t* objects, uint32_t bytes, uint32_t action) {
  while (mask) {  // one array after the other
    const uint32_t object = objects[__builtin_ctz(mask)];
    const uint32_t here = bits_of((Lanes)(load(objects) == object)) & mask;
    mask &= ~here;
    if (object >= gang->launch->races->arrays) continue;
    Access a = access(gang, site, here, object, bytes, action);
    if (!a.shadow.planes) continue;
    const Offsets moved = *reinterpret_cast<const Offsets*>(offsets) + gang->launch->objects[object].base;
    const uint64_t* const places = reinterpret_cast<const uint64_t*>(&moved);
    if (defer(a, action, here, 0, 0, places)) continue;
    if (is_behind(a)) settle(a);
    note_lanes(a, action, here, places);
  }
}

void fence(Gang* gang, uint32_t mask) {
  Races& races = *gang->launch->races;
  tick(races);
  races.fence = races.time;
  for (; mask; mask &= mask - 1) {
    const uint32_t thread = gang->first + __builtin_ctz(mask);
    races.acquired[thread] = races.read[thread];
  }
}

}  // namespace

extern "C" const Detector am_race_detector{prepare, release,    begin,       end,
                                           barrier, fence,      access_run,  access_lanes};
