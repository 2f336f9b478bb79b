// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/nccl_check.h"

#include <fmt/format.h>

#include <filesystem>

#include "perf/common/host.h"

namespace hawser::perf {

Status nccl_status(ncclResult_t result, const char* file, int line) {
  if (result == ncclSuccess) return {};
  const char* last = ncclGetLastError(nullptr);
  return {
      result == ncclTimeout ? Code::kTimeout : Code::kDeviceError,
      fmt::format("{}: Test NCCL failure {}:{} '{} / {}'", host_name(), std::filesystem::path(file).filename().string(),
                  line, ncclGetErrorString(result), last != nullptr ? last : "")};
}

}  // namespace hawser::perf
