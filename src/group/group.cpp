// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "group/group.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace hawser::group {
namespace {

struct PendingCall {
  comm::Communicator* comm;
  algorithms::Call call;
  executor::Buffers buffers;
};

struct PendingInit {
  comm::Communicator::InitArgs args;
  comm::Communicator** out;
};

/// What the calling thread has collected. One of the two permitted mutable globals: NCCL's groups are a property of the thread.
struct Scope {
  int depth = 0;
  std::vector<PendingCall> calls;
  std::vector<PendingInit> inits;
  Status first_error;
};

Scope& scope() {
  thread_local Scope instance;
  return instance;
}

Status first_failure(std::span<const Status> outcomes) {
  const auto failed = std::ranges::find_if(outcomes, [](const Status& status) { return !status.is_ok(); });
  return failed == outcomes.end() ? Status() : *failed;
}

/// Joining is collective, so several ranks of one thread join on a thread each.
Status run_inits(std::span<const PendingInit> inits) {
  std::vector<Status> outcomes(inits.size());
  const auto join = [&](std::size_t i) {
    Result<std::unique_ptr<comm::Communicator>> made = comm::Communicator::create(inits[i].args);
    outcomes[i] = made.status();
    if (made.is_ok()) *inits[i].out = std::move(made).value().release();
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < inits.size(); ++i) threads.emplace_back(join, i);
    if (!inits.empty()) join(0);
  }
  return first_failure(outcomes);
}

/// The calls of each communicator, in issue order.
Status run_calls(std::span<const PendingCall> calls) {
  std::vector<comm::Communicator*> owners;
  std::vector<executor::Queue> queues;
  std::vector<Status> outcomes;
  for (const PendingCall& pending : calls) {
    auto place = std::ranges::find(owners, pending.comm);
    if (place == owners.end()) {
      owners.push_back(pending.comm);
      queues.push_back({&pending.comm->context(), {}});
      outcomes.push_back(pending.comm->begin(pending.call));
      place = owners.end() - 1;
    }
    const auto index = static_cast<std::size_t>(place - owners.begin());
    if (!outcomes[index].is_ok()) continue;
    Result<executor::Call> prepared = pending.comm->prepare(pending.call, pending.buffers);
    if (!prepared.is_ok()) {
      outcomes[index] = prepared.status();
      queues[index].calls.clear();
      continue;
    }
    queues[index].calls.push_back(std::move(prepared).value());
  }
  const std::vector<Status> ran = executor::run_all(queues);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    outcomes[i] = owners[i]->end(outcomes[i].is_ok() ? ran[i] : outcomes[i]);
    owners[i]->release_batch();
  }
  return first_failure(outcomes);
}

}  // namespace

Status start() {
  ++scope().depth;
  return {};
}

Status end() {
  Scope& current = scope();
  if (current.depth == 0) return {Code::kInvalidUsage, "ncclGroupEnd: not in a group call."};
  if (--current.depth > 0) return {};
  const std::vector<PendingInit> inits = std::exchange(current.inits, {});
  const std::vector<PendingCall> calls = std::exchange(current.calls, {});
  Status early = std::exchange(current.first_error, {});
  if (!early.is_ok()) return early;
  HAWSER_TRY(run_inits(inits));
  return run_calls(calls);
}

Status all_reduce(const AllReduceArgs& args) {
  const algorithms::Call call{Collective::kAllReduce, args.count, args.type, args.op, 0};
  const executor::Buffers buffers{static_cast<const std::byte*>(args.send), static_cast<std::byte*>(args.receive), 0};
  Scope& current = scope();
  if (current.depth == 0) return args.comm->run(call, buffers);
  current.calls.push_back({args.comm, call, buffers});
  return {};
}

Status init(std::span<const comm::Communicator::InitArgs> args, comm::Communicator** out) {
  std::vector<PendingInit> inits;
  for (std::size_t i = 0; i < args.size(); ++i) inits.push_back({args[i], out + i});
  Scope& current = scope();
  if (current.depth == 0) return run_inits(inits);
  current.inits.insert(current.inits.end(), inits.begin(), inits.end());
  return {};
}

}  // namespace hawser::group
