// The thread pool: one launch is a Job, a range of threadgroups from which the caller and the
// workers take chunks until none is left.
//
// Several threads of Python may launch at once. Each launch occupies one of a fixed set of slots;
// a free worker joins whichever open job still has groups. Slots are never freed, so a worker may
// look at one at any time: it counts itself in first, and reads the job only if that very step
// found the slot open. The owner closes the slot and waits until nobody is counted in.

#include "companion.h"
#include "interrupts.h"
#include "profile.h"

// As on the main thread, so that a kernel finds the same room whoever runs it. The guard is wide
// because a function with a large frame may step over a narrow one.
constexpr uint64_t STACK_BYTES = 8 << 20, STACK_GUARD_BYTES = 1 << 20;

// Work (in nanoseconds) that is worth sharing with threads that are awake. Waking one that sleeps
// costs 2 µs on a quiet machine, 50 µs in some virtual machines: that is measured as we go.
constexpr uint64_t WORTH_SHARING = 4000, WORTH_WAKING = 10000;
constexpr uint64_t LONGEST_WAKE = 100000;  // more means that the clock stood still for us
// So many are woken by the owner, and by each of them if more are wanted. Waking a thread takes about
// 1 µs, and 20 to 50 pass until it runs: 15 workers of a virtual Xeon are up after 50 µs if the owner
// wakes them all, and after 160 if each wakes one.
constexpr uint32_t WOKEN_AT_ONCE = 16;
// Before it sleeps: kernels often follow each other, with some Python, or what one thread does alone,
// in between.
constexpr uint64_t WORKER_SPIN = 100000;
constexpr uint64_t OWNER_SPIN = 20000;     // before it sleeps until the last worker is done
// A chunk of groups should take about so long: little overhead, no long wait for the last one. In a
// launch that has run for long it may take this part of that time: neighbouring groups often write
// to the same lines, which go from processor to processor where chunks meet.
constexpr uint64_t SHORT_CHUNK = 20000, LONG_CHUNK = 80000, PART_OF_TIME = 16;

constexpr uint32_t OPEN = 1u << 31, OWNER_SLEEPS = 1u << 30, MEMBERS = OWNER_SLEEPS - 1;
constexpr uint64_t EXPIRING = 1;

// The naps of who keeps watch, and how many without anything to look at until it sleeps.
constexpr uint64_t SHORTEST_NAP = 1000000, LONGEST_NAP = 10000000;
constexpr uint32_t QUIET_GLANCES = 100;

struct alignas(64) Job {
  uint32_t owned;
  uint32_t state;  // OPEN | OWNER_SLEEPS | number of workers taking part
  Call* call;
  uint32_t parties;   // threads among which to divide the groups
  int32_t processor;  // of the owner, when it let workers in
  uint64_t called;    // when others were called who slept
  uint64_t late;      // when to look for those who have not come, 0 = never
  Companion* companion;  // who accompanies the owner, or null
  uint32_t kept;         // 1 while a place is kept for the companion
  bool noted;         // for a profile
  uint64_t deadline;  // 0 = none; EXPIRING while the watch stops this job
  int fault_signal;
  void* fault_address;
  alignas(64) int32_t cancel;  // a line of its own: every loop of the kernel reads it
  alignas(64) uint64_t next;   // first group that nobody has taken
  alignas(64) uint8_t locks[AM_LOCKS * AM_LOCK_BYTES];
};

static Job jobs[MAX_JOBS];
static uint32_t jobs_used;  // no slot at or above this was ever occupied

static uint32_t wanted_workers;  // set by am_start
static uint32_t workers;         // running
static uint32_t hired;           // how many have begun to run
static uint32_t hiring;          // 1 once somebody starts the workers
alignas(64) static uint32_t published;  // counts launches; idle workers sleep on it
alignas(64) static uint32_t sleepers;
static uint64_t wake_time = 2000;  // nanoseconds that futex_wake takes here

static uint64_t time_limit;  // nanoseconds, 0 = none
static uint32_t watch_started, watch_sleeps;

static int32_t* cancel_of(uint32_t slot) { return &jobs[slot].cancel; }

// ---- Taking part in a job

static bool unfinished(const Job* job) {
  return load(&job->next) < job->call->groups && load(&job->cancel) == OK;
}

