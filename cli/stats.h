// xsp stats: what a capture says, as a table.
#pragma once

#include <CLI/CLI.hpp>

namespace xsp {

void addStats(CLI::App& app, int& status);

}  // namespace xsp
