// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that the calls of the C API share. Each names the call as NCCL's texts do, most without prefix. What
// is right passes inline, in a compare or two; the sentence for what is wrong is written out of line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "api/exports.h"
#include "base/status.h"
#include "base/types.h"
#include "comm/communicator.h"

namespace hawser::api {

/// kInvalidArgument "CALL : NAME argument is NULL", NCCL's words, which programs look for.
[[gnu::cold]] Status null_argument(std::string_view call, std::string_view name);
/// kInvalidArgument for a handle that is not NULL and not a communicator: destroyed before, or never one.
[[gnu::cold]] Status stale_communicator(std::string_view call);
[[gnu::cold]] Status gpu_stream(cudaStream_t stream, std::string_view call);
[[gnu::cold]] Status invalid_data_type(ncclDataType_t type, std::string_view call);
[[gnu::cold]] Status invalid_reduction(ncclRedOp_t op, std::string_view call);
[[gnu::cold]] Status too_many_elements(std::size_t count, ncclDataType_t type, std::string_view call);

inline Status check_not_null(const void* pointer, std::string_view call, std::string_view name) {
  if (pointer == nullptr) [[unlikely]]
    return null_argument(call, name);
  return {};
}

/// The communicator behind a handle. Does not check it.
inline comm::Communicator* to_communicator(ncclComm_t handle) { return reinterpret_cast<comm::Communicator*>(handle); }

/// Whether an object could lie at this address at all: no small number, aligned, in the half that programs have. So that
/// garbage is not even looked at.
inline bool is_plausible_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address >= 4096 && address % alignof(comm::Communicator) == 0 && address < std::uintptr_t{1} << 56;
}

/// Whether handle is a live communicator, as far as that shows at no cost.
inline Status check_communicator(ncclComm_t handle, std::string_view call) {
  if (handle == nullptr) [[unlikely]]
    return null_argument(call, "comm");
  if (!is_plausible_address(handle) || !comm::Communicator::is_valid(to_communicator(handle))) [[unlikely]]
    return stale_communicator(call);
  return {};
}

/// The host device runs work in the null stream only.
inline Status check_stream(cudaStream_t stream, std::string_view call) {
  if (stream != nullptr) [[unlikely]]
    return gpu_stream(stream, call);
  return {};
}

inline Status check_data_type(ncclDataType_t type, std::string_view call) {
  if (static_cast<unsigned int>(type) >= ncclNumTypes) [[unlikely]]
    return invalid_data_type(type, call);
  return {};
}

/// Built-in reductions. There are no handles of ncclRedOpCreatePreMulSum() yet.
inline Status check_reduction(ncclRedOp_t op, std::string_view call) {
  if (static_cast<unsigned int>(op) >= ncclNumOps) [[unlikely]]
    return invalid_reduction(op, call);
  return {};
}

/// A buffer of count elements of a type that has been checked: there, and its size a number.
inline Status check_buffer(const void* buffer, std::size_t count, ncclDataType_t type, std::string_view call,
                           std::string_view name) {
  // No type has more than 8 bytes, and counts that they cannot make too large are all that occur.
  constexpr std::size_t kLargest = std::numeric_limits<std::ptrdiff_t>::max();
  if (count > kLargest / 8 && count > kLargest / size_of(static_cast<DataType>(type))) [[unlikely]]
    return too_many_elements(count, type, call);
  if (buffer == nullptr && count != 0) [[unlikely]]
    return null_argument(call, name);
  return {};
}

}  // namespace hawser::api
