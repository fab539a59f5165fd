// static_sessions profile|guard|enabled FILE: a program that ends with a session of its main thread still on, held by a static object. Such
// objects go after all that the thread itself had. It exits 0 if the session came to its proper end.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "xsigma/profiler/profiler.h"

namespace {

using namespace xsigma::profiler;

void leave(const std::string& complaint) {
  if (!complaint.empty()) std::printf("FAILED: %s\n", complaint.c_str());
  std::fflush(stdout);
  _Exit(complaint.empty() ? 0 : 1);
}

template <typename Call>
std::string thrownBy(Call call) {
  try {
    call();
  } catch (const ProfilerError& error) {
    return error.what();
  }
  return {};
}

std::string wrongWithFile(const std::string& path) {
  const Expected<Capture> capture = openCapture(path);
  if (!capture) return capture.message();
  size_t scopes = 0;
  capture->forEachRecord(
      [&](const CaptureRecord& record) { scopes += record.kind == RecordKind::scope_end && record.name == "static.main"; });
  return scopes == 1 && capture->ledger().whole() ? "" : "the file does not have the one scope of main";
}

// The first to be made, so the last to go.
struct Check {
  std::string file;  // that should be there; empty: none
  ~Check() {
    if (profilerEnabled() || isProfilerEnabledInMainThread()) leave("a session is still on");
    if (thrownBy([] { disableProfiler(); }).find("not running") == std::string::npos) leave("disableProfiler found a session to end");
    Profile late(ProfileOptions{});
    late.start();  // of all threads: nothing of this thread is needed
    late.stop();
    ProfileOptions own;
    own.all_threads = false;
    if (thrownBy([&] { Profile(own).start(); }).find("is ending") == std::string::npos)
      leave("a thread that has ended got a session of its own");
    leave(file.empty() ? "" : wrongWithFile(file));
  }
};

void holdProfile(const std::string& file) {
  static std::optional<Profile> profile;
  ProfileOptions options;
  options.all_threads = false;
  options.on_trace_ready = [file](Profile& ready) { ready.save(file); };
  profile.emplace(options).start();
}

void holdGuard(const std::string& file) {
  static std::optional<ProfilerGuard> guard;
  guard.emplace(ProfilerConfig(ProfilerState::KINETO), std::set{ActivityType::CPU}, file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  static Check check;
  const std::string way = argv[1];
  const std::string file = argv[2];
  std::filesystem::remove(file);
  if (way == "profile") holdProfile(check.file = file);
  if (way == "guard") holdGuard(check.file = file);
  if (way == "enabled") enableProfiler(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU});
  if (!profilerEnabled()) leave("no session began");
  XSIGMA_PROFILE_SCOPE("static.main");
  return 3;  // the last destructor has the say
}
