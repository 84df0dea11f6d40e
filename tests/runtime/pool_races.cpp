// The thread pool under ThreadSanitizer: launches from many threads at once, of all sizes, some of
// which are stopped by Ctrl-C or a time limit, fault, or run out of memory. Profiles begin and end
// meanwhile.
//
// The pool is part of this file, so that all of it is instrumented. The program ends with status 0
// and one line if every launch did what it should; ThreadSanitizer ends it with 66 if it saw a race.

#include POOL

extern "C" {
int printf(const char*, ...);
int atoi(const char*);
int kill(int, int);
int pthread_join(Thread, void**);
[[noreturn]] void _exit(int);
}

namespace {

constexpr uint32_t LAUNCHERS = 12, MOST_GROUPS = 400;
constexpr uint64_t LIMIT = 20000000;  // nanoseconds

enum Kind : uint32_t { COUNT, LONG, ENDLESS, FAULTY, GREEDY, ADDING, KINDS };

struct Launch {
  Kind kind;
  uint32_t seen[MOST_GROUPS];  // how often each group ran
  uint32_t finals;             // calls without groups
  uint64_t sum;
};

// ThreadSanitizer blocks all signals while a handler runs, and does not see that this one has left.
void unblock(uint64_t signals) {
  constexpr int UNBLOCK = 1;
  SignalSet set{};
  set.bits[0] = signals;
  pthread_sigmask(UNBLOCK, &set, nullptr);
}

__attribute__((noinline, no_sanitize("thread"))) void fault() {
  unblock(uint64_t{1} << (SEGMENT - 1));
  *reinterpret_cast<volatile int*>(8) = 1;
}

void wait(uint64_t nanoseconds) {
  for (uint64_t end = now() + nanoseconds; now() < end;) {
  }
}

// As generated code does it: under the lock of the launch while others take part.
void add(uint64_t* sum, uint8_t* locks) {
  if (locks) {
    for (uint8_t no = 0; !replace(locks, no, uint8_t{1}); no = 0) relax();
  }
  *sum += 1;
  if (locks) store(locks, uint8_t{0});
}

void entry(void* const* buffers, const am_launch* launch, uint64_t first, uint64_t last,
           am_worker* worker) {
  Launch& mine = *static_cast<Launch*>(buffers[0]);
  if (first == last) fetch_add(&mine.finals, 1u);
  for (uint64_t group = first; group < last; ++group) {
    worker->threadgroup[group % 64] = static_cast<uint8_t>(group);
    switch (mine.kind) {
      case LONG: wait(20000); break;
      case ENDLESS: while (!load(launch->cancel)) relax(); return;
      case FAULTY:
        if (group % 50 == 9) fault();
        break;
      case GREEDY:
        if (group % 50 == 9) worker->frame(worker, 0, uint64_t{1} << 60);
        break;
      case ADDING: add(&mine.sum, worker->locks); break;
      default: break;
    }
    fetch_add(&mine.seen[group], 1u);
  }
}

uint32_t failures;
uint32_t rounds;
uint64_t statuses[NO_STACK + 1];

void expect(bool fine, const char* what, Kind kind, int32_t status) {
  if (fine) return;
  fetch_add(&failures, 1u);
  printf("%s: kind %u, status %d\n", what, kind, status);
}

void launch_once(uint64_t* state, bool main_thread) {
  auto random = [state](uint64_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
  };
  static thread_local Launch launch;
  launch = {};
  launch.kind = static_cast<Kind>(random(KINDS));
  uint64_t groups = 1 + random(MOST_GROUPS);
  void* const buffers[] = {&launch};
  Call call{};
  call.entry = entry;
  call.buffers = buffers;
  call.groups = groups;
  call.group_time = random(2) ? 1e9 : random(2) ? 1e-9 : 0;
  call.interruptible = static_cast<int32_t>(random(2));
  call.ignored_interrupts = static_cast<int32_t>(random(2));
  int32_t status = am_run(&call);
  unblock(~uint64_t{0});
  fetch_add(&statuses[status], uint64_t{1});
  bool interruptible = main_thread || call.interruptible;
  bool stopped = status == TIMED_OUT || (status == INTERRUPTED && interruptible);
  bool bad = launch.kind == FAULTY || launch.kind == GREEDY;
  bool hit = bad && groups > 9;
  int32_t expected = !hit ? OK : launch.kind == FAULTY ? FAULT : NO_MEMORY;
  if (launch.kind == ENDLESS) {
    expect(stopped, "never ended", launch.kind, status);
  } else {
    expect(stopped || status == expected, "ended otherwise", launch.kind, status);
  }
  if (status == FAULT) expect(call.signal == SEGMENT && call.address == 8, "where", FAULTY, 0);
  for (uint64_t group = 0; group < MOST_GROUPS; ++group) {
    uint32_t seen = load(&launch.seen[group]);
    bool fine = status == OK && launch.kind != ENDLESS ? seen == (group < groups) : seen <= 1;
    expect(fine, "groups", launch.kind, status);
  }
  if (status == OK) {
    expect(load(&launch.finals) > 0, "last calls", launch.kind, status);
    if (launch.kind == ADDING) expect(launch.sum == groups, "sums", ADDING, status);
  }
}

void* launch_often(void* number) {
  uint64_t state = reinterpret_cast<uint64_t>(number);
  for (uint32_t round = 0; round < rounds; ++round) launch_once(&state, false);
  return nullptr;
}

uint32_t handled, done;

void on_their_interrupt(int) { fetch_add(&handled, 1u); }

void* press(void*) {
  while (!load(&done)) {
    Time pause{0, 2000000};
    nanosleep(&pause, nullptr);
    kill(getpid(), INTERRUPT);
  }
  return nullptr;
}

uint64_t profiled[SAMPLE + 1];

// A log is whole as soon as no launch goes on that belongs to it.
void check_log() {
  uint64_t words, lost;
  const uint64_t* log = am_profile_log(&words, &lost);
  expect(lost == 0, "entries without room", COUNT, 0);
  uint64_t at = 0;
  while (at < words) {
    uint64_t kind = log[at] & 0xff, length = log[at] >> 8;
    bool known = (kind == LAUNCH && length == 7) || (kind == SAMPLE && length == 2);
    expect(known, "unknown entry", COUNT, static_cast<int32_t>(kind));
    if (!known) return;
    expect(log[at + 1] == reinterpret_cast<uint64_t>(&entry), "entry", COUNT, 0);
    if (kind == LAUNCH) expect(log[at + 2] <= log[at + 3], "times", COUNT, 0);
    ++profiled[kind];
    at += 1 + length;
  }
  expect(at == words, "end of the log", COUNT, 0);
}

void* profile(void*) {
  while (!load(&done)) {
    Time pause{0, 5000000}, glance{0, 100000};
    expect(am_profile(), "no profile", COUNT, 0);
    nanosleep(&pause, nullptr);
    while (am_profile_end()) nanosleep(&glance, nullptr);
    check_log();
  }
  return nullptr;
}

}  // namespace

