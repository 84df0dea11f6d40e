// The few C library and kernel interfaces that the pool needs, declared by hand: a machine that
// runs AnyMetal has Clang from a Python wheel, but perhaps no system headers. Layouts and numbers
// are those of Linux on x86-64 and AArch64, the same for both unless an #if says otherwise.
#pragma once

using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = decltype(sizeof 0);

struct SignalSet {
  uint64_t bits[16];
};

struct SignalInfo {
  int signal, error, code, padding;
  void* address;  // of the access, for SIGSEGV and SIGBUS
};

struct SignalAction {
  union {
    void (*plain)(int);
    void (*detailed)(int, SignalInfo*, void*);
    uint64_t bits;  // 0 = default, 1 = ignore
  } handler;
  SignalSet mask;
  int flags;
  void (*restorer)();
};

struct SignalStack {
  void* base;
  int flags;
  size_t size;
};

struct Time {
  int64_t seconds, nanoseconds;
};

struct alignas(8) ThreadAttributes {
  uint8_t opaque[128];  // glibc: 56 bytes on x86-64, 64 on AArch64
};

extern "C" {
void* mmap(void*, size_t, int, int, int, int64_t);
int munmap(void*, size_t);

int clock_gettime(int clock, Time*);
int nanosleep(const Time*, Time*);
int sched_yield();
int sched_getcpu();
int getpid();
int64_t syscall(int64_t, ...);

using Thread = uint64_t;
int pthread_create(Thread*, const ThreadAttributes*, void* (*)(void*), void*);
int pthread_detach(Thread);
int pthread_attr_init(ThreadAttributes*);
int pthread_attr_destroy(ThreadAttributes*);
int pthread_attr_setstacksize(ThreadAttributes*, size_t);
int pthread_attr_setguardsize(ThreadAttributes*, size_t);
int pthread_key_create(uint32_t*, void (*)(void*));
void* pthread_getspecific(uint32_t);
int pthread_setspecific(uint32_t, const void*);

int sigaction(int, const SignalAction*, SignalAction*);
int sigaltstack(const SignalStack*, SignalStack*);
int pthread_sigmask(int, const SignalSet*, SignalSet*);
int raise(int);
int _setjmp(void*) __attribute__((returns_twice));
[[noreturn]] void longjmp(void*, int);
}

constexpr int READ_WRITE = 1 | 2;                      // PROT_READ | PROT_WRITE
constexpr int PRIVATE_ANONYMOUS = 0x02 | 0x20;         // MAP_PRIVATE | MAP_ANONYMOUS
constexpr int NO_RESERVE = 0x4000;                     // MAP_NORESERVE
constexpr int MONOTONIC = 1;                           // CLOCK_MONOTONIC
constexpr int INTERRUPT = 2, ILLEGAL = 4, TRAP = 5, BUS = 7, ARITHMETIC = 8, SEGMENT = 11;
constexpr int DETAILED = 4, ON_STACK = 0x08000000, NO_DEFER = 0x40000000;  // SA_…
constexpr int SET_MASK = 2, STACK_OFF = 2;             // SIG_SETMASK, SS_DISABLE
constexpr int64_t FUTEX_WAIT = 0 | 128, FUTEX_WAKE = 1 | 128;  // for one process (PRIVATE)
constexpr uint64_t DEFAULT_ACTION = 0, IGNORE_ACTION = 1;

#if defined(__x86_64__)
constexpr int64_t CALL_FUTEX = 202, CALL_GETTID = 186, CALL_TGKILL = 234;
constexpr int64_t CALL_SETAFFINITY = 203, CALL_GETAFFINITY = 204;
#elif defined(__aarch64__)
constexpr int64_t CALL_FUTEX = 98, CALL_GETTID = 178, CALL_TGKILL = 131;
constexpr int64_t CALL_SETAFFINITY = 122, CALL_GETAFFINITY = 123;
#else
#error "the thread pool knows x86-64 and AArch64"
#endif

inline void* map_pages(size_t bytes, int flags = PRIVATE_ANONYMOUS) {
  void* pages = mmap(nullptr, bytes, READ_WRITE, flags, -1, 0);
  return pages == reinterpret_cast<void*>(-1) ? nullptr : pages;
}

// Addresses of which only those that are written to become memory.
inline void* reserve_pages(size_t bytes) {
  return map_pages(bytes, PRIVATE_ANONYMOUS | NO_RESERVE);
}

// Of the calling thread, for the system.
inline int32_t this_thread() { return static_cast<int32_t>(syscall(CALL_GETTID)); }

inline uint64_t now() {  // nanoseconds
  Time time;
  clock_gettime(MONOTONIC, &time);
  return static_cast<uint64_t>(time.seconds) * 1000000000u + time.nanoseconds;
}

inline void futex_wait(uint32_t* word, uint32_t expected) {
  syscall(CALL_FUTEX, word, FUTEX_WAIT, int64_t{expected}, nullptr, nullptr, int64_t{0});
}

inline void futex_wake(uint32_t* word, uint32_t threads) {
  syscall(CALL_FUTEX, word, FUTEX_WAKE, int64_t{threads}, nullptr, nullptr, int64_t{0});
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield" ::: "memory");
#endif
}

// Waits a moment without sleeping; true as soon as done() is.
template <typename Done>
bool spin(uint64_t nanoseconds, Done done) {
  for (uint64_t end = now() + nanoseconds;;) {
    for (int attempt = 0; attempt < 16; ++attempt) {
      if (done()) return true;
      relax();
    }
    if (now() >= end) return false;
  }
}

// Atomics in the few orders used here.
template <typename T> T load(const T* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
template <typename T> void store(T* at, T value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
template <typename T> T swap(T* at, T value) {
  return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}
template <typename T> T fetch_add(T* at, T value) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
template <typename T> T fetch_or(T* at, T value) {
  return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);
}
template <typename T> T fetch_and(T* at, T value) {
  return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);
}
// On failure `expected` becomes the value found.
template <typename T> bool replace(T* at, T& expected, T desired) {
  return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_ACQUIRE);
}
