// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Calls that need no communicator: version and texts of results.
#include "api/checks.h"
#include "api/exports.h"
#include "api/guard.h"

using hawser::api::check_not_null;
using hawser::api::guard;

ncclResult_t hawserGetVersion(int* version) {
  return guard([version]() -> hawser::Status {
    HAWSER_TRY(check_not_null(version, "GetVersion", "version"));
    *version = NCCL_VERSION_CODE;
    return {};
  });
}

// NCCL's texts to the letter: programs and their tests compare them.
const char* hawserGetErrorString(ncclResult_t result) {
  switch (static_cast<int>(result)) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    case ncclTimeout:
      return "timeout";
    default:
      return "unknown result code";
  }
}
