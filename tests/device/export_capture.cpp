// What a program under injection has left, as a trace: device_export FILE.xst TRACE.json. For machines on which xsp is not built.
#include <xsigma/profiler/capture.h>
#include <xsigma/profiler/exporter.h>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace xsigma::profiler;
  if (argc != 3) {
    std::fprintf(stderr, "usage: device_export FILE.xst TRACE.json\n");
    return 2;
  }
  const Expected<Capture> capture = openCapture(argv[1]);
  if (!capture) {
    std::fprintf(stderr, "%s\n", capture.message().c_str());
    return 1;
  }
  const Expected<ExportReport> report = exportCapture(*capture, argv[2]);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.message().c_str());
    return 1;
  }
  const Ledger ledger = capture->ledger();
  std::printf("%s: %llu events, closed: %s, dropped: %llu, extras dropped: %llu\n", argv[2],
              static_cast<unsigned long long>(report->events), capture->info().closed ? "yes" : "no",
              static_cast<unsigned long long>(ledger.dropped), static_cast<unsigned long long>(ledger.extras_dropped));
  for (const CaptureProperty& property : capture->properties()) {
    if (property.key == "xsigmaDevices") std::printf("%s: %s\n", property.key.c_str(), property.json.c_str());
  }
  return report->complete && capture->damages().empty() ? 0 : 1;
}
