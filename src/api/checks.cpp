// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "api/checks.h"

#include <fmt/format.h>

namespace hawser::api {

Status null_argument(std::string_view call, std::string_view name) {
  return {Code::kInvalidArgument, fmt::format("{} : {} argument is NULL", call, name)};
}

Status stale_communicator(std::string_view call) {
  return {Code::kInvalidArgument,
          fmt::format("{} : comm argument is not a live communicator: it was destroyed or aborted before, or never "
                      "came from ncclCommInit",
                      call)};
}

Status gpu_stream(cudaStream_t stream, std::string_view call) {
  return {Code::kInvalidArgument,
          fmt::format("{} : stream {} belongs to a GPU, and the device runtime that could use it is not there: this "
                      "communicator is on the host device, which takes the null stream",
                      call, static_cast<const void*>(stream))};
}

Status invalid_data_type(ncclDataType_t type, std::string_view call) {
  return {Code::kInvalidArgument,
          fmt::format("{} : invalid type {}: types are 0 to {}", call, static_cast<int>(type), ncclNumTypes - 1)};
}

Status invalid_reduction(ncclRedOp_t op, std::string_view call) {
  const int number = static_cast<int>(op);
  const std::string why = number < 0 ? "" : ", and ncclRedOpCreatePreMulSum gave out no such handle";
  return {Code::kInvalidArgument, fmt::format("{} : invalid reduction operation {}: 0 to {} are built in{}", call,
                                              number, ncclNumOps - 1, why)};
}

Status too_many_elements(std::size_t count, ncclDataType_t type, std::string_view call) {
  return {Code::kInvalidArgument, fmt::format("{} : count {} is too large: {} bytes each are more than a process has",
                                              call, count, size_of(static_cast<DataType>(type)))};
}

}  // namespace hawser::api