// Takes the next groups, at most `wanted`, and fewer towards the end so that all end together.
static bool take(Job* job, uint64_t wanted, uint64_t* first, uint64_t* last) {
  uint64_t groups = job->call->groups, next = load(&job->next), size;
  do {
    if (next >= groups || load(&job->cancel) != OK) return false;
    size = (groups - next) / (2 * job->parties);
    if (size > wanted) size = wanted;
    if (size == 0) size = 1;
  } while (!replace(&job->next, next, next + size));
  *first = next;
  *last = next + size;
  return true;
}

static uint64_t worth_sharing() {
  if (!load(&sleepers)) return WORTH_SHARING;
  uint64_t wake = 3 * load(&wake_time);
  return wake > WORTH_WAKING ? wake : WORTH_WAKING;
}

static void share(Job* job);
static void look_for_late(Job* job, uint64_t time);

struct Effort {
  uint64_t groups, nanoseconds;
};

// Runs chunks of the job until none is left. The owner of a job that seemed too small to share
// looks at the clock between chunks and thinks again.
static Effort take_part(Job* job, Context* self, bool owner, bool may_share) {
  Call* call = job->call;
  volatile uint64_t done = 0;
  uint64_t outside = float_mode(), start = now(), before = start, first, last, wanted = 1;
  // What was learnt is an average: in a job worth sharing, the first groups may be the heavy ones.
  if (may_share) wanted += static_cast<uint64_t>(SHORT_CHUNK / call->group_time);
  if (job->noted) take_seat(self, call->entry);
  set_float_mode(KERNEL_FLOAT_MODE);
  if (_setjmp(self->resume) == 0) {
    while (take(job, wanted, &first, &last)) {
      // Others come in only if this thread lets them, in between.
      self->locks = job->parties > 1 ? job->locks : nullptr;
      self->in_kernel = true;
      call->entry(call->buffers, &call->launch, first, last, self);
      self->in_kernel = false;
      done = done + (last - first);
      uint64_t time = now(), taken = time - before;
      before = time;
      // Groups of one launch may differ, so what the last chunk took decides the next one's size.
      uint64_t longest = (time - start) / PART_OF_TIME;
      if (longest < LONG_CHUNK) longest = LONG_CHUNK;
      if (taken < longest / 4 && wanted < call->groups) {
        wanted *= 2;
      } else if (taken > longest) {
        wanted = (wanted + 1) / 2;
      }
      if (may_share && time - start > worth_sharing() && unfinished(job)) {
        may_share = false;
        share(job);
      }
      if (owner && job->late && time > job->late) look_for_late(job, time);
    }
    // A range of no groups: a kernel that keeps sums for this thread hands them over. The owner may
    // have let others in after its last chunk.
    self->locks = job->parties > 1 ? job->locks : nullptr;
    self->in_kernel = true;
    call->entry(call->buffers, &call->launch, call->groups, call->groups, self);
    self->in_kernel = false;
  } else {  // the kernel was abandoned
    int32_t none = OK;
    if (replace(&job->cancel, none, int32_t{self->why})) {
      job->fault_signal = self->signal;
      job->fault_address = self->address;
    }
    forget_sums(self);
  }
  forget_private_arrays(self);
  set_float_mode(outside);
  if (self->seat) leave_seat(self);
  return {done, now() - start};
}

// ---- Workers

static void wake(uint32_t parties) {
  if (parties < 2 || !load(&sleepers)) return;
  futex_wake(&published, parties <= WOKEN_AT_ONCE ? parties - 1 : WOKEN_AT_ONCE);
}

// Takes part in a job if it is open and `may(members)`, of whom this thread is one already: as long as
// it is, nobody else gets the job's slot.
template <typename May>
static bool join(Job* job, Context* self, Worker& worker, May may) {
  if (!(load(&job->state) & OPEN)) return false;
  uint32_t state = fetch_add(&job->state, 1u);
  bool joins = state & OPEN && unfinished(job) && may((state & MEMBERS) + 1);
  if (joins) {
    keep_away(worker, job->processor);
    take_part(job, self, false, false);
  }
  if (fetch_add(&job->state, ~0u) == (OWNER_SLEEPS | 1)) futex_wake(&job->state, 1);
  return joins;
}

