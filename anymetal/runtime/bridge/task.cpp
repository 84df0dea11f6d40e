#include "task.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>
#include <unordered_map>

#include "callback.h"
#include "memory.h"

namespace mx = mlx::core;

namespace anymetal {
namespace {

// Launches of so many nanoseconds, as earlier ones tell, on one thread.
constexpr double unnoticeable = 1e6, worth_waiting = 1e5;
// How long the thread that evaluates waits for the stream's, and until it wonders where that one is.
constexpr std::chrono::microseconds companion_comes{60}, companion_waits{30};

// MLX 0.32.4 notices the error of a stream also while it still schedules the graph around it. It then
// never signals the events of what is scheduled already, and who waits for one of those waits for
// ever. So a failure is told when scheduling has had time to end, kernels of the graph that must be
// compiled included; but not later than after two seconds, whatever others do meanwhile.
void let_scheduling_end() {
  for (int glance = 0; glance < 100; ++glance) {
    const bool busy = Lazy::being_made() > 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!busy && Lazy::being_made() == 0) return;
  }
}

bool on_main_thread() {
  thread_local const bool main = syscall(SYS_gettid) == getpid();  // also in the child of a fork
  return main;
}

// The stream's thread as a companion of the main thread, which alone comes here; null if others have
// taken all there are.
Companion* companion_of(mx::Stream stream, const Companions& companions) {
  static std::unordered_map<int, Companion*> known;
  const auto [found, fresh] = known.try_emplace(stream.index, nullptr);
  if (fresh) found->second = companions.add();
  return found->second;
}

// int32_t values as a kernel reads them, in memory that is made of 64-bit words.
template <typename Values>
int64_t* put_words(int64_t* at, const Values& values) {
  auto* words = reinterpret_cast<int32_t*>(at);
  std::copy(values.begin(), values.end(), words);
  return at + (values.size() + 2) / 2;  // at least one, so that there is an address
}

// Words of memory that every description of an input has (DESCRIPTION_BYTES in ir/sizes.py).
constexpr size_t kRoom = 4;

// The memory between the first and the last element in it.
am_extent extent_of(const mx::array& array) {
  if (array.size() == 0 || array.flags().row_contiguous) return {0, array.nbytes()};
  uint64_t before = 0, behind = 0;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    const int64_t reach = (array.shape()[axis] - 1) * array.strides()[axis];
    (reach < 0 ? before : behind) += static_cast<uint64_t>(std::abs(reach));
  }
  return {before * array.itemsize(), (before + behind + 1) * array.itemsize()};
}

int64_t* put_packed_strides(int64_t* at, const mx::Shape& shape) {
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) at[axis] = step;
  return at + shape.size() + 1;
}

}  // namespace

Task::Task(std::shared_ptr<const LaunchDescriptor> descriptor, const Plan* plan,
           int32_t ignored_interrupts, LocationPtr called, mx::Stream stream,
           const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs)
    : descriptor_(std::move(descriptor)),
      plan_(plan),
      ignored_interrupts_(ignored_interrupts),
      called_(std::move(called)),
      interruptible_(on_main_thread()),
      stream_(stream),
      waited_for_(!outputs[0].event().valid()) {  // mx.async_eval gives its arrays one
  outputs_.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    mx::array& output = outputs[i];
    allocate(output, inputs);
    outputs_.emplace_back(output);
    if (output.nbytes() == 0) continue;
    if (const int start = descriptor_->start(i); start >= 0) {
      copy(inputs[start], output.data<uint8_t>());
    } else if (descriptor_->init_value) {
      fills_.push_back(fill_of(i, output.data<uint8_t>(), output.nbytes()));
    }
  }
}

Fill Task::fill_of(size_t output, uint8_t* memory, uint64_t bytes) const {
  const mx::array value(*descriptor_->init_value, descriptor_->dtypes[output]);
  Fill fill{output, memory, bytes, static_cast<uint32_t>(value.itemsize()), {}};
  std::memcpy(fill.value.data(), value.data<uint8_t>(), fill.itemsize);
  return fill;
}

void Task::bind(const std::vector<mx::array>& inputs, const std::vector<mx::array>& outputs,
                mx::cpu::CommandEncoder& encoder) {
  const size_t count = plan_->slots.size() - outputs.size();
  bindings_.emplace(plan_->buffers, inputs, count, &strays_);
  auto slot = plan_->slots.begin();
  for (size_t i = 0; i < count; ++i) {
    const mx::array& input = inputs[i];
    if (input.flags().row_contiguous || !descriptor_->contiguous) {
      bindings_->put(*slot++, const_cast<uint8_t*>(input.data<uint8_t>()), extent_of(input));
    } else {
      bindings_->put(*slot++, contiguous_copy(input, encoder), {0, input.nbytes()});
    }
  }
  for (const mx::array& output : outputs) {
    bindings_->put(*slot++, const_cast<uint8_t*>(output.data<uint8_t>()), {0, output.nbytes()});
  }
  if (!plan_->infos.empty()) describe(inputs);
  if (interruptible_ && worth_watching()) plan_->watch();
}

