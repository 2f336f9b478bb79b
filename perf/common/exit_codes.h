// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Exit codes of the *_perf programs, as nccl-tests has them.
#pragma once

#include "base/status.h"

namespace hawser::perf {

inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitSystem = 2;
inline constexpr int kExitNccl = 3;
inline constexpr int kExitTimeout = 4;
inline constexpr int kExitNotImplemented = 5;
inline constexpr int kExitInvalidUsage = 6;
inline constexpr int kExitWrongResults = 7;
inline constexpr int kExitBadSizes = 255;

/// kDeviceError stands for a failed call of the library here (see nccl_check.h).
constexpr int exit_code_of(Code code) {
  switch (code) {
    case Code::kOk:
      return kExitOk;
    case Code::kDeviceError:
    case Code::kRemoteError:
      return kExitNccl;
    case Code::kSystemError:
      return kExitSystem;
    case Code::kTimeout:
      return kExitTimeout;
    case Code::kInvalidArgument:
    case Code::kInvalidUsage:
      return kExitInvalidUsage;
    case Code::kInternalError:
    case Code::kInProgress:
      return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace hawser::perf
