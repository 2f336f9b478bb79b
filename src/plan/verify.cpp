// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What is shown for one call holds for calls one after another. A call is complete on a rank when its steps are done and
// its locks released, so nothing touches its buffers after that: peers read or write them only between the begin and the
// end of one of its own steps' accesses. Messages of the next call may queue up behind those of this one; they need
// room, but by then the sender has sent all of this call's, so nobody in this call waits for them.
#include "plan/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/verify_network.h"
#include "plan/verify_races.h"
#include "plan/verify_run.h"
#include "plan/verify_values.h"

namespace hawser::plan {
namespace {

constexpr std::size_t kMostExactRanks = 64;
constexpr int kMostTiles = 1 << 12;

Status check_options(std::span<const Plan> plans, const VerifyOptions& options) {
  if (options.tiles < 1 || options.tiles > kMostTiles) {
    return {Code::kInvalidArgument, fmt::format("verify: tiles {} is not within 1..{}", options.tiles, kMostTiles)};
  }
  if (!options.in_place.empty() && options.in_place.size() != plans.size()) {
    return {Code::kInvalidArgument,
            fmt::format("verify: in_place speaks of {} ranks, there are {}", options.in_place.size(), plans.size())};
  }
  if (options.exact && plans.size() > kMostExactRanks) {
    return {Code::kInvalidArgument,
            fmt::format("verify: exact expressions go to {} ranks, there are {}", kMostExactRanks, plans.size())};
  }
  return {};
}

/// The smallest credit at which all ranks finish: more credit only takes waits away, so the first that does.
Result<int> smallest_credit(const Network& network) {
  const int largest = largest_credit(network);
  for (int credit = 1; credit < largest; ++credit) {
    if (execute(network, {Order::kLanes, 1, credit}).blocked.empty()) return credit;
  }
  const Execution last = execute(network, {Order::kLanes, 1, largest});
  if (last.blocked.empty()) return largest;
  return Status(Code::kInternalError, last.blocked);
}

}  // namespace

Result<Proof> verify(std::span<const Plan> plans, const VerifyOptions& options) {
  HAWSER_TRY(check_options(plans, options));
  HAWSER_TRY(check_structure(plans));
  const Network network = HAWSER_TRY_VALUE(connect(plans, options));
  for (const Plan& plan : plans) {
    const bool is_in_place = !options.in_place.empty() && options.in_place[static_cast<std::size_t>(plan.rank)];
    HAWSER_TRY(check_races(network, plan.rank, is_in_place ? Placement::kInPlace : Placement::kOutOfPlace));
  }
  Proof proof;
  proof.credit = HAWSER_TRY_VALUE(smallest_credit(network));
  const int declared = plans.front().credit;
  if (declared < proof.credit) {
    return Status(Code::kInternalError,
                  fmt::format("credit {} is declared, {} is the least: {}", declared, proof.credit,
                              execute(network, {Order::kLanes, 1, declared}).blocked));
  }
  const Execution straight = execute(network, {Order::kIssue, 1, declared});
  proof.straight_line = straight.blocked.empty();
  if (!proof.straight_line && std::ranges::any_of(plans, &Plan::straight_line)) {
    return Status(Code::kInternalError, "straight_line is declared, but in the order of issue " + straight.blocked);
  }
  const Execution execution = execute(network, {Order::kLanes, options.tiles, declared});
  if (!execution.blocked.empty()) return Status(Code::kInternalError, execution.blocked);
  proof.steps = static_cast<long>(execution.done.size());
  HAWSER_TRY(check_values(network, execution, options));
  return proof;
}

}  // namespace hawser::plan
