// The caller works, too. Who waits spins for a while before it sleeps, as long as AnyMetal's workers
// do, so that a rival that starts several loops in a row does not pay for waking each time.

#include "pool.h"

#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <atomic>

namespace {

constexpr int kMostThreads = 64;
constexpr int64_t kPatience = 100000;  // nanoseconds

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t started = PTHREAD_COND_INITIALIZER;
pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

struct Job {
  int64_t count, chunk;
  bench::Body body;
  void* context;
};
Job job;
std::atomic<int64_t> next;            // first index that nobody took yet
std::atomic<uint64_t> generation{0};  // number of the job; odd while it may be joined
std::atomic<int> inside{0};           // workers in the job
int thread_count = 1;
int workers = 0;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

// Until it is so, or for so long: a pause takes 10 ns on one processor and 70 on another.
template <class Condition>
void spin_until(Condition met) {
  const int64_t end = now() + kPatience;
  while (!met() && now() < end) pause_briefly();
}

// Subnormal floats count as zero while rivals run, as in kernels: they are slow.
class FlushSubnormals {
#if defined(__x86_64__)
 public:
  FlushSubnormals() { _mm_setcsr(before_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(before_); }

 private:
  unsigned before_ = _mm_getcsr();
#endif
};

void take_chunks(const Job& mine) {
  const FlushSubnormals flush;
  for (;;) {
    const int64_t first = next.fetch_add(mine.chunk, std::memory_order_relaxed);
    if (first >= mine.count) return;
    const int64_t last = first + mine.chunk < mine.count ? first + mine.chunk : mine.count;
    mine.body(mine.context, first, last);
  }
}

void* work(void*) {
  uint64_t seen = 0;
  for (;;) {
    spin_until([=] {
      const uint64_t current = generation.load(std::memory_order_acquire);
      return current != seen && current % 2;
    });
    pthread_mutex_lock(&mutex);
    while (generation.load() == seen || generation.load() % 2 == 0) {
      pthread_cond_wait(&started, &mutex);
    }
    seen = generation.load();
    const Job mine = job;
    inside.fetch_add(1);
    pthread_mutex_unlock(&mutex);
    take_chunks(mine);
    pthread_mutex_lock(&mutex);
    if (inside.fetch_sub(1) == 1) pthread_cond_signal(&finished);
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

}  // namespace

namespace bench {

int threads() { return thread_count; }

void run(int64_t count, int64_t chunk, Body body, void* context) {
  if (thread_count == 1 || count <= chunk) {
    next.store(0);
    return take_chunks({count, chunk, body, context});
  }
  pthread_mutex_lock(&mutex);
  job = {count, chunk, body, context};
  next.store(0);
  generation.fetch_add(1);  // odd: open
  pthread_cond_broadcast(&started);
  pthread_mutex_unlock(&mutex);
  take_chunks(job);
  pthread_mutex_lock(&mutex);
  generation.fetch_add(1);  // even: who comes now is late
  pthread_mutex_unlock(&mutex);
  spin_until([] { return inside.load(std::memory_order_acquire) == 0; });
  pthread_mutex_lock(&mutex);  // a worker that lost its processor gets that of the caller
  while (inside.load() != 0) pthread_cond_wait(&finished, &mutex);
  pthread_mutex_unlock(&mutex);
}

}  // namespace bench

extern "C" void bench_set_threads(int32_t count) {
  thread_count = count < kMostThreads ? count : kMostThreads;
  for (; workers < thread_count - 1; ++workers) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_detach(thread);
  }
}
