// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Memory of the host device.
#include "api/checks.h"
#include "api/exports.h"
#include "api/guard.h"
#include "device/host_memory.h"

using hawser::Status;
using hawser::api::check_not_null;
using hawser::api::guard;

ncclResult_t hawserMemAlloc(void** ptr, size_t size) {
  return guard([&]() -> Status {
    HAWSER_TRY(check_not_null(ptr, "MemAlloc", "ptr"));
    *ptr = size == 0 ? nullptr : HAWSER_TRY_VALUE(hawser::device::allocate(size));
    return {};
  });
}

// NCCL frees NULL where there is a driver, as free() does; without one each of its calls about memory fails. The host
// device is always there.
ncclResult_t hawserMemFree(void* ptr) {
  return guard([&]() -> Status {
    if (ptr == nullptr) return {};
    return hawser::device::free(ptr);
  });
}