static bool help(Job* job, Context* self, Worker& worker) {
  return join(job, self, worker, [=](uint32_t members) {
    uint32_t wanted = job->parties - 1 - load(&job->kept);
    if (members < wanted) wake(job->parties);
    return members <= wanted;
  });
}

static void* serve(void*) {
  Context* self = own_context();
  if (!self) return nullptr;
  Worker& worker = crew[fetch_add(&hired, 1u)];
  worker.thread = this_thread();
  for (;;) {
    stay_anywhere(worker);
    uint32_t seen = load(&published);
    bool helped = false;
    for (uint32_t i = 0, used = load(&jobs_used); i < used; ++i) helped |= help(&jobs[i], self, worker);
    if (helped) continue;
    if (spin(WORKER_SPIN, [=] { return load(&published) != seen; })) continue;
    fetch_add(&sleepers, 1u);
    store(&worker.sleeps, 1u);
    futex_wait(&published, seen);
    store(&worker.sleeps, 0u);
    fetch_add(&sleepers, ~0u);
  }
}

// Workers leave all signals to other threads, except those that their own instructions raise.
static bool start_thread(void* (*body)(void*)) {
  SignalSet blocked, before;
  for (uint64_t& bits : blocked.bits) bits = ~uint64_t{0};
  for (int signal : FAULTS) blocked.bits[0] &= ~(uint64_t{1} << (signal - 1));
  ThreadAttributes attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES + STACK_GUARD_BYTES);
  pthread_attr_setguardsize(&attributes, STACK_GUARD_BYTES);
  pthread_sigmask(SET_MASK, &blocked, &before);
  Thread thread;
  bool started = pthread_create(&thread, &attributes, body, nullptr) == 0;
  pthread_sigmask(SET_MASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) pthread_detach(thread);
  return started;
}

// At the first launch that needs them: many processes never do, and a forked child starts anew.
static void start_workers() {
  uint32_t missing = 0;
  if (load(&hiring) || !replace(&hiring, missing, 1u)) return;
  uint32_t count = 0;
  while (count < wanted_workers && start_thread(serve)) ++count;
  store(&workers, count);
}

// ---- Companions

// The launch of its leader; null if there is none, or no others may take part yet.
static Job* job_of(const Companion* companion) {
  for (uint32_t i = 0, used = load(&jobs_used); i < used; ++i) {
    if (load(&jobs[i].companion) == companion) return &jobs[i];
  }
  return nullptr;
}

static bool join_leader(Companion* companion, Context* self) {
  Job* job = job_of(companion);
  return job && join(job, self, companion->self, [=](uint32_t) {
    return load(&job->companion) == companion && swap(&job->kept, 0u);
  });
}

// Whether its leader is in a launch that has enough threads without it.
static bool is_replaced(const Companion* companion) {
  const Job* job = job_of(companion);
  return job && load(&job->state) & OPEN && !load(&job->kept);
}

static void accompany(Companion* companion, uint32_t time) {
  Context* self = own_context();
  if (!self || is_dismissed(companion, time)) return;
  if (!companion->self.thread) store(&companion->self.thread, this_thread());
  stay_anywhere(companion->self);
  auto dismissed = [=] { return is_dismissed(companion, time); };
  for (bool joined = false; !dismissed();) {
    bool joins = false, idle = false;
    spin(COMPANION_SPIN, [&] {
      joins = join_leader(companion, self);
      idle = !joined && !joins && is_replaced(companion);  // it would only be in the others' way
      return joins || idle || dismissed();
    });
    joined |= joins;
    if (!joins) sleep_until_dismissed(companion, time);
  }
  spin(COMPANION_STAYS, [] { return false; });
}

// ---- The owner's side

static Job* occupy_slot() {
  for (;; sched_yield()) {
    for (uint32_t i = 0; i < MAX_JOBS; ++i) {
      uint32_t free = 0;
      if (load(&jobs[i].owned) || !replace(&jobs[i].owned, free, 1u)) continue;
      for (uint32_t used = load(&jobs_used); used <= i && !replace(&jobs_used, used, i + 1);) {
      }
      return &jobs[i];
    }
  }
}

static void wake_workers(Job* job) {
  uint64_t start = now();
  wake(job->parties - load(&job->kept));
  uint64_t taken = now() - start;
  if (taken > LONGEST_WAKE) taken = LONGEST_WAKE;
  store(&wake_time, (3 * load(&wake_time) + taken) / 4);
}

