// The program behind trace.svg: a training loop and the thread that loads its batches. Writes training_loop.json; then
// tools/draw_trace.py training_loop.json docs/images/trace.svg --from MS --to MS --title "Three steps of a training loop and its loader thread"
#include <xsigma/profiler/profiler.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

using Matrix = std::vector<float>;
constexpr size_t kSize = 160;
constexpr int kSteps = 8;

// At most two batches wait; their number is a counter in the trace.
class BatchQueue {
 public:
  void push(Matrix batch) {
    std::unique_lock lock(mutex_);
    {
      XSIGMA_PROFILE_SCOPE("wait");
      changed_.wait(lock, [&] { return batches_.size() < 2; });
    }
    batches_.push(std::move(batch));
    noteChange();
  }
  Matrix pop() {
    XSIGMA_PROFILE_SCOPE("next batch");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty(); });
    Matrix batch = std::move(batches_.front());
    batches_.pop();
    noteChange();
    return batch;
  }

 private:
  void noteChange() {
    recordCounter("queue", static_cast<double>(batches_.size()));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<Matrix> batches_;
};

void load(BatchQueue& queue) {
  setThreadName("loader");
  for (int step = 0; step < kSteps; ++step) {
    XSIGMA_PROFILE_SCOPE("load batch");
    Matrix batch(kSize * kSize);
    {
      XSIGMA_PROFILE_SCOPE("decode");
      unsigned state = static_cast<unsigned>(step) + 1;
      for (int round = 0; round < 40; ++round) {
        for (float& value : batch) value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 1e-8f;
      }
    }
    {
      XSIGMA_PROFILE_SCOPE("augment");
      for (int round = 0; round < 10; ++round) {
        for (float& value : batch) value = std::sin(value);
      }
    }
    queue.push(std::move(batch));
  }
}

void mm(const Matrix& a, const Matrix& b, Matrix& c) {
  XSIGMA_PROFILE_FUNCTION();
  c.assign(kSize * kSize, 0);
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t k = 0; k < kSize; ++k) {
      for (size_t j = 0; j < kSize; ++j) c[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
    }
  }
}

void tanh(Matrix& matrix) {
  XSIGMA_PROFILE_FUNCTION();
  for (int round = 0; round < 6; ++round) {
    for (float& value : matrix) value = std::tanh(value);
  }
}

void train(BatchQueue& queue) {
  setThreadName("main");
  Matrix first(kSize * kSize, 0.01f), second(kSize * kSize, 0.02f), hidden, output, gradient;
  for (int step = 0; step < kSteps; ++step) {
    XSIGMA_PROFILE_SCOPE_DYNAMIC("step " + std::to_string(step));
    const Matrix batch = queue.pop();
    {
      XSIGMA_PROFILE_SCOPE("forward");
      mm(batch, first, hidden);
      tanh(hidden);
      mm(hidden, second, output);
    }
    {
      XSIGMA_PROFILE_SCOPE("backward");
      mm(output, second, gradient);
      mm(gradient, batch, hidden);
    }
    XSIGMA_PROFILE_SCOPE("update");
    for (size_t i = 0; i < first.size(); ++i) first[i] -= 1e-6f * hidden[i];
  }
}

}  // namespace

int main() {
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.profile_all_threads = true;
  enableProfiler(config, {ActivityType::CPU});
  BatchQueue queue;
  std::thread loader(load, std::ref(queue));
  train(queue);
  loader.join();
  const auto result = disableProfiler();
  result->save("training_loop.json");
  std::printf("%zu events\n", result->events().size());
}
