// Workers that are displaced (late.h): where they may run meanwhile and afterwards. Ends with status 0
// and one line if all is as it should be.

#include POOL

extern "C" {
int printf(const char*, ...);
int pthread_join(Thread, void**);
}

namespace {

uint32_t phase, failures;

void expect(bool right, const char* what) {
  if (right) return;
  printf("not so: %s\n", what);
  ++failures;
}

ProcessorSet processors(int32_t thread) {
  ProcessorSet set{};
  syscall(CALL_GETAFFINITY, thread, sizeof set, &set);
  return set;
}

bool has(const ProcessorSet& set, int processor) {
  return set.bits[processor / 64] >> processor % 64 & 1;
}

bool same(const ProcessorSet& a, const ProcessorSet& b) {
  for (int i = 0; i < 16; ++i) {
    if (a.bits[i] != b.bits[i]) return false;
  }
  return true;
}

void reach(uint32_t wanted) {
  while (load(&phase) != wanted) sched_yield();
}

void* sleep_and_come(void*) {
  Worker& self = crew[0];
  self.thread = static_cast<int32_t>(syscall(CALL_GETTID));
  store(&self.sleeps, 1u);
  store(&phase, 1u);
  reach(2);
  store(&self.sleeps, 0u);
  ProcessorSet before = self.before;
  stay_anywhere(self);
  expect(same(processors(0), before), "who has come may run anywhere again");

  int here = sched_getcpu();
  keep_away(self, here + 1);
  expect(load(&self.displaced) == ALLOWED, "who runs elsewhere stays");
  keep_away(self, here);
  // Between the two questions the system may move the thread itself.
  if (load(&self.displaced) == DISPLACED) expect(!has(processors(0), here), "it has gone away");
  stay_anywhere(self);
  expect(same(processors(0), before), "and may come back");

  ProcessorSet one{};
  here = sched_getcpu();
  one.bits[here / 64] = uint64_t{1} << here % 64;
  syscall(CALL_SETAFFINITY, 0, sizeof one, &one);
  keep_away(self, here);
  expect(load(&self.displaced) == ALLOWED && same(processors(0), one), "nowhere else to go");
  return nullptr;
}

}  // namespace

int main() {
  ProcessorSet all = processors(0);
  ProcessorSet pinned{};
  int here = sched_getcpu();
  pinned.bits[here / 64] = uint64_t{1} << here % 64;
  Thread thread;
  pthread_create(&thread, nullptr, sleep_and_come, nullptr);
  syscall(CALL_SETAFFINITY, 0, sizeof pinned, &pinned);  // this thread stays where it is
  reach(1);
  displace_late(1, 0);
  expect(same(processors(crew[0].thread), all), "nobody was wanted");
  displace_late(1, 1);
  bool several = !same(all, pinned);
  expect(has(processors(crew[0].thread), here) != several, "the waker's processor is forbidden");
  displace_late(1, 1);
  if (several) expect(same(crew[0].before, all), "what it may do otherwise is remembered");
  store(&phase, 2u);
  pthread_join(thread, nullptr);
  printf("%u failures\n", failures);
  return failures != 0;
}
