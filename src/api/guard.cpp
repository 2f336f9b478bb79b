// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "api/guard.h"

#include <string_view>

#include "api/last_error.h"
#include "base/log.h"

namespace hawser::api {

namespace {

ncclResult_t report_text(Code code, std::string_view text) noexcept {
  set_last_error(text);
  // Not log::warn(): that formats, and formatting allocates.
  if (log::is_on(log::Level::kWarn)) log::write(log::Level::kWarn, text);
  return static_cast<ncclResult_t>(code);
}

}  // namespace

ncclResult_t report(const Status& failure) noexcept {
  if (failure.code() == Code::kInProgress) return ncclInProgress;
  return report_text(failure.code(), failure.message());
}

ncclResult_t report_out_of_memory() noexcept {
  return report_text(Code::kSystemError,
                     "out of memory: the process may not allocate more (see ulimit -v and cgroups)");
}

ncclResult_t report_unknown_exception() noexcept {
  return report_text(Code::kInternalError, "an exception reached the C API: a defect of Hawser, please report it");
}

}  // namespace hawser::api
