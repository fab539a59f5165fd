// A library with CUPTI's face and no GPU behind it: it replays what a real one recorded. A test links it, so that whoever opens libcupti.so by name gets it,
// and plays CUPTI's part from here. One per process, as CUPTI is; a program that tests several things does each in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace xsigma::standin {

// How it behaves. Set before the library under test looks.
struct Behaviour {
  uint32_t version = 0;             // what cuptiGetVersion says; 0 = that of the recording
  bool layouts_of_12_0 = false;     // records as CUDA 12.0 laid them out
  size_t longer_by = 0;             // records of work are so many bytes longer, as those of a later version would be
  bool another_subscriber = false;  // some other tool is subscribed already
  std::string other_name{};         // which is called so
  bool kept_out = false;            // subscribing does not come back as long as this is so
  bool dump_kept_out = false;       // nor does asking for all contexts and streams
  int slow_ends_ms = 0;             // so long the end of a thread takes that has called it
  int slow_finalize_ms = 0;         // so long finalizing takes
  bool no_driver = false;           // CUPTI cannot be initialised
  bool cuda_initialised = true;     // by the program; otherwise the driver tells of no device
  bool no_devices = false;          // the driver shows none
};
void behave(const Behaviour& behaviour);
Behaviour behaviour();

// Of what to replay. False: there is no such file, or it is none of ours; `why` says what is wrong.
bool load(const std::string& path, std::string* why = nullptr);
std::string expectedJson();  // what the recorded program counted
std::string devicesJson();
std::map<std::string, uint32_t> recordedThreads();  // "process", "main", "second"

struct Play {
  uint32_t part = 0;  // 0: a record per node of a graph; 1: one per graph
  bool times_of_now =
      false;  // stretched onto the time since kinds were first enabled, in the clock that was registered; otherwise as recorded
  std::map<uint32_t, uint32_t> ids{};  // of processes and threads: recorded → to be said instead
  uint32_t unknown_records = 0;        // so many of a kind that no one knows come first
  // The device is not done with its work before so many flushes: buffers with records of work stay out until then. A forced flush gets them at once, the
  // records without times.
  int late_flushes = 0;
  bool graph_nodes = true;  // told of first; false: captureGraph and instantiateGraph did it
  int repeat = 1;
};
// What the program did: graph nodes are told to the subscriber, records of the kinds that are enabled go into buffers. Full ones are completed on
// another thread.
void play(const Play& play);

// The program captures the graph of a part, and makes something of it that can be launched: the subscriber is told of the nodes, on this thread.
void captureGraph(uint32_t part = 0);
void instantiateGraph(uint32_t part = 0);

// The program calls a function of CUDA: the subscriber is told, on this thread, if it asked for it.
void call(uint32_t domain, uint32_t cbid, const char* function, int result = 0);

// What was done to it.
struct Seen {
  std::set<uint32_t> enabled_kinds;
  std::set<uint32_t> ever_enabled_kinds;
  bool subscribed = false;
  bool event_timestamps = false;
  bool system_thread_ids = false;
  bool timestamp_callback = false;
  int buffers_requested = 0;
  int buffers_refused = 0;
  int buffers_out = 0;  // given, not completed yet
  int flushes = 0;
  int forced_flushes = 0;
  int finalized = 0;
  int finalized_beside_an_end = 0;  // of a thread: there CUPTI crashes
  int stale_unsubscribes = 0;       // of a subscriber that was gone
  size_t records_written = 0;
  size_t records_dropped = 0;  // ever
  std::map<uint32_t, size_t> written_by_kind;
};
Seen seen();

}  // namespace xsigma::standin
