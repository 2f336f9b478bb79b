// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "api/missing.h"

#include "api/guard.h"

namespace hawser::api {

ncclResult_t report_missing(const char* call) noexcept {
  return guard([call] {
    return Status(Code::kInvalidUsage,
                  std::string(call) + " : not implemented in Hawser " HAWSER_VERSION "; nothing was done");
  });
}

}  // namespace hawser::api
