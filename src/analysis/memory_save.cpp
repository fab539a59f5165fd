#include <fmt/format.h>

#include "analysis/memory_html.h"
#include "analysis/memory_json.h"
#include "base/output_file.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler {
namespace {

bool endsWith(const std::string& text, std::string_view ending) {
  return text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

Status MemoryProfile::save(const std::string& path) const {
  const bool html = endsWith(path, ".html");
  if (!html && !endsWith(path, ".json")) {
    return {StatusCode::invalid_argument,
            fmt::format("cannot save the memory profile as '{}': the ending says neither .json nor .html. Use one of them", path)};
  }
  Expected<base::OutputFile> file = base::OutputFile::create(path, "the memory profile");
  if (!file) return file.status();
  if (Status status = html ? analysis::writeMemoryHtml(*this, *file) : analysis::writeMemoryJson(*this, *file); !status) return status;
  return file->finish();
}

}  // namespace xsigma::profiler