// Lets the companion and the workers in.
static void share(Job* job) {
  start_workers();
  uint64_t threads = uint64_t{1} + load(&workers);
  job->parties = static_cast<uint32_t>(job->call->groups < threads ? job->call->groups : threads);
  if (job->parties == 1) return;
  job->processor = sched_getcpu();
  Companion* companion = own_context()->companion;
  store(&job->kept, uint32_t{is_expected(companion, job->call->group_time)});
  store(&job->companion, companion);
  fetch_or(&job->state, OPEN);
  fetch_add(&published, 1u);
  if (!load(&job->kept) && !load(&sleepers)) return;
  job->called = now();
  job->late = job->called + (load(&job->kept) ? COMPANION_WAITS : LATE_AFTER);
  wake_workers(job);
}

static void look_for_companion(Job* job, uint64_t time) {
  if (time < job->called + COMPANION_LATE) {
    make_way(job->companion);
    job->late = job->called + COMPANION_LATE;
  } else if (swap(&job->kept, 0u)) {
    wake_workers(job);
    job->late = time + LATE_AFTER;
  }
}

static void look_for_late(Job* job, uint64_t time) {
  job->late = 0;
  uint32_t members = load(&job->state) & MEMBERS;
  if (members + 1 >= job->parties) return;
  if (load(&job->kept)) return look_for_companion(job, time);
  displace_late(load(&workers), job->parties - 1 - members);
}

// Returns when no worker touches the job any more.
static void close(Job* job) {
  fetch_and(&job->state, ~OPEN);
  auto alone = [=] { return (load(&job->state) & MEMBERS) == 0; };
  if (alone() || spin(OWNER_SPIN, alone)) return;
  while (!alone()) {
    uint32_t state = fetch_or(&job->state, OWNER_SLEEPS) | OWNER_SLEEPS;
    if (state & MEMBERS) futex_wait(&job->state, state);
  }
  fetch_and(&job->state, ~OWNER_SLEEPS);
}

// ---- Keeping watch

// A thread that looks at all launches from time to time: it stops those whose time is up, and puts
// our handler of Ctrl-C back in front. It sleeps once it has seen none for a while. Launches on the
// main thread without a time limit need it not.

// Whether there was anything to look at.
static bool glance() {
  bool busy = false, interruptible = false;
  for (uint32_t i = 0, used = load(&jobs_used); i < used; ++i) {
    interruptible |= load(&watched[i].state) != 0;
    uint64_t deadline = load(&jobs[i].deadline);
    busy |= deadline != 0;
    if (deadline <= EXPIRING || now() < deadline) continue;
    // A deadline is unique, so success means that it is still the same launch, and its owner
    // waits for the flag to be set before the slot goes to another.
    if (!replace(&jobs[i].deadline, deadline, EXPIRING)) continue;
    stop(&jobs[i].cancel, TIMED_OUT);
    store(&jobs[i].deadline, uint64_t{0});
  }
  if (interruptible) stand_in_front();
  return busy || interruptible;
}

static void* keep_watch(void*) {
  for (uint32_t quiet = 0;;) {
    uint64_t limit = load(&time_limit), period = LONGEST_NAP;
    if (limit && limit / 16 < period) period = limit / 16;
    if (period < SHORTEST_NAP) period = SHORTEST_NAP;
    Time pause{0, static_cast<int64_t>(period)};
    nanosleep(&pause, nullptr);
    quiet = glance() ? 0 : quiet + 1;
    if (quiet < QUIET_GLANCES) continue;
    // Whoever launches says so first and looks whether we sleep then; we do it the other way round.
    swap(&watch_sleeps, 1u);
    if (!glance()) futex_wait(&watch_sleeps, 1);
    store(&watch_sleeps, 0u);
    quiet = 0;
  }
}

static void call_the_watch() {
  uint32_t yes = 1, no = 0;
  if (!load(&watch_started)) {
    if (replace(&watch_started, no, 1u)) start_thread(keep_watch);
  } else if (load(&watch_sleeps) && replace(&watch_sleeps, yes, 0u)) {
    futex_wake(&watch_sleeps, 1);
  }
}

static void clear_deadline(Job* job) {
  for (uint64_t mine; (mine = load(&job->deadline)) != 0; relax()) {
    if (mine != EXPIRING) replace(&job->deadline, mine, uint64_t{0});
  }
}

