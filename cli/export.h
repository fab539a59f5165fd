// xsp export: a capture as a file for viewers.
#pragma once

#include <CLI/CLI.hpp>

namespace xsp {

void addExport(CLI::App& app, int& status);

}  // namespace xsp
