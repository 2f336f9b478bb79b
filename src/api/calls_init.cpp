// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Calls that create communicators.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "api/checks.h"
#include "api/comm_config.h"
#include "api/exports.h"
#include "api/guard.h"
#include "bootstrap/bootstrap.h"
#include "group/group.h"

using hawser::Code;
using hawser::Result;
using hawser::Status;
using hawser::api::check_not_null;
using hawser::api::guard;
using hawser::comm::Communicator;

namespace {

/// What one rank asks for, as the C API has it.
struct RankRequest {
  std::string_view call;
  int ranks;
  int rank;
  const ncclConfig_t* config;  ///< may be null
};

Status check_rank(const RankRequest& request) {
  if (request.ranks < 1)
    return {Code::kInvalidArgument,
            fmt::format("{} : nranks {} is no number of ranks: it is at least 1", request.call, request.ranks)};
  if (request.rank < 0 || request.rank >= request.ranks)
    return {Code::kInvalidArgument, fmt::format("{} : invalid rank {}: of {} ranks, the first is 0 and the last {}",
                                                request.call, request.rank, request.ranks, request.ranks - 1)};
  return {};
}

/// Handles are pointers to communicators, so an array of the ones is an array of the others.
Communicator** to_communicators(ncclComm_t* handles) { return reinterpret_cast<Communicator**>(handles); }

Status init_rank(ncclComm_t* comm, const ncclUniqueId& id, const RankRequest& request) {
  HAWSER_TRY(check_not_null(comm, request.call, "comm"));
  HAWSER_TRY(check_rank(request));
  const ncclConfig_t config = HAWSER_TRY_VALUE(hawser::api::complete_config(request.config, request.call));
  HAWSER_TRY(hawser::api::check_config(config, request.call));
  *comm = nullptr;
  const Communicator::InitArgs args = {
      .id = std::bit_cast<hawser::bootstrap::UniqueId>(id),
      .rank = request.rank,
      .ranks = request.ranks,
      .device = 0,
      .blocking = config.blocking != 0,
  };
  return hawser::group::init({&args, 1}, to_communicators(comm));
}

/// The device of each rank. kInvalidArgument for one that cannot be, kInvalidUsage for one that two ranks share.
Result<std::vector<int>> choose_devices(int ranks, const int* devices) {
  std::vector<int> chosen;
  std::unordered_set<int> taken;
  for (int rank = 0; rank < ranks; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    if (device < 0)
      return Status(Code::kInvalidArgument,
                    fmt::format("CommInitAll : invalid device {} for rank {}: devices start at 0", device, rank));
    if (!taken.insert(device).second)
      return Status(Code::kInvalidUsage,
                    fmt::format("CommInitAll : device {} is in the list twice: each rank has its own", device));
    chosen.push_back(device);
  }
  return chosen;
}

Status init_all(ncclComm_t* comms, int ranks, const int* devices) {
  HAWSER_TRY(check_not_null(comms, "CommInitAll", "comm"));
  if (ranks < 1)
    return {Code::kInvalidArgument, fmt::format("CommInitAll : invalid device count {}: it is at least 1", ranks)};
  const std::vector<int> chosen = HAWSER_TRY_VALUE(choose_devices(ranks, devices));
  const hawser::Config config = HAWSER_TRY_VALUE(hawser::read_config());
  const hawser::bootstrap::UniqueId id = HAWSER_TRY_VALUE(hawser::bootstrap::create_unique_id(config));
  std::vector<Communicator::InitArgs> args;
  for (int rank = 0; rank < ranks; ++rank) {
    comms[rank] = nullptr;
    args.push_back({.id = id, .rank = rank, .ranks = ranks, .device = chosen[rank], .blocking = true});
  }
  return hawser::group::init(args, to_communicators(comms));
}

}  // namespace

ncclResult_t hawserGetUniqueId(ncclUniqueId* unique_id) {
  return guard([unique_id]() -> Status {
    HAWSER_TRY(check_not_null(unique_id, "GetUniqueId", "out"));
    const hawser::Config config = HAWSER_TRY_VALUE(hawser::read_config());
    *unique_id = std::bit_cast<ncclUniqueId>(HAWSER_TRY_VALUE(hawser::bootstrap::create_unique_id(config)));
    return {};
  });
}

ncclResult_t hawserCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank) {
  return guard([&] {
    return init_rank(comm, comm_id, {.call = "CommInitRank", .ranks = nranks, .rank = rank, .config = nullptr});
  });
}

ncclResult_t hawserCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank,
                                      ncclConfig_t* config) {
  return guard([&] {
    return init_rank(comm, comm_id, {.call = "CommInitRankConfig", .ranks = nranks, .rank = rank, .config = config});
  });
}

ncclResult_t hawserCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return guard([&] { return init_all(comm, ndev, devlist); });
}
