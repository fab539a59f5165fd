// Where the memory of a small training loop goes. Usage: memory [NAME], which writes NAME.html, a picture, and NAME.json
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

ReportingResource memory;  // takes memory from the default resource and reports it
using Matrix = std::pmr::vector<float>;
constexpr size_t kWidth = 128;
constexpr size_t kBatch = 256;

Matrix matrix(size_t rows) { return Matrix(rows * kWidth, 0.01f, &memory); }

Matrix multiply(const Matrix& a, const Matrix& weights) {
  XSIGMA_PROFILE_FUNCTION();
  const Matrix transposed(weights, &memory);  // released before this scope ends: temporary
  Matrix result = matrix(a.size() / kWidth);
  for (size_t i = 0; i < a.size(); ++i) result[i - i % kWidth + i % kWidth] += a[i] * transposed[i % transposed.size()];
  return result;
}

struct Layer {
  Matrix weights;
  Matrix momentum;
};

std::vector<Layer> makeModel(size_t layers) {
  XSIGMA_PROFILE_SCOPE("make model");
  std::vector<Layer> model;
  for (size_t i = 0; i < layers; ++i) {
    const MemoryCategoryGuard parameter(MemoryCategory::parameter);
    Matrix weights = matrix(kWidth);
    const MemoryCategoryGuard state(MemoryCategory::optimizer_state);
    model.push_back({std::move(weights), matrix(kWidth)});
  }
  return model;
}

void trainStep(std::vector<Layer>& model, std::pmr::vector<Matrix>& history) {
  XSIGMA_PROFILE_SCOPE("train step");
  const MemoryCategoryGuard activation(MemoryCategory::activation);
  std::vector<Matrix> outputs;
  {
    XSIGMA_PROFILE_SCOPE("forward");
    outputs.push_back(matrix(kBatch));
    for (const Layer& layer : model) outputs.push_back(multiply(outputs.back(), layer.weights));
  }
  XSIGMA_PROFILE_SCOPE("backward");
  for (size_t i = model.size(); i-- > 0; outputs.pop_back()) {
    const MemoryCategoryGuard gradient(MemoryCategory::gradient);
    const Matrix step = multiply(outputs[i], model[i].weights);
    for (size_t j = 0; j < model[i].weights.size(); ++j) model[i].weights[j] -= 1e-6f * (model[i].momentum[j] += step[j]);
  }
  XSIGMA_PROFILE_SCOPE("keep for the log");  // the leak of this program: nobody ever looks at it
  history.push_back(outputs.front());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "memory";
  std::pmr::vector<Matrix> history(&memory);
  try {
    startMemoryProfile();
    std::thread trainer([&] {
      setThreadName("trainer");
      std::vector<Layer> model = makeModel(6);
      for (int i = 0; i < 12; ++i) trainStep(model, history);
    });
    trainer.join();
    stopMemoryProfile();
    exportMemoryProfile(name + ".html");
    exportMemoryProfile(name + ".json");
    std::printf("%s", memoryProfile().summary().c_str());
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "not profiled: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
