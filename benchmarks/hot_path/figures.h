// Figures that are no loop of scopes: bytes, stop, resident memory.
#pragma once

#include <string>

namespace hot_path {

double bytesPerScope();
// Milliseconds of Recording::stop() with 10 million scopes recorded; the best of three. The path "" = memory.
double stopMilliseconds(const std::string& path);
// MiB that the process grows by when 640 MiB of records go into 64 MiB, beyond those 64.
double residentOverCap();

}  // namespace hot_path