// Runs one launch to its end; the caller's thread takes part. `noted`: for a profile.
static int32_t run(Call* call, bool noted) {
  Context* self = own_context();
  if (!self) return NO_MEMORY;
  Job* job = occupy_slot();
  job->call = call;
  job->parties = 1;
  job->late = 0;
  job->noted = noted;
  job->fault_signal = 0;
  job->fault_address = nullptr;
  store(&job->cancel, int32_t{OK});
  store(&job->next, uint64_t{0});
  call->launch.cancel = &job->cancel;
  uint64_t limit = load(&time_limit);
  if (limit) swap(&job->deadline, now() + limit);
  Watched* slot = &watched[job - jobs];
  if (self->main_thread || call->interruptible) watch(slot, call->ignored_interrupts);
  if (self->main_thread) stand_in_front();
  if (call->interruptible || limit) call_the_watch();

  bool divisible = call->groups > 1 && wanted_workers > 0 && !call->ordered;
  bool small = call->group_time > 0 && call->group_time * call->groups < worth_sharing();
  if (divisible && !small) share(job);
  Effort effort = take_part(job, self, true, divisible && small);
  close(job);

  unwatch(slot);
  clear_deadline(job);
  int32_t status = load(&job->cancel);
  if (status != OK) {  // whoever was stopped may have had a lock
    for (uint8_t& byte : job->locks) byte = 0;
  }
  store(&job->companion, static_cast<Companion*>(nullptr));
  if (status == FAULT) {
    call->signal = job->fault_signal;
    call->address = reinterpret_cast<uint64_t>(job->fault_address);
  } else if (status == OK && effort.groups) {
    double sample = static_cast<double>(effort.nanoseconds) / effort.groups;
    call->group_time = call->group_time > 0 ? (call->group_time + sample) / 2 : sample;
  }
  store(&job->owned, 0u);
  return status;
}

// ---- Interface for pool.py

extern "C" {

// Once per process, before anything else. `threads` counts the caller.
int32_t am_start(uint32_t threads) {
  wanted_workers = threads - 1 < MAX_WORKERS ? threads - 1 : MAX_WORKERS;
  if (pthread_key_create(&context_key, drop_context) != 0) return NO_MEMORY;
  catch_faults();
  return OK;
}

// Stops every launch that takes longer; 0 = no limit.
void am_limit(uint64_t nanoseconds) { store(&time_limit, nanoseconds); }

// In the child of a fork: only the forking thread is left, and it is not in a launch.
void am_forked() {
  for (Job& job : jobs) job.owned = job.state = 0, job.deadline = 0;
  forget_profile();
  hiring = hired = workers = sleepers = watch_started = watch_sleeps = installing = 0;
  for (Watched& one : watched) one.state = 0;
  for (Worker& one : crew) one = {};  // those were threads of the parent, as were
  for (Companion& one : companions) one = {};
  for (int32_t& thread : handling) thread = 0;
  if (void* context = pthread_getspecific(context_key)) {
    static_cast<Context*>(context)->main_thread = on_main_thread();
    static_cast<Context*>(context)->companion = nullptr;
  }
}

// On the main thread, before it waits for launches that other threads start: Ctrl-C shall stop
// those. Cheap if that was so already. The handler stays; without launches it only passes on.
void am_watch() { stand_in_front(); }

// Runs one launch to its end; the caller's thread takes part.
int32_t am_run(Call* call) {
  if (call->groups == 0) return OK;
  if (!wants_note()) return run(call, false);
  uint64_t begun = now();
  int32_t status = run(call, true);
  note_launch(call, begun, status);
  return status;
}

// Companions, for the bridge to MLX.
const Companions* am_companions() {
  static const Companions offered{new_companion, lead, make_way, accompany, dismiss};
  return &offered;
}

// Notes launches from now on; false if there is no memory for that.
int32_t am_profile() { return begin_profile(); }

// No launch that begins later is noted. How many go on that are: the log is whole when none does.
uint32_t am_profile_end() {
  swap(&recording, 0u);
  return load(&noting);
}

// The log: words, how many, and how many entries found no room.
const uint64_t* am_profile_log(uint64_t* words, uint64_t* lost) {
  *words = log_used;
  *lost = log_lost;
  return log_words;
}
}
