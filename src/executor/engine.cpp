// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "executor/engine.h"

#include <array>

namespace hawser::executor {
namespace {

Result<Execution::Advance> advance(Execution& execution) {
  StraightLine* const straight = execution.straight_line();
  if (straight == nullptr) return execution.advance();
  const std::size_t before = straight->position();
  switch (straight->advance()) {
    case StraightLine::Outcome::kDone:
      return Execution::Advance::kDone;
    case StraightLine::Outcome::kWaiting:
      return straight->position() == before ? Execution::Advance::kIdle : Execution::Advance::kProgress;
    case StraightLine::Outcome::kMismatch:
      return execution.straight_mismatch();
  }
  return Execution::Advance::kIdle;
}

/// Where one queue stands.
struct Progress {
  std::size_t next = 0;  ///< call that runs or will start
  bool is_running = false;
  bool has_ended = false;
};

/// One turn of one queue. kDone when all its calls are.
Result<Execution::Advance> turn(const Queue& queue, Progress& progress) {
  const Call& call = queue.calls[progress.next];
  if (!progress.is_running) {
    call.execution->start(call.buffers, call.stores, *queue.context->transport);
    progress.is_running = true;
  }
  const Execution::Advance outcome = HAWSER_TRY_VALUE(advance(*call.execution));
  if (outcome != Execution::Advance::kDone) return outcome;
  progress.is_running = false;
  return ++progress.next == queue.calls.size() ? Execution::Advance::kDone : Execution::Advance::kProgress;
}

}  // namespace

Status run(Execution& execution, const Context& context) {
  // Most small calls find everything there, or nearly: no waiter yet.
  if (StraightLine* const straight = execution.straight_line()) {
    constexpr int kEagerTurns = 32;
    for (int turn = 0; turn < kEagerTurns; ++turn) {
      const StraightLine::Outcome outcome = straight->advance();
      if (outcome == StraightLine::Outcome::kDone) return {};
      if (outcome == StraightLine::Outcome::kMismatch) return execution.straight_mismatch();
    }
  }
  const std::array<const Context*, 1> contexts = {&context};
  Waiter waiter(contexts);
  while (true) {
    const Result<Execution::Advance> outcome = advance(execution);
    if (!outcome.is_ok()) return outcome.status();
    switch (outcome.value()) {
      case Execution::Advance::kDone:
        return {};
      case Execution::Advance::kProgress:
        waiter.progressed();
        break;
      case Execution::Advance::kIdle:
        HAWSER_TRY(waiter.idle([&](std::size_t) { return execution.blocked_on(); }));
        break;
    }
  }
}

std::vector<Status> run_all(std::span<const Queue> queues) {
  std::vector<Status> outcomes(queues.size());
  std::vector<Progress> progress(queues.size());
  std::vector<const Context*> contexts;
  for (const Queue& queue : queues) contexts.push_back(queue.context);
  Waiter waiter(contexts);
  const auto blocked = [&](std::size_t index) {
    if (progress[index].has_ended || !progress[index].is_running) return Blocked{};
    return queues[index].calls[progress[index].next].execution->blocked_on();
  };
  std::size_t running = 0;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    progress[i].has_ended = queues[i].calls.empty();
    running += progress[i].has_ended ? 0 : 1;
  }
  while (running > 0) {
    bool is_idle = true;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (progress[i].has_ended) continue;
      const Result<Execution::Advance> outcome = turn(queues[i], progress[i]);
      if (outcome.is_ok() && outcome.value() == Execution::Advance::kIdle) continue;
      is_idle = false;
      if (outcome.is_ok() && outcome.value() != Execution::Advance::kDone) continue;
      outcomes[i] = outcome.status();
      progress[i].has_ended = true;
      --running;
    }
    if (!is_idle) {
      waiter.progressed();
      continue;
    }
    if (const Status failure = waiter.idle(blocked); !failure.is_ok()) {
      for (std::size_t i = 0; i < queues.size(); ++i) {
        if (!progress[i].has_ended) outcomes[i] = failure;
      }
      return outcomes;
    }
  }
  return outcomes;
}

}  // namespace hawser::executor
