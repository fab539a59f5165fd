// xsp verify: is a capture whole, and if not, what is missing.
#pragma once

#include <CLI/CLI.hpp>

namespace xsp {

inline constexpr int kExitWhole = 0;
inline constexpr int kExitUsage = 2;  // asked for something that cannot be done: options, a missing file, a newer format
inline constexpr int kExitLoss = 3;
inline constexpr int kExitCorrupt = 4;

// Adds the verb; `status` gets its exit code when it runs.
void addVerify(CLI::App& app, int& status);

}  // namespace xsp
