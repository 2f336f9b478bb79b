// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/builder.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hawser::plan {
namespace {

/// A region access of one step, as far as conflicts are concerned.
struct Access {
  const Region* region;
  bool is_write;
  bool is_sent;  // a receiver may read it in place until it releases the message
};

/// A step and where it stands.
struct Placed {
  const Step* step;
  int lane;
  int index;
  std::vector<Access> accesses;
};

bool overlaps(const Run& a, const Run& b) { return a.first < b.first + b.count && b.first < a.first + a.count; }

/// The part of `run` (a run of `from`) that is the same memory as chunks of the other of input and output.
std::optional<Run> aliased(const Run& run, Space from, const Aliasing& aliasing) {
  const int first = from == Space::kInput ? aliasing.input_first : aliasing.output_first;
  const int other = from == Space::kInput ? aliasing.output_first : aliasing.input_first;
  const int begin = std::max(run.first, first);
  const int end = std::min(run.first + run.count, first + aliasing.chunks);
  if (begin >= end) return std::nullopt;
  return Run{begin - first + other, end - begin};
}

bool may_share_memory(const Region& a, const Region& b, const Aliasing& aliasing) {
  const bool is_same_space = a.space == b.space;
  if (!is_same_space && (a.space == Space::kScratch || b.space == Space::kScratch)) return false;
  for (const Run& run_a : a.runs) {
    const std::optional<Run> run = is_same_space ? std::optional(run_a) : aliased(run_a, a.space, aliasing);
    if (!run) continue;
    for (const Run& run_b : b.runs) {
      if (overlaps(*run, run_b)) return true;
    }
  }
  return false;
}

std::vector<Access> accesses_of(const Step& step) {
  const bool is_sent = may_be_read_in_place(step);
  std::vector<Access> accesses;
  for (const Source& source : step.sources) {
    if (source.stream < 0) accesses.push_back({&source.region, false, is_sent && is_move(step)});
  }
  for (const Destination& destination : step.destinations) {
    // A result that is stored and sent may be read in place where it was stored.
    if (destination.stream < 0) accesses.push_back({&destination.region, true, is_sent});
  }
  return accesses;
}

enum class Conflict : std::uint8_t { kNone, kFinished, kReleased };

/// What `later` must wait for in `earlier`.
Conflict conflict_between(const Placed& earlier, const Placed& later, const Aliasing& aliasing, bool scratch_only) {
  Conflict worst = Conflict::kNone;
  for (const Access& a : earlier.accesses) {
    for (const Access& b : later.accesses) {
      if (!a.is_write && !b.is_write) continue;
      if (scratch_only && a.region->space != Space::kScratch) continue;
      if (!may_share_memory(*a.region, *b.region, aliasing)) continue;
      const bool must_be_released = a.is_sent && b.is_write;
      worst = std::max(worst, must_be_released ? Conflict::kReleased : Conflict::kFinished);
    }
  }
  return worst;
}

/// Whether `later` needs an After for the conflict. Within a lane the order is given, except that a landing may be
/// posted ahead of the lane, and that the lane does not wait for the release of what it sent.
bool must_be_named(Conflict conflict, const Placed& earlier, const Placed& later) {
  if (conflict == Conflict::kNone) return false;
  return earlier.lane != later.lane || conflict == Conflict::kReleased || may_land_directly(*later.step);
}

std::vector<Placed> in_issue_order(const Plan& plan) {
  std::vector<Placed> placed;
  for (int lane = 0; lane < static_cast<int>(plan.lanes.size()); ++lane) {
    const std::vector<Step>& steps = plan.lanes[static_cast<std::size_t>(lane)].steps;
    for (int index = 0; index < static_cast<int>(steps.size()); ++index) {
      const Step& step = steps[static_cast<std::size_t>(index)];
      placed.push_back({&step, lane, index, accesses_of(step)});
    }
  }
  std::ranges::sort(placed, {}, [](const Placed& p) { return p.step->issue; });
  return placed;
}

/// Dependencies of `later` on the steps before it in the same tile, and on all steps of the tile that used the same
/// scratch copy.
std::vector<After> dependencies(const Placed& later, std::span<const Placed> all, const Plan& plan) {
  const Aliasing aliasing = in_place_aliasing(plan);
  std::vector<After> after;
  for (const Placed& earlier : all) {
    const bool is_before = earlier.step->issue < later.step->issue;
    const Conflict conflict = is_before ? conflict_between(earlier, later, aliasing, false) : Conflict::kNone;
    if (must_be_named(conflict, earlier, later)) {
      after.push_back({earlier.lane, earlier.index, 0, conflict == Conflict::kReleased});
    }
    if (plan.scratch.empty()) continue;
    const Conflict across = conflict_between(earlier, later, aliasing, true);
    if (must_be_named(across, earlier, later)) {
      after.push_back({earlier.lane, earlier.index, plan.window, across == Conflict::kReleased});
    }
  }
  return after;
}

Source local(Space space, int chunk, int count) { return {-1, {space, {{chunk, count}}}, false}; }

}  // namespace

