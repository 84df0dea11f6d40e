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
  Plan& plan = *outline_->plan;
  const Failure failure{plan.kernel, FAULT, fault.signal, fault.address, {}};
  const Program* checked;
  try {
    checked = plan.checked();
  } catch (const PythonIsBusy&) {
    fail(failure);
  } catch (...) {
    fail({plan.kernel, FAULT, 0, 0,
          [error = std::current_exception()] { std::rethrow_exception(error); }});
  }
  if (outline_->init_value) {
    for (size_t i = 0; i < outline_->dtypes.size(); ++i) {
      const size_t slot = program_->slots[program_->slots.size() - outline_->dtypes.size() + i];
      const Fill fill = fill_of(i, static_cast<uint8_t*>(bound_->addresses()[slot]), bound_->extent(slot).bytes);
      if (fill.bytes) expect_ok(fill(program_->run));
    }
  }
  Call call;
  const int32_t status = launch(*checked, call);
  expect_ok(status, call.signal, call.address);
  if (!noted().any()) fail(failure);  // it was no access of the kernel's own
  plan.has_strayed();
  tell(*checked);
}

// Warns of what strayed in a launch of the checked build, or fails.
void Task::tell(const Program& checked) {
  const Noted all = noted();
  if (!all.any()) return;
  Plan& plan = *outline_->plan;
  if (refused(all.strays)) {
    fail({plan.kernel, FAULT, 0, 0,
          [all, &checked, whose = outline_->plan] { checked.refuse(all); }});
  }
  const uint32_t site = all.strays.writes.count ? all.strays.writes.site : all.strays.reads.site;
  if (plan.told(site)) return;
  try {
    checked.warn(all);
  } catch (...) {
    fail({plan.kernel, FAULT, 0, 0,
          [error = std::current_exception()] { std::rethrow_exception(error); }});
  }
  plan.tell_no_more(site);
}

Noted Task::noted() {
  std::vector<Shaped> outputs;
  for (size_t i = 0; i < outline_->shapes.size(); ++i) {
    const mx::Shape& shape = outline_->shapes[i];
    outputs.push_back({{shape.begin(), shape.end()}, mx::size_of(outline_->dtypes[i])});
  }
  return bound_->noted(strays_, std::move(outputs));
}

}  // namespace anymetal
