// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "api/checks.h"

#include <fmt/format.h>

#include <limits>

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

Status check_stream(cudaStream_t stream, std::string_view call) {
  if (stream == nullptr) [[likely]]
    return {};
  return {Code::kInvalidArgument,
          fmt::format("{} : stream {} belongs to a GPU, and the device runtime that could use it is not there: this "
                      "communicator is on the host device, which takes the null stream",
                      call, static_cast<const void*>(stream))};
}

Status check_data_type(ncclDataType_t type, std::string_view call) {
  if (static_cast<unsigned int>(type) < ncclNumTypes) [[likely]]
    return {};
  return {Code::kInvalidArgument,
          fmt::format("{} : invalid type {}: types are 0 to {}", call, static_cast<int>(type), ncclNumTypes - 1)};
}

Status check_reduction(ncclRedOp_t op, std::string_view call) {
  if (static_cast<unsigned int>(op) < ncclNumOps) [[likely]]
    return {};
  const int number = static_cast<int>(op);
  if (number < 0) return {Code::kInvalidArgument, fmt::format("{} : invalid reduction operation {}", call, number)};
  return {
      Code::kInvalidArgument,
      fmt::format("{} : invalid reduction operation {}: 0 to {} are built in, and ncclRedOpCreatePreMulSum gave out "
                  "no such handle",
                  call, number, ncclNumOps - 1)};
}

Status check_buffer(const void* buffer, std::size_t count, ncclDataType_t type, std::string_view call,
                    std::string_view name) {
  if (buffer == nullptr && count != 0) [[unlikely]]
    return null_argument(call, name);
  // Half of the address space is more than any buffer has, and leaves sums of sizes room.
  const std::size_t element_bytes = size_of(static_cast<DataType>(type));
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / element_bytes) [[unlikely]]
    return {Code::kInvalidArgument,
            fmt::format("{} : count {} is too large: {} bytes each are more than an address space", call, count,
                        element_bytes)};
  return {};
}

}  // namespace hawser::api