// Whether anybody could press Ctrl-C while the launch runs, as far as earlier ones tell. To look
// whether our handler still stands in front is a system call, which takes as long as a small kernel;
// for those that prove long the pool looks after a while.
bool Task::worth_watching() const { return known_time() == 0 || known_time() > unnoticeable; }

double Task::known_time() const {
  return descriptor_->lazy_plan->group_time.load(std::memory_order_relaxed) * plan_->call.groups;
}

// A row-contiguous copy, which the task makes first.
void* Task::contiguous_copy(const mx::array& input, mx::cpu::CommandEncoder& encoder) {
  mx::array result(input.shape(), input.dtype(), nullptr, {});
  allocate(result);
  uint8_t* const memory = result.data<uint8_t>();
  copy(input, memory);
  encoder.add_temporary(std::move(result));
  return memory;
}

// Has the task copy an input first. Threads share the rows of a copy: a contiguous array has some.
void Task::copy(const mx::array& input, uint8_t* memory) {
  const uint8_t* const from = input.data<uint8_t>();
  const auto itemsize = static_cast<uint32_t>(input.itemsize());
  if (!input.flags().row_contiguous) {
    copies_.push_back({from, memory, itemsize, {input.shape().begin(), input.shape().end()},
                       {input.strides().begin(), input.strides().end()}});
    return;
  }
  constexpr int64_t row = 4096;
  const auto size = static_cast<int64_t>(input.size());
  const int64_t rows = size / row, behind = rows * row * itemsize;
  if (rows) copies_.push_back({from, memory, itemsize, {rows, row}, {row, 1}});
  if (size % row) copies_.push_back({from + behind, memory + behind, itemsize, {size % row}, {1}});
}

// What parameters say about inputs, as they are bound.
void Task::describe(const std::vector<mx::array>& inputs) {
  size_t size = kRoom;
  for (const Info& info : plan_->infos) size += inputs[info.input].ndim() + 1;
  numbers_.resize(size);
  int64_t* at = numbers_.data();
  for (const Info& info : plan_->infos) {
    const mx::array& input = inputs[info.input];
    bindings_->put(info.slot, at, {0, info.bytes(input.ndim())});
    switch (info.kind) {
      case Info::shape: at = put_words(at, input.shape()); break;
      case Info::ndim: *at++ = static_cast<int64_t>(input.ndim()); break;
      case Info::size: *at++ = static_cast<uint32_t>(input.size()); break;
      case Info::strides:
        if (descriptor_->contiguous || input.flags().row_contiguous) {
          at = put_packed_strides(at, input.shape());
        } else {
          at = std::copy(input.strides().begin(), input.strides().end(), at) + 1;
        }
    }
  }
}

void Task::operator()() {
  expect_inputs();
  make_copies();
  if (!plan_) return fill_outputs({});
  Call call;
  const Special* const special = special_version();
  fill_outputs(special ? special->covered : plan_->covered);
  const int32_t status = launch(*plan_, call, special);
  if (status == FAULT && !plan_->checked()) return run_checked(call);
  expect_ok(status, call.signal, call.address);
  learn(call, special);
  if (plan_->checked()) tell(*plan_);
  descriptor_->lazy_plan->prove(true);
}

// What arrays hold when the kernel begins; the fills are for outputs of which not everything is
// certainly stored.
void Task::make_copies() const {
  for (const Copy& copy : copies_) expect_ok(copy(plan_ ? plan_->run : nullptr));
}

void Task::fill_outputs(const std::vector<uint64_t>& covered) const {
  for (const Fill& fill : fills_) {
    if (fill.output < covered.size() && covered[fill.output] >= fill.bytes) continue;
    expect_ok(fill(plan_ ? plan_->run : nullptr));
  }
}

// A launch of one threadgroup leaves the other processors to launches on other streams. Only the main
// thread, which has room on its stack. Inputs that are evaluated but not available may be so in this very
// graph; then the stream's thread says when all is there, for which it must be awake.
bool Task::can_run_here(const std::vector<mx::array>& inputs) {
  if (!plan_ || !waited_for_ || !interruptible_ || !plan_->companions) return false;
  if (plan_->call.groups == 1 || plan_->call.ordered) return false;
  available_ = std::all_of(inputs.begin(), inputs.end(), [](const mx::array& input) {
    return input.status() == mx::array::Status::available;
  });
  const bool worth_it = descriptor_->lazy_plan->is_proven() && known_time() > worth_waiting;
  if (available_ || worth_it) companion_ = companion_of(stream_, *plan_->companions);
  return companion_;
}

