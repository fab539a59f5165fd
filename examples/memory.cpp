// Where the memory of a small training loop goes. Usage: memory [NAME], which writes NAME.html, a picture, and NAME.json
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

ReportingResource memory;  // takes memory from the default resource and reports it
using Matrix = std::pmr::vector<float>;
constexpr size_t kSize = 128;

Matrix matrix(MemoryCategory category) {
  const MemoryCategoryGuard guard(category);
  return Matrix(kSize * kSize, 0.01f, &memory);
}

void multiply(const Matrix& a, const Matrix& weights, Matrix& result) {
  XSIGMA_PROFILE_FUNCTION();
  Matrix columns(weights.size(), &memory);  // under no guard, and gone when this scope ends: temporary
  for (size_t i = 0; i < weights.size(); ++i) columns[i % kSize * kSize + i / kSize] = weights[i];
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = 0;
    for (size_t k = 0; k < kSize; ++k) result[i] += a[i / kSize * kSize + k] * columns[i % kSize * kSize + k];
  }
}

struct Layer {
  Matrix weights = matrix(MemoryCategory::parameter);
  Matrix momentum = matrix(MemoryCategory::optimizer_state);
};

void trainStep(std::vector<Layer>& model, std::vector<Matrix>& log) {
  XSIGMA_PROFILE_SCOPE("train step");
  std::vector<Matrix> outputs;
  {
    XSIGMA_PROFILE_SCOPE("forward");
    outputs.push_back(matrix(MemoryCategory::input));
    for (const Layer& layer : model) {
      outputs.push_back(matrix(MemoryCategory::activation));
      multiply(outputs[outputs.size() - 2], layer.weights, outputs.back());
    }
  }
  {
    XSIGMA_PROFILE_SCOPE("backward");
    for (size_t i = model.size(); i-- > 0; outputs.pop_back()) {
      Matrix gradient = matrix(MemoryCategory::gradient);
      multiply(model[i].weights, outputs.back(), gradient);
      for (size_t j = 0; j < gradient.size(); ++j) model[i].weights[j] -= 1e-3f * (model[i].momentum[j] += gradient[j]);
    }
  }
  XSIGMA_PROFILE_SCOPE("keep for the log");  // the mistake of this program: nobody ever throws it away
  log.push_back(Matrix(outputs.front(), &memory));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "memory";
  std::vector<Matrix> log;
  try {
    startMemoryProfile();
    std::thread([&log] {
      XSIGMA_PROFILE_SCOPE("train");
      std::vector<Layer> model(6);
      for (int i = 0; i < 12; ++i) trainStep(model, log);
    }).join();
    stopMemoryProfile();
    exportMemoryProfile(name + ".html");
    exportMemoryProfile(name + ".json");
    std::printf("%s", memoryProfile().summary().c_str());
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "not profiled: %s\n", error.what());
    return 1;
  }
}
