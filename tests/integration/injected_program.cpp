// A program that knows nothing of the profiler, and ends in as many ways as there are. What it does for `cuda` is what the driver does in cuInit.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>

#if defined(WITH_LIBRARY)
#include <xsigma/profiler/profiler.h>
#endif

namespace {

void useCuda() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto* const initialize = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  if (initialize == nullptr || initialize() == 0) std::abort();
}

int waitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  usleep(200'000);  // and the parent goes on for a while
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int forkAndGoOn() {
  const pid_t child = fork();
  if (child == 0) _exit(5);
  return waitFor(child) + 1;
}

int forkWithHandlers() {
  const pid_t child = fork();
  if (child == 0) std::exit(5);
  return waitFor(child) + 1;
}

int vforkAndGoOn() {
  const pid_t child = vfork();
  if (child == 0) _exit(5);
  return waitFor(child) + 1;
}

int childUsesCuda() {
  const pid_t child = fork();
  if (child == 0) {
    useCuda();
    std::exit(5);
  }
  return waitFor(child) + 1;
}

int runAnother(const char* self) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "cuda", "return", static_cast<char*>(nullptr));
    std::abort();
  }
  return waitFor(child) + 6;
}

// From a handler that has interrupted the allocator, where hardly anything may be called.
[[noreturn]] void endInHandler() {
  signal(SIGALRM, [](int) { _exit(4); });
  ualarm(20'000, 0);
  for (;;) {
    void* volatile memory = std::malloc(60'000);  // too large for the thread's own cache: a lock is taken
    std::free(memory);
  }
}

int endFromThread() {
  std::thread([] { std::exit(3); }).join();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  if (write(STDOUT_FILENO, "program\n", 8) != 8) return 2;
  const std::string mode = arguments[1];
#if defined(WITH_LIBRARY)
  using namespace xsigma::profiler;
  if (mode == "cuda first") useCuda();
  Expected<Recording> recording = startRecording();
  for (int i = 0; i < 10; ++i) {
    XSIGMA_PROFILE_SCOPE("of the program");
  }
#endif
  if (mode == "cuda") useCuda();
#if defined(WITH_LIBRARY)
  recording->stop();
#endif
  const std::map<std::string, std::function<int()>> ends = {
      {"return", [] { return 3; }},
      {"exit", []() -> int { std::exit(3); }},
      {"_exit", []() -> int { _exit(3); }},
      {"_Exit", []() -> int { std::_Exit(3); }},
      {"quick_exit", []() -> int { std::quick_exit(3); }},
      {"abort", []() -> int { std::abort(); }},
      {"crash", []() -> int { return *static_cast<volatile int*>(nullptr); }},
      {"kill", [] { return kill(getpid(), SIGKILL); }},
      {"fork", forkAndGoOn},
      {"fork with handlers", forkWithHandlers},
      {"vfork", vforkAndGoOn},
      {"child uses cuda", childUsesCuda},
      {"exec", [&] { return runAnother(arguments[0]); }},
      {"handler", []() -> int { endInHandler(); }},
      {"thread", endFromThread},
  };
  return ends.at(arguments[2])();
}
