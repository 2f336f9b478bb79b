// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The border between C++ and C: every call of the API runs its body in guard(), which turns the outcome into an
// ncclResult_t, keeps the sentence for ncclGetLastError() and lets no exception through.
#pragma once

#include <new>

#include "api/exports.h"
#include "base/status.h"

namespace hawser::api {

/// Keeps the sentence of a failed status and writes it to the log as a warning; its code. kInProgress is no failure and
/// leaves no trace.
[[gnu::cold]] ncclResult_t report(const Status& failure) noexcept;

/// report() for what was thrown: memory that ran out is ncclSystemError, anything else a defect.
[[gnu::cold]] ncclResult_t report_out_of_memory() noexcept;
[[gnu::cold]] ncclResult_t report_unknown_exception() noexcept;

/// Runs body, a callable that returns a Status, on behalf of one call of the C API.
template <class Body>
ncclResult_t guard(const Body& body) noexcept {
  try {
    const Status status = body();
    if (status.is_ok()) [[likely]]
      return ncclSuccess;
    return report(status);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  } catch (...) {
    return report_unknown_exception();
  }
}

}  // namespace hawser::api
