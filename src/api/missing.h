// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What calls return that are exported but not there yet. Used by unsupported.cpp, which is generated.
#pragma once

#include <type_traits>

#include "api/exports.h"

namespace hawser::api {

/// Says in ncclGetLastError() that the call is not there yet; ncclInvalidUsage.
ncclResult_t report_missing(const char* call) noexcept;

/// report_missing(), and the value of the call's return type that means no: ncclInvalidUsage, -1, an empty team, or
/// nothing.
template <class Returned>
Returned missing(const char* call) noexcept {
  const ncclResult_t result = report_missing(call);
  if constexpr (std::is_same_v<Returned, ncclResult_t>) {
    return result;
  } else if constexpr (std::is_same_v<Returned, int>) {
    return -1;
  } else if constexpr (!std::is_void_v<Returned>) {
    static_assert(std::is_same_v<Returned, ncclTeam>, "say what this type returns for no");
    return Returned{};
  }
}

}  // namespace hawser::api
