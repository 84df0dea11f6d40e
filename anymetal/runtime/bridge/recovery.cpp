// What becomes of a launch that has faulted: it runs again in a checked build (passes/check_bounds.py).

#include <cstdlib>
#include <cstring>

#include "task.h"

namespace mx = mlx::core;

namespace anymetal {
namespace {

// Whether what strayed is an error: what `Report` in targets/cpu/faults.py goes by, too.
bool refused(const am_strays& strays) {
  const char* const mode = std::getenv("ANYMETAL_FAULTS");
  if (mode == nullptr || *mode == 0) return strays.writes.count != 0;
  return std::strcmp(mode, "raise") == 0;
}

}  // namespace

// The kernel has faulted. Its inputs are as they were, so it can run again, with bounds checks.
void Task::run_checked(const Call& fault) {
  LazyPlan& lazy_plan = *descriptor_->lazy_plan;
  const Failure failure{origin(), FAULT, fault.signal, fault.address, {}};
  const Plan* checked;
  try {
    checked = lazy_plan.checked();
  } catch (const PythonIsBusy&) {
    fail(failure);
  } catch (...) {
    fail({origin(), FAULT, 0, 0,
          [error = std::current_exception()] { std::rethrow_exception(error); }});
  }
  make_copies();  // it has written to its outputs
  fill_outputs({});
  Call call;
  const int32_t status = launch(*checked, call);
  expect_ok(status, call.signal, call.address);
  if (!noted().any()) fail(failure);  // it was no access of the kernel's own
  lazy_plan.has_strayed();
  tell(*checked);
}

// Warns of what strayed in a launch of the checked build, or fails.
void Task::tell(const Plan& checked) {
  const Noted all = noted();
  if (!all.any()) return;
  LazyPlan& lazy_plan = *descriptor_->lazy_plan;
  if (refused(all.strays)) {
    fail({origin(), FAULT, 0, 0,
          [all, &checked, whose = descriptor_->lazy_plan] { checked.refuse(all); }});
  }
  const uint32_t site = all.strays.writes.count ? all.strays.writes.site : all.strays.reads.site;
  if (lazy_plan.told(site)) return;
  try {
    checked.warn(all);
  } catch (...) {
    fail({origin(), FAULT, 0, 0,
          [error = std::current_exception()] { std::rethrow_exception(error); }});
  }
  lazy_plan.tell_no_more(site);
}

Noted Task::noted() {
  std::vector<Shaped> outputs;
  for (size_t i = 0; i < descriptor_->shapes.size(); ++i) {
    const mx::Shape& shape = descriptor_->shapes[i];
    outputs.push_back({{shape.begin(), shape.end()}, mx::size_of(descriptor_->dtypes[i])});
  }
  return bindings_->noted(strays_, std::move(outputs));
}

}  // namespace anymetal