void Task::run_here(std::shared_ptr<Task> task, mx::cpu::CommandEncoder& encoder) {
  struct Led {
    const Companions& companions;
    Companion* const companion;
    const uint32_t number = companions.lead(companion);
    ~Led() { companions.dismiss(companion); }
  } const led{*task->plan_->companions, task->companion_};
  encoder.dispatch([task, number = led.number] { task->meet(number); });
  if (!task->available_ && !task->comes()) return;
  task->awaited_ = true;
  (*task)();
}

// Whether the stream's thread comes soon: it has done all that was to be done before.
bool Task::comes() {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  for (bool made_way = false; steady_clock::now() < start + companion_comes;) {
    if (meeting_.load(std::memory_order_acquire) == here) return true;
    if (made_way || steady_clock::now() < start + companion_waits) continue;
    plan_->companions->make_way(companion_);
    made_way = true;
  }
  Meeting nobody = expected;
  return !meeting_.compare_exchange_strong(nobody, unwanted);
}

// On the stream's thread.
void Task::meet(uint32_t number) {
  Meeting nobody = expected;
  if (!meeting_.compare_exchange_strong(nobody, here)) return (*this)();
  plan_->companions->accompany(companion_, number);
}

// MLX counts all as evaluated that it scheduled behind a launch which turns out to fail, and lets it
// be read. So if the program waits for the evaluation anyway, a launch that may well fail ends before
// more is scheduled: the first one of a plan, and the next ones after a failure.
bool Task::should_be_awaited() const {
  return plan_ && waited_for_ && !descriptor_->lazy_plan->is_proven();
}

void Task::run_awaited(std::shared_ptr<Task> task, mx::cpu::CommandEncoder& encoder) {
  task->awaited_ = true;
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> end = ended->get_future();
  encoder.dispatch([task = std::move(task), ended = std::move(ended)] {
    try {
      (*task)();
      ended->set_value();
    } catch (...) {
      ended->set_exception(std::current_exception());
    }
  });
  end.get();
}

// A launch that reads what was never written fails as well.
void Task::expect_inputs() const {
  const size_t bound = bindings_ ? plan_->slots.size() - descriptor_->dtypes.size() : 0;
  for (size_t i = 0; i < bound; ++i) {
    const void* const address = bindings_->address(plan_->slots[i]);
    if (const auto failure = poisoned().behind(address)) fail(*failure);
  }
  for (const Copy& copy : copies_) {
    if (const auto failure = poisoned().behind(copy.from)) fail(*failure);
  }
}

// The version to launch if there is one for these inputs. With `ANYMETAL_SPECIALISE=eager` it is made
// now; who has Python may be waiting for this very stream, then the general version runs once more.
const Special* Task::special_version() {
  if (!plan_->specials) return nullptr;
  Specials& specials = *plan_->specials;
  const Special* found = specials.fitting(*bindings_);
  Specials::Contents contents;
  if (found || !specials.made_at_once() || !specials.is_hot(*bindings_, 0, contents)) return found;
  ask_python([all = plan_->specials, contents] { all->make(contents); });
  return specials.fitting(*bindings_);
}

// What later launches go by.
void Task::learn(const Call& call, const Special* special) {
  descriptor_->lazy_plan->group_time.store(call.group_time, std::memory_order_relaxed);
  Specials* const specials = plan_->specials.get();
  Specials::Contents contents;
  if (!specials || special || specials->made_at_once() ||
      !specials->is_hot(*bindings_, call.group_time * plan_->call.groups, contents)) {
    return;
  }
  tell_python([all = plan_->specials, contents] { all->make(contents); });
}

int32_t Task::launch(const Plan& plan, Call& call, const Special* special) {
  call = plan.call;
  if (special) call.entry = special->entry;
  call.buffers = bindings_->addresses();
  call.group_time = descriptor_->lazy_plan->group_time.load(std::memory_order_relaxed);
  call.ignored_interrupts = ignored_interrupts_;
  call.interruptible = interruptible_;
  if (plan.checked()) strays_ = {};
  return plan.run(&call);
}

void Task::expect_ok(int32_t status, int32_t signal, uint64_t address) const {
  if (status != OK) fail({origin(), status, signal, address, {}});
}

Origin Task::origin() const {
  return {descriptor_->lazy_plan->kernel, called_, descriptor_->made};
}

void Task::fail(Failure failure) const {
  descriptor_->lazy_plan->prove(false);
  if (!awaited_) {
    for (const Output& output : outputs_) output.poison();
    let_scheduling_end();
    poisoned().add(stream_, failure, outputs_, waited_for_);
  }
  throw failures().add(std::move(failure));
}

}  // namespace anymetal
