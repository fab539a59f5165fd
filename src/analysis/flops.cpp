#include "xsigma/profiler/flops.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "base/log.h"

namespace xsigma::profiler {
namespace {

using Inputs = std::vector<RecordedInput>;
using Sizes = std::vector<int64_t>;

const Sizes* tensor(const Inputs& inputs, size_t index, size_t dim) {
  if (index >= inputs.size() || inputs[index].kind != InputValue::Kind::tensor || inputs[index].sizes.size() != dim) return nullptr;
  const bool sound = std::all_of(inputs[index].sizes.begin(), inputs[index].sizes.end(), [](int64_t size) { return size >= 0; });
  return sound ? &inputs[index].sizes : nullptr;
}

// As large as can be said, where it is larger.
uint64_t product(std::initializer_list<int64_t> factors) {
  uint64_t result = 1;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
    if (__builtin_mul_overflow(result, static_cast<uint64_t>(factor), &result)) result = UINT64_MAX;
  }
  return result;
}

// 2·M·K·N of the operands at `first` and the one after it, times the batch.
uint64_t matrixProduct(const Inputs& inputs, size_t first, size_t batch_dims) {
  const Sizes* const a = tensor(inputs, first, 2 + batch_dims);
  const Sizes* const b = tensor(inputs, first + 1, 2 + batch_dims);
  if (a == nullptr || b == nullptr) return 0;
  const bool fits = (*a)[batch_dims + 1] == (*b)[batch_dims] && (batch_dims == 0 || a->front() == b->front());
  if (!fits) return 0;
  const int64_t batch = batch_dims == 0 ? 1 : a->front();
  return product({2, batch, (*a)[batch_dims], (*a)[batch_dims + 1], b->back()});
}

uint64_t mm(const Inputs& inputs) { return matrixProduct(inputs, 0, 0); }
uint64_t addmm(const Inputs& inputs) { return matrixProduct(inputs, 1, 0); }
uint64_t bmm(const Inputs& inputs) { return matrixProduct(inputs, 0, 1); }
uint64_t baddbmm(const Inputs& inputs) { return matrixProduct(inputs, 1, 1); }

uint64_t elementwise(const Inputs& inputs) {
  if (inputs.empty() || inputs[0].kind != InputValue::Kind::tensor) return 0;
  uint64_t elements = 1;
  for (const int64_t size : inputs[0].sizes) {
    if (size <= 0) return 0;
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements)) elements = UINT64_MAX;
  }
  return elements;
}

// A scalar counts for both directions.
bool pair(const RecordedInput& input, int64_t (&values)[2]) {
  if (input.kind == InputValue::Kind::integer) {
    values[0] = values[1] = input.integer;
    return true;
  }
  if (input.kind != InputValue::Kind::list || input.items.empty() || input.items.size() > 2) return false;
  for (size_t i = 0; i < 2; ++i) values[i] = input.items[std::min(i, input.items.size() - 1)].integer;
  return true;
}

// 2·N·outH·outW·kH·kW·Cin·Cout/groups: input, weight, bias, stride, padding, dilation, groups.
uint64_t conv2d(const Inputs& inputs) {
  const Sizes* const input = tensor(inputs, 0, 4);
  const Sizes* const weight = tensor(inputs, 1, 4);
  int64_t stride[2];
  int64_t padding[2];
  int64_t dilation[2];
  if (input == nullptr || weight == nullptr || inputs.size() < 7 || !pair(inputs[3], stride) || !pair(inputs[4], padding) ||
      !pair(inputs[5], dilation) || inputs[6].kind != InputValue::Kind::integer || inputs[6].integer <= 0) {
    return 0;
  }
  int64_t out[2];
  for (size_t i = 0; i < 2; ++i) {
    if (stride[i] <= 0) return 0;
    const int64_t reach = dilation[i] * ((*weight)[i + 2] - 1) + 1;
    out[i] = ((*input)[i + 2] + 2 * padding[i] - reach) / stride[i] + 1;
    if (out[i] <= 0) return 0;
  }
  return product({2, (*input)[0], out[0], out[1], (*weight)[2], (*weight)[3], (*input)[1], (*weight)[0]}) /
         static_cast<uint64_t>(inputs[6].integer);
}

struct Formula {
  explicit Formula(FlopsFormula formula) : call(std::move(formula)) {}
  FlopsFormula call;
  std::once_flag warned;
};

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, std::shared_ptr<Formula>, std::less<>> formulas;

  Registry() {
    const auto add = [this](const char* name, uint64_t (*formula)(const Inputs&)) { formulas[name] = std::make_shared<Formula>(formula); };
    add("mm", mm);
    add("addmm", addmm);
    add("bmm", bmm);
    add("baddbmm", baddbmm);
    add("conv2d", conv2d);
    add("add", elementwise);
    add("mul", elementwise);
  }
};

// Never destroyed: a result may be read after main.
Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

std::string_view plainName(std::string_view name) {
  constexpr std::string_view kPrefix = "aten::";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  return name;
}

}  // namespace

void registerFlops(std::string_view name, FlopsFormula formula) {
  Registry& all = registry();
  const std::string key(plainName(name));
  const std::unique_lock lock(all.mutex);
  if (formula) {
    all.formulas[key] = std::make_shared<Formula>(std::move(formula));
  } else {
    all.formulas.erase(key);
  }
}

// The formula runs without the lock: it may register others.
uint64_t flopsOf(std::string_view name, const Inputs& inputs) {
  Registry& all = registry();
  std::shared_ptr<Formula> formula;
  {
    const std::shared_lock lock(all.mutex);
    const auto found = all.formulas.find(plainName(name));
    if (found == all.formulas.end()) return 0;
    formula = found->second;
  }
  std::string why = "something that is no std::exception";
  try {
    return formula->call(inputs);
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
  }
  std::call_once(formula->warned,
                 [&] { base::warn("the FLOPs formula of '" + std::string(name) + "' threw: " + why + ". Such calls count 0"); });
  return 0;
}

}  // namespace xsigma::profiler
