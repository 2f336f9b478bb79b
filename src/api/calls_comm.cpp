// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Calls that ask a communicator or end it.
#include <memory>

#include "api/checks.h"
#include "api/exports.h"
#include "api/guard.h"

using hawser::Code;
using hawser::Status;
using hawser::api::check_communicator;
using hawser::api::check_not_null;
using hawser::api::guard;
using hawser::api::to_communicator;
using hawser::comm::Communicator;

namespace {

/// Writes what a question to the communicator answers.
ncclResult_t answer(ncclComm_t comm, int* out, const char* call, const char* out_name,
                    int (Communicator::*question)() const) {
  return guard([&]() -> Status {
    HAWSER_TRY(check_communicator(comm, call));
    HAWSER_TRY(check_not_null(out, call, out_name));
    *out = (to_communicator(comm)->*question)();
    return {};
  });
}

}  // namespace

ncclResult_t hawserCommCount(const ncclComm_t comm, int* count) {
  return answer(comm, count, "CommCount", "count", &Communicator::ranks);
}

ncclResult_t hawserCommUserRank(const ncclComm_t comm, int* rank) {
  return answer(comm, rank, "CommUserRank", "rank", &Communicator::rank);
}

ncclResult_t hawserCommCuDevice(const ncclComm_t comm, int* device) {
  return answer(comm, device, "CommCuDevice", "devid", &Communicator::device);
}

ncclResult_t hawserCommGetAsyncError(ncclComm_t comm, ncclResult_t* async_error) {
  return guard([&]() -> Status {
    HAWSER_TRY(check_communicator(comm, "ncclGetAsyncError"));
    HAWSER_TRY(check_not_null(async_error, "ncclGetAsyncError", "asyncError"));
    const Status error = to_communicator(comm)->async_error();
    // Whoever sees the code here asks for its sentence next.
    *async_error = error.is_ok() ? ncclSuccess : hawser::api::report(error);
    return {};
  });
}

ncclResult_t hawserCommFinalize(ncclComm_t comm) {
  return guard([comm]() -> Status {
    if (comm == nullptr) return {};
    HAWSER_TRY(check_communicator(comm, "CommFinalize"));
    return to_communicator(comm)->finalize();
  });
}

ncclResult_t hawserCommDestroy(ncclComm_t comm) {
  return guard([comm]() -> Status {
    if (comm == nullptr) return {};
    HAWSER_TRY(check_communicator(comm, "CommDestroy"));
    const std::unique_ptr<Communicator> owned(to_communicator(comm));
    return {};
  });
}

ncclResult_t hawserCommAbort(ncclComm_t comm) {
  return guard([comm]() -> Status {
    if (comm == nullptr) return {};
    HAWSER_TRY(check_communicator(comm, "CommAbort"));
    const std::unique_ptr<Communicator> owned(to_communicator(comm));
    owned->abort();
    return {};
  });
}
