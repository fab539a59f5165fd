// What make demo runs: threads that multiply matrices, with shapes, floating-point operations and memory.
// Usage: workload [NAME], which writes NAME.xst (the capture), NAME.json (the trace) and NAME.html (the picture of memory)
#include <xsigma/profiler/profiler.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

ReportingResource memory;  // takes memory from the default resource and reports it

struct Matrix {
  explicit Matrix(int64_t n) : sizes{n, n}, values(static_cast<size_t>(n * n), &memory) {}
  float& at(int64_t row, int64_t column) { return values[static_cast<size_t>(row * sizes[0] + column)]; }
  operator InputValue() const { return TensorInfo{values.data(), sizes, nullptr, 2, "float", {}}; }

  int64_t sizes[2];
  std::pmr::vector<float> values;
};

// The name is one that a formula for floating-point operations is known by.
Matrix product(Matrix& a, Matrix& b) {
  XSIGMA_RECORD_FUNCTION("mm", std::vector<InputValue>({a, b}));
  const int64_t n = a.sizes[0];
  Matrix result(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < n; ++j) result.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return result;
}

void normalize(Matrix& matrix) {
  XSIGMA_PROFILE_FUNCTION();
  float largest = 0;
  for (const float value : matrix.values) largest = std::max(largest, std::abs(value));
  for (float& value : matrix.values) value /= largest;
}

Matrix randomMatrix(int64_t n) {
  XSIGMA_PROFILE_FUNCTION();
  Matrix matrix(n);
  for (float& value : matrix.values) value = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX);
  return matrix;
}

void keep(const Matrix& matrix, std::vector<Matrix>& history) {
  XSIGMA_PROFILE_FUNCTION();
  Matrix copy(matrix.sizes[0]);
  copy.values = matrix.values;
  history.push_back(std::move(copy));
}

// Squares a matrix again and again, and keeps every third result.
void powerIteration(int64_t n, int steps, std::vector<Matrix>& history) {
  XSIGMA_PROFILE_FUNCTION();
  Matrix current = randomMatrix(n);
  for (int step = 0; step < steps; ++step) {
    XSIGMA_PROFILE_SCOPE("step");
    current = product(current, current);
    normalize(current);
    if (step % 3 == 0) keep(current, history);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "workload";
  ProfilerConfig config(ProfilerState::KINETO);
  config.report_input_shapes = config.profile_memory = config.with_flops = true;
  config.experimental_config.profile_all_threads = true;
  config.experimental_config.capture.path = name + ".xst";
  std::vector<Matrix> kept[2];
  try {
    enableProfiler(config, {ActivityType::CPU});
    std::thread small(powerIteration, 96, 24, std::ref(kept[0])), large(powerIteration, 192, 12, std::ref(kept[1]));
    small.join();
    large.join();
    const auto result = disableProfiler();
    result->save(name + ".json");
    std::printf("%s", result->keyAverages({true, 0, false}).table().c_str());
    const MemoryProfile profile = analyzeMemory(result->capture());
    std::printf("\n%s", profile.summary().c_str());
    if (const Status status = profile.save(name + ".html"); !status) throw ProfilerError(status.message());
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "not profiled: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
