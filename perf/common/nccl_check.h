// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Turns a failed call of the library into a Status with the line that nccl-tests prints.
#pragma once

#include <nccl.h>

#include "base/status.h"

namespace hawser::perf {

/// Success, or kDeviceError (kTimeout for ncclTimeout) with "host: Test NCCL failure file:line 'result / last error'".
/// File and line are those of the call.
Status nccl_status(ncclResult_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace hawser::perf
