// Companions (companion.h): who takes part in a launch whose leader has one. Ends with status 0 and one
// line if all is as it should be.

#include POOL

extern "C" {
int printf(const char*, ...);
int atoi(const char*);
int pthread_join(Thread, void**);
}

namespace {

uint32_t failures;

void expect(bool right, const char* what) {
  if (right) return;
  fetch_add(&failures, 1u);
  printf("not so: %s\n", what);
}

constexpr uint32_t GROUPS = 64;
constexpr uint64_t GROUP_TIME = 50000;  // nanoseconds

// A launch and the threads that ran its groups.
struct Seen {
  uint32_t inside, most;
  int32_t threads[GROUPS];

  bool has(int32_t thread) const {
    for (int32_t one : threads) {
      if (one == thread) return true;
    }
    return false;
  }

  bool has_others(int32_t one, int32_t another) const {
    for (int32_t thread : threads) {
      if (thread != one && thread != another) return true;
    }
    return false;
  }
};

void entry(void* const* buffers, const am_launch*, uint64_t first, uint64_t last, am_worker*) {
  Seen& seen = *static_cast<Seen*>(buffers[0]);
  for (uint64_t group = first; group < last; ++group) {
    uint32_t inside = fetch_add(&seen.inside, 1u) + 1;
    for (uint32_t most = load(&seen.most); most < inside && !replace(&seen.most, most, inside);) {
    }
    seen.threads[group] = this_thread();
    spin(GROUP_TIME, [] { return false; });
    fetch_add(&seen.inside, ~0u);
  }
}

Seen launch(uint32_t threads) {
  Seen seen{};
  void* const buffers[] = {&seen};
  Call call{};
  call.entry = entry;
  call.buffers = buffers;
  call.groups = GROUPS;
  call.group_time = GROUP_TIME;
  expect(am_run(&call) == OK, "the launch ends well");
  expect(!seen.has(0), "each group has run");
  expect(seen.most <= threads, "no more threads than there may be");
  return seen;
}

// A thread that comes so late each time the companion is led. Number 0 is the end.
struct Friend {
  Companion* companion;
  uint32_t delay;  // nanoseconds
  uint32_t number, returned;
  int32_t thread;
};

void* keep_company(void* given) {
  auto* self = static_cast<Friend*>(given);
  store(&self->thread, this_thread());
  for (uint32_t last = 1;;) {
    uint32_t number = load(&self->number);
    if (number == 0) return nullptr;
    if (number == last) {
      sched_yield();
      continue;
    }
    spin(self->delay, [] { return false; });
    am_companions()->accompany(self->companion, last = number);
    store(&self->returned, number);
  }
}

// Who takes part beside the leader if the companion comes so late.
struct Others {
  bool companion, worker;
};

Others others(Friend& friendly, uint32_t threads, uint32_t delay) {
  friendly.delay = delay;
  uint32_t number = am_companions()->lead(friendly.companion);
  store(&friendly.number, number);
  Seen seen = launch(threads);
  am_companions()->dismiss(friendly.companion);
  while (load(&friendly.returned) != number) sched_yield();
  return {seen.has(friendly.thread), seen.has_others(friendly.thread, this_thread())};
}

// One that has nothing to do for long sleeps, keeps no place, and wakes up when it is dismissed. Whether
// a worker had its place.
bool sleeps(Friend& friendly, uint32_t threads) {
  friendly.delay = 0;
  uint32_t number = am_companions()->lead(friendly.companion);
  store(&friendly.number, number);
  while (!load(&friendly.companion->self.sleeps)) sched_yield();
  Seen seen = launch(threads);
  expect(!seen.has(friendly.thread), "who sleeps takes no part");
  expect(load(&friendly.returned) != number, "it sleeps until it is dismissed");
  am_companions()->dismiss(friendly.companion);
  while (load(&friendly.returned) != number) sched_yield();
  return seen.has_others(this_thread(), friendly.thread);
}

}  // namespace

int main(int, char** words) {
  int rounds = atoi(words[1]);
  auto threads = static_cast<uint32_t>(atoi(words[2]));
  if (am_start(threads) != OK) return 1;
  Friend friendly{am_companions()->add(), 0, 1, 1, 0};
  uint32_t companions = 0, workers = 0;
  Thread thread;
  pthread_create(&thread, nullptr, keep_company, &friendly);
  while (!load(&friendly.thread)) sched_yield();
  expect(am_companions()->lead(friendly.companion) == 1, "the first number");
  am_companions()->dismiss(friendly.companion);
  for (int round = 0; round < rounds; ++round) {
    companions += others(friendly, threads, 0).companion;
    Others late = others(friendly, threads, 100000000);
    expect(!late.companion, "it came too late");
    workers += late.worker;
    others(friendly, threads, static_cast<uint32_t>(round) * 20000);
    workers += sleeps(friendly, threads);
  }
  store(&friendly.number, 0u);
  pthread_join(thread, nullptr);
  // Many threads on few processors: it may never run before it is too late.
  expect(companions != 0 || threads > 2, "a companion takes part");
  expect(workers != 0, "one that does not come is replaced");
  uint32_t more = 1;
  while (am_companions()->add()) ++more;
  expect(more == MOST_COMPANIONS, "there are so many");
  printf("%u failures; companions came %u times, workers for them %u\n", failures, companions, workers);
  return failures != 0;
}
