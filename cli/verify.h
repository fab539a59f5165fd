// xsp verify: is a capture whole, and if not, what is missing.
#pragma once

#include <CLI/CLI.hpp>

#include "exit_status.h"

namespace xsp {

// Adds the verb; `status` gets its exit code when it runs.
void addVerify(CLI::App& app, int& status);

}  // namespace xsp
