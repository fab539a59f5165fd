// xsp: the command line of XSigma Profiler. Each verb is a file of its own.
#include <CLI/CLI.hpp>

#include "export.h"
#include "stats.h"
#include "verify.h"

int main(int argc, char** argv) {
  CLI::App app("xsp: looks at what XSigma Profiler has recorded", "xsp");
  app.require_subcommand(1);
  app.set_version_flag("--version", XSP_VERSION);
  app.failure_message(CLI::FailureMessage::help);
  int status = 0;
  xsp::addExport(app, status);
  xsp::addStats(app, status);
  xsp::addVerify(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : xsp::kExitUsage;
  }
  return status;
}
