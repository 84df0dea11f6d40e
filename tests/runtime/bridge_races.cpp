// What the bridge shares between threads, apart from Python and MLX, under ThreadSanitizer: plans that
// several threads compile at once, failures, and what goes through the thread pool before a launch.
//
// The pool (pool.cpp) is compiled beside this file. The program ends with status 0 and one line if
// all was as it should be; ThreadSanitizer ends it with 66 if it saw a race.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bridge/fill_copy.h"
#include "bridge/failure.h"
#include "bridge/plan.h"

extern "C" int32_t am_start(uint32_t);
extern "C" int32_t am_run(Call*);

namespace {

using namespace anymetal;

constexpr int kThreads = 8;

std::atomic<int> wrong{0};

void expect(bool fine, const char* what) {
  if (fine) return;
  ++wrong;
  std::printf("%s\n", what);
}

template <typename Work>
void together(Work work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
}

// The first compilation fails, as any may; whoever meets that tries again.
void compile_together(int round) {
  auto tries = std::make_shared<std::atomic<int>>(0);
  auto lazy = std::make_shared<Lazy>([tries, round] {
    if (tries->fetch_add(1) == 0) throw std::runtime_error("not yet");
    auto plan = std::make_unique<Plan>();
    plan->buffers = static_cast<size_t>(round);
    return std::unique_ptr<const Plan>(std::move(plan));
  });
  std::atomic<int> failed{0};
  together([&, lazy](int) {
    for (;;) {
      try {
        const Plan* const plan = lazy->plan();
        expect(plan && plan->buffers == static_cast<size_t>(round), "another plan");
        expect(lazy->plan() == plan, "two plans");
        return;
      } catch (const std::runtime_error&) {
        ++failed;
      }
    }
  });
  expect(failed == 1 && Lazy::being_made() == 0, "failures of compilations");
}

void fail_together(int round) {
  together([=](int number) {
    for (int i = 0; i < 20; ++i) {
      const uint64_t address = static_cast<uint64_t>(round * 1000 + number * 100 + i);
      const std::runtime_error error = failures().add({{"some", {}, {}}, 3, 11, address, {}});
      const auto found = failures().find(error.what());
      expect(found && found->address == address && found->origin.kernel == "some", "another failure");
    }
    expect(!failures().find("kernel `some` failed"), "a failure that never was");
  });
}

void fill_and_copy_together(int round) {
  together([=](int number) {
    const uint32_t rows = 64 + static_cast<uint32_t>(number), columns = 2048;
    std::vector<uint32_t> from(rows * columns), to(rows * columns, 0), value(rows * columns, 0);
    for (uint32_t i = 0; i < rows * columns; ++i) from[i] = i + static_cast<uint32_t>(round);
    const Copy copy{reinterpret_cast<uint8_t*>(from.data()), reinterpret_cast<uint8_t*>(to.data()),
                    4, {columns, rows}, {1, columns}};
    expect(copy(am_run) == OK, "copy");
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < columns; ++c) {
        if (to[c * rows + r] != from[r * columns + c]) return expect(false, "copied wrong");
      }
    }
    Fill fill{0, reinterpret_cast<uint8_t*>(value.data()), value.size() * 4, 4, {}};
    const uint32_t pattern = 0x01020304u + static_cast<uint32_t>(round);
    std::memcpy(fill.value.data(), &pattern, 4);
    expect(fill(am_run) == OK, "fill");
    for (uint32_t word : value) {
      if (word != pattern) return expect(false, "filled wrong");
    }
  });
}

}  // namespace

int main(int, char** words) {
  if (am_start(static_cast<uint32_t>(std::atoi(words[2]))) != OK) return 1;
  for (int round = 1; round <= std::atoi(words[1]); ++round) {
    compile_together(round);
    fail_together(round);
    fill_and_copy_together(round);
  }
  std::printf("%d failures\n", wrong.load());
  return wrong != 0;
}
