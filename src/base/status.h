// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The one error mechanism: Status (an outcome) and Result<T> (a value or a failed Status). Every room uses them;
// src/api turns them into ncclResult_t. The function that recognises an error writes its sentence, callers above only
// propagate it (HAWSER_TRY).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace hawser {

/// Outcome codes. The values are those of ncclResult_t, so that src/api converts by a cast.
enum class Code : std::uint8_t {
  kOk = 0,
  kDeviceError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
  kTimeout = 8,
};

/// An outcome: success, or a code with a sentence for the user that names rank, peer, operation and remedy.
/// Success is one null pointer wide and allocates nothing. Copyable, so that a communicator can keep its first error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : failure_(std::make_unique<Failure>(Failure{code, std::move(message)})) {}
  Status(const Status& other) : failure_(other.failure_ ? std::make_unique<Failure>(*other.failure_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) failure_ = other.failure_ ? std::make_unique<Failure>(*other.failure_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  [[nodiscard]] bool is_ok() const { return failure_ == nullptr; }
  [[nodiscard]] Code code() const { return failure_ ? failure_->code : Code::kOk; }
  /// The sentence; empty on success. Valid as long as this Status is.
  [[nodiscard]] const std::string& message() const {
    static const std::string empty;
    return failure_ ? failure_->message : empty;
  }

 private:
  struct Failure {
    Code code;
    std::string message;
  };
  std::unique_ptr<Failure> failure_;
};

/// A value of T, or the failed Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  // A value or a failure is what functions return, so that both convert.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Status failure) : content_(std::in_place_index<1>, std::move(failure)) {}

  [[nodiscard]] bool is_ok() const { return content_.index() == 0; }
  /// The failure; success if there is a value.
  [[nodiscard]] Status status() const { return is_ok() ? Status() : std::get<1>(content_); }
  /// The value. Only after is_ok().
  [[nodiscard]] T& value() & { return *std::get_if<0>(&content_); }
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&content_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&content_)); }

 private:
  std::variant<T, Status> content_;
};

namespace detail {
inline Status take_status(Status status) { return status; }
template <class T>
Status take_status(const Result<T>& result) {
  return result.status();
}
}  // namespace detail

}  // namespace hawser

/// Evaluates a Status or Result expression; on failure returns the failure from the enclosing function. A statement.
#define HAWSER_TRY(expression)                                         \
  do {                                                                 \
    if (auto hawser_outcome = (expression); !hawser_outcome.is_ok())   \
      return ::hawser::detail::take_status(std::move(hawser_outcome)); \
  } while (false)

/// The value of a Result expression; on failure returns the failure from the enclosing function. An expression.
#define HAWSER_TRY_VALUE(expression)                                                              \
  __extension__({                                                                                 \
    auto hawser_outcome = (expression);                                                           \
    if (!hawser_outcome.is_ok()) return ::hawser::detail::take_status(std::move(hawser_outcome)); \
    std::move(hawser_outcome).value();                                                            \
  })
