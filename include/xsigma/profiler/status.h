// Status, Expected<T> and ProfilerError: how the profiler says what went wrong.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

// Thrown by the seed-shaped calls on misuse. what() says what was asked, what was found and what to do.
class XSIGMA_PROFILER_API ProfilerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~ProfilerError() override;
};

enum class StatusCode : unsigned char {
  ok,
  invalid_argument,  // an option or an environment value that cannot be honoured
  not_found,         // no such file
  io_error,          // the system refused: path, permission, space
  busy,              // somebody else holds what was asked for
  unsupported,       // this build or this machine cannot
  corrupt,           // bytes that are not a capture, or no longer one
  too_new,           // a capture of a later major version
};

// Success, or a code with a message for a person.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const noexcept { return code_ == StatusCode::ok; }
  explicit operator bool() const noexcept { return ok(); }
  StatusCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

// A value, or the Status that says why there is none. value() throws ProfilerError with that message.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) {}

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  const Status& status() const noexcept { return status_; }
  const std::string& message() const noexcept { return status_.message(); }

  T& value() & { return checked(); }
  T&& value() && { return std::move(checked()); }
  const T& value() const& { return const_cast<Expected*>(this)->checked(); }
  T& operator*() & { return checked(); }
  T&& operator*() && { return std::move(checked()); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& checked() {
    if (!value_) throw ProfilerError(status_.message());
    return *value_;
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace xsigma::profiler
