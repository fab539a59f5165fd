// Store: the bytes of a capture. One address range, reserved once; in memory, or the pages of a file.
#pragma once

#include <cstddef>
#include <string>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::capture {

class Store {
 public:
  // The path "" means memory. Nothing is visible under a file's name until publish().
  static Expected<Store> create(const std::string& path, size_t reserve_bytes);
  Store(Store&& other) noexcept;
  Store& operator=(Store&&) = delete;
  ~Store();

  char* base() const { return base_; }
  size_t reservedBytes() const { return reserved_bytes_; }
  size_t backedBytes() const { return backed_bytes_; }
  const std::string& path() const { return path_; }

  // Gives the file its name, replacing what was there.
  Status publish();
  // Makes the first `bytes` writable without a fault that could kill the program. False: disk full, or a limit.
  bool back(size_t bytes) noexcept;
  // Fills page tables ahead of the writers; a hint.
  void populate(size_t offset, size_t bytes) noexcept;
  // Cuts the file after its used part.
  void trim(size_t bytes) noexcept;

 private:
  Store() = default;

  char* reservation_ = nullptr;
  size_t reservation_bytes_ = 0;
  char* base_ = nullptr;
  size_t reserved_bytes_ = 0;
  size_t backed_bytes_ = 0;
  int file_ = -1;
  std::string path_;
  std::string temporary_path_;
};

}  // namespace xsigma::profiler::capture
