// A training loop that is recorded now and then: two cycles of three steps, a trace each. Usage: schedule [FOLDER]
#include <xsigma/profiler/profiler.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace xsigma::profiler;

namespace {

// Fits y = a x + b to points of a line, by gradient descent.
struct Model {
  double a = 0;
  double b = 0;

  double train(const std::vector<double>& xs) {
    double loss = 0, slope_a = 0, slope_b = 0;
    {
      XSIGMA_PROFILE_SCOPE("forward and backward");
      for (const double x : xs) {
        const double error = a * x + b - (3 * x - 1);
        loss += error * error;
        slope_a += error * x;
        slope_b += error;
      }
    }
    XSIGMA_PROFILE_SCOPE("update");
    const double rate = 0.5 / static_cast<double>(xs.size());
    a -= rate * slope_a;
    b -= rate * slope_b;
    return loss / static_cast<double>(xs.size());
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<double> xs;
  for (int i = 0; i < 20000; ++i) xs.push_back(std::sin(i));

  ProfileOptions options;
  options.schedule = schedule(/*wait=*/5, /*warmup=*/1, /*active=*/3, /*repeat=*/2, /*skip_first=*/10);
  const TraceHandler save = chromeTraceHandler(folder + "/schedule_{cycle}.json");
  options.on_trace_ready = [&](Profile& profile) {
    const KeyAverage step = profile.result()->keyAverages().at("ProfilerStep*");
    std::printf("cycle %d, after step %d: %d steps, %.3f ms each\n", static_cast<int>(profile.cycle()),
                static_cast<int>(profile.stepNumber() - 1), static_cast<int>(step.calls), step.durations.mean * 1e-6);
    save(profile);
  };
  try {
    ScopedProfile profile(options);
    profile->presetMetadataJson("points", std::to_string(xs.size()));  // in the trace of every cycle
    Model model;
    double loss = 0;
    for (int i = 0; i < 60; ++i) {
      loss = model.train(xs);
      profile->step();
    }
    std::printf("loss %.6f: y = %.3f x + %.3f\n", loss, model.a, model.b);
    if (!profile->lastHandlerError().empty()) return EXIT_FAILURE;
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "not profiled: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