int main(int, char** words) {
  rounds = static_cast<uint32_t>(atoi(words[1]));
  if (am_start(static_cast<uint32_t>(atoi(words[2]))) != OK) return 1;
  SignalAction theirs{};
  theirs.handler.plain = on_their_interrupt;
  sigaction(INTERRUPT, &theirs, nullptr);
  am_limit(LIMIT);
  am_watch();
  Thread presser, profiler, launchers[LAUNCHERS];
  pthread_create(&profiler, nullptr, profile, nullptr);
  pthread_create(&presser, nullptr, press, nullptr);
  for (uint64_t i = 0; i < LAUNCHERS; ++i) {
    pthread_create(&launchers[i], nullptr, launch_often, reinterpret_cast<void*>(i + 1));
  }
  uint64_t state = 99;
  for (uint32_t round = 0; round < rounds; ++round) {  // the main thread owns Ctrl-C
    launch_once(&state, true);
    // Somebody else's handler comes and goes, as with signal.signal(SIGINT, ...).
    if (round % 16 == 0) sigaction(INTERRUPT, &theirs, nullptr);
    am_watch();
  }
  for (Thread& launcher : launchers) pthread_join(launcher, nullptr);
  store(&done, 1u);
  pthread_join(presser, nullptr);
  pthread_join(profiler, nullptr);
  printf("%u failures; ended well %lu, interrupted %lu, in time %lu, faults %lu, memory %lu, "
         "launches in profiles %lu, samples %lu\n",
         failures, statuses[OK], statuses[INTERRUPTED], statuses[TIMED_OUT], statuses[FAULT],
         statuses[NO_MEMORY], profiled[LAUNCH], profiled[SAMPLE]);
  return failures ? 1 : load(&handled) == 0 || !profiled[LAUNCH] || !profiled[SAMPLE];
}