Source in(int chunk, int count) {
  Source source = local(Space::kInput, chunk, count);
  source.apply_pre = true;
  return source;
}
Source out(int chunk, int count) { return local(Space::kOutput, chunk, count); }
Source scratch(int chunk, int count) { return local(Space::kScratch, chunk, count); }
Source recv(int stream) { return {stream, {}, false}; }
Source recv_raw(int stream) { return {stream, {}, true}; }
Destination to_out(int chunk, int count) { return {-1, {Space::kOutput, {{chunk, count}}}}; }
Destination to_scratch(int chunk, int count) { return {-1, {Space::kScratch, {{chunk, count}}}}; }
Destination send(int stream) { return {stream, {}}; }

PlanBuilder::PlanBuilder(const Frame& frame) {
  plan_.algorithm = frame.algorithm;
  plan_.collective = frame.collective;
  plan_.rank = frame.rank;
  plan_.ranks = frame.ranks;
  plan_.root = frame.root;
  plan_.input = frame.input;
  plan_.output = frame.output;
}

int PlanBuilder::stream(int sender, std::span<const int> receivers, int number) {
  Stream wanted{sender, {receivers.begin(), receivers.end()}, number};
  std::ranges::sort(wanted.receivers);
  const auto found = std::ranges::find(plan_.streams, wanted);
  if (found != plan_.streams.end()) return static_cast<int>(found - plan_.streams.begin());
  plan_.streams.push_back(std::move(wanted));
  return static_cast<int>(plan_.streams.size()) - 1;
}

int PlanBuilder::stream(int sender, int receiver, int number) {
  return stream(sender, std::span(&receiver, 1), number);
}

int PlanBuilder::lane() {
  plan_.lanes.emplace_back();
  return static_cast<int>(plan_.lanes.size()) - 1;
}

int PlanBuilder::scratch_like(Space space, int chunk) {
  plan_.scratch.push_back({space, {{chunk, 1}}});
  return static_cast<int>(plan_.scratch.size()) - 1;
}

void PlanBuilder::step(int lane, std::vector<Source> sources, std::vector<Destination> destinations,
                       StepOptions options) {
  Step step;
  step.shape = std::move(options.shape);
  for (const Source& source : sources) {
    if (source.stream < 0 && step.shape.runs.empty()) step.shape = source.region;
  }
  for (const Destination& destination : destinations) {
    if (destination.stream < 0 && step.shape.runs.empty()) step.shape = destination.region;
  }
  step.sources = std::move(sources);
  step.destinations = std::move(destinations);
  step.apply_post = options.apply_post;
  step.issue = issued_++;
  plan_.lanes.at(static_cast<std::size_t>(lane)).steps.push_back(std::move(step));
}

Plan PlanBuilder::finish() {
  const std::vector<Placed> all = in_issue_order(plan_);
  std::vector<std::vector<After>> derived;
  derived.reserve(all.size());
  for (const Placed& placed : all) derived.push_back(dependencies(placed, all, plan_));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Lane& lane = plan_.lanes[static_cast<std::size_t>(all[i].lane)];
    lane.steps[static_cast<std::size_t>(all[i].index)].after = std::move(derived[i]);
  }
  return std::move(plan_);
}

Aliasing in_place_aliasing(const Plan& plan) {
  switch (plan.collective) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
      return {0, 0, std::min(plan.input.chunks, plan.output.chunks)};
    case Collective::kAllGather:
      return {0, plan.rank, 1};
    case Collective::kReduceScatter:
      return {plan.rank, 0, 1};
    case Collective::kGather:
      return {0, plan.rank, plan.rank == plan.root ? 1 : 0};
    case Collective::kScatter:
      return {plan.rank, 0, plan.rank == plan.root ? 1 : 0};
    case Collective::kAllToAll:
      return {0, 0, 0};
  }
  return {};
}

}  // namespace hawser::plan
