// ProfilerResult::State: a capture, and what has been worked out from it so far.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kineto/result_table.h"
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma::profiler {

struct ProfilerResult::State {
  State(Capture recorded, ProfilerConfig asked_for, post_process_t post_process);

  Capture capture;
  ProfilerConfig config;
  post_process_t callback;

  const KinetoEvent::Table& table();
  const std::vector<KinetoEvent>& events();
  const std::vector<std::shared_ptr<Result>>& tree();

 private:
  void assemble();
  static void noteTimed(KinetoEvent::Table& assembled);
  void runCallback(KinetoEvent::Table& assembled) const;

  std::once_flag assembled_;
  std::shared_ptr<KinetoEvent::Table> table_;
  std::once_flag listed_;
  std::vector<KinetoEvent> events_;
  std::once_flag grown_;
  std::vector<std::shared_ptr<Result>> tree_;
};

}  // namespace xsigma::profiler
