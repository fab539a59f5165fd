#include "profile/cycle_path.h"

#include <string_view>

namespace xsigma::profiler::profile {
namespace {

bool replaceAll(std::string& text, std::string_view mark, const std::string& value) {
  bool any = false;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
    any = true;
  }
  return any;
}

size_t endingOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = path.ends_with(".json.gz") ? path.size() - std::string_view(".json.gz").size() : path.rfind('.');
  return dot == std::string::npos || dot <= name ? path.size() : dot;
}

}  // namespace

std::string cyclePath(std::string path, int64_t cycle, int64_t step) {
  const bool by_cycle = replaceAll(path, "{cycle}", std::to_string(cycle));
  const bool by_step = replaceAll(path, "{step}", std::to_string(step));
  if (!by_cycle && !by_step && cycle > 1) path.insert(endingOf(path), "." + std::to_string(cycle));
  return path;
}

}  // namespace xsigma::profiler::profile
