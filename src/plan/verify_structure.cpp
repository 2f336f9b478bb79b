// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What a plan must be before its meaning can be asked for: every index in range, every list in order, the layouts those
// of the collective, and the ranks of one mind about the call.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "plan/verify_network.h"

namespace hawser::plan {
namespace {

// Far above what an algorithm uses; they keep a wrong plan from taking the machine's memory.
constexpr int kMostChunks = 1 << 20;
constexpr int kMostWindow = 64;
constexpr int kMostCredit = 1 << 20;

template <class... Arguments>
Status wrong(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {Code::kInternalError, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

constexpr Layout kNone{};

/// Whether an input or output layout is what the collective asks for on that rank. Parts may be any number above zero.
bool fits(const Layout& layout, const Layout& wanted) {
  if (wanted.chunks == 0) return layout.chunks == 0;
  const bool is_count_free = wanted.cut == Cut::kParts;
  return layout.cut == wanted.cut && (is_count_free ? layout.chunks >= 1 : layout.chunks == wanted.chunks);
}

struct Layouts {
  Layout input;
  Layout output;
};

/// The layouts that the collective asks for; of parts, only the kind.
Layouts wanted_layouts(const Plan& plan) {
  const Layout parts{Cut::kParts, 1};
  const Layout block{Cut::kBlocks, 1};
  const Layout blocks{Cut::kBlocks, plan.ranks};
  const bool is_root = plan.rank == plan.root;
  switch (plan.collective) {
    case Collective::kAllReduce:
      return {parts, parts};
    case Collective::kBroadcast:
      return {is_root ? parts : kNone, parts};
    case Collective::kReduce:
      return {parts, is_root ? parts : kNone};
    case Collective::kAllGather:
      return {block, blocks};
    case Collective::kReduceScatter:
      return {blocks, block};
    case Collective::kAllToAll:
      return {blocks, blocks};
    case Collective::kGather:
      return {block, is_root ? blocks : kNone};
    case Collective::kScatter:
      return {is_root ? blocks : kNone, block};
  }
  return {};
}

/// One plan by itself.
class PlanChecker {
 public:
  explicit PlanChecker(const Plan& plan) : plan_(plan) {}

  Status check() {
    HAWSER_TRY(check_numbers());
    HAWSER_TRY(check_scratch());
    HAWSER_TRY(check_streams());
    for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
      const std::vector<Step>& steps = plan_.lanes[lane].steps;
      for (std::size_t index = 0; index < steps.size(); ++index) {
        where_ = fmt::format("rank {}, lane {}, step {}", plan_.rank, lane, index);
        HAWSER_TRY(check_step(steps[index]));
        if (index > 0 && steps[index].issue <= steps[index - 1].issue) {
          return wrong("{}: issue {} is not above that of the step before it, {}", where_, steps[index].issue,
                       steps[index - 1].issue);
        }
      }
    }
    return {};
  }

 private:
  Status check_numbers() const {
    if (plan_.window < 1 || plan_.window > kMostWindow) {
      return wrong("rank {}: window {} is not within 1..{}", plan_.rank, plan_.window, kMostWindow);
    }
    if (plan_.credit < 1 || plan_.credit > kMostCredit) {
      return wrong("rank {}: credit {} is not within 1..{}", plan_.rank, plan_.credit, kMostCredit);
    }
    if (plan_.input.chunks > kMostChunks || plan_.output.chunks > kMostChunks) {
      return wrong("rank {}: more than {} chunks", plan_.rank, kMostChunks);
    }
    const Layouts wanted = wanted_layouts(plan_);
    if (!fits(plan_.input, wanted.input)) {
      return wrong("rank {}: the input's layout is not that of {}", plan_.rank, name_of(plan_.collective));
    }
    if (!fits(plan_.output, wanted.output)) {
      return wrong("rank {}: the output's layout is not that of {}", plan_.rank, name_of(plan_.collective));
    }
    return {};
  }

  Status check_scratch() const {
    for (std::size_t chunk = 0; chunk < plan_.scratch.size(); ++chunk) {
      const Region& model = plan_.scratch[chunk];
      const bool is_one = model.space < Space::kScratch && model.runs.size() == 1 && model.runs[0].count == 1 &&
                          model.runs[0].first >= 0 && model.runs[0].first < chunks_of(model.space);
      if (!is_one) {
        return wrong("rank {}: scratch chunk {} is not modelled on one input or output chunk", plan_.rank, chunk);
      }
    }
    return {};
  }

  Status check_streams() const {
    std::set<std::tuple<int, std::vector<int>, int>> seen;
    for (std::size_t index = 0; index < plan_.streams.size(); ++index) {
      const Stream& stream = plan_.streams[index];
      if (!is_rank(stream.sender) || !std::ranges::all_of(stream.receivers, [&](int r) { return is_rank(r); })) {
        return wrong("rank {}: stream {} names a rank that is not within 0..{}", plan_.rank, index, plan_.ranks - 1);
      }
      const bool is_ascending =
          std::ranges::adjacent_find(stream.receivers, std::greater_equal()) == stream.receivers.end();
      if (stream.receivers.empty() || !is_ascending || std::ranges::count(stream.receivers, stream.sender) != 0) {
        return wrong("rank {}: the receivers of stream {} are not ascending, not empty and without the sender",
                     plan_.rank, index);
      }
      if (!seen.insert({stream.sender, stream.receivers, stream.number}).second) {
        return wrong("rank {}: stream {} ({}) is listed twice", plan_.rank, index, name_of(stream));
      }
    }
    return {};
  }

  Status check_step(const Step& step) const {
    if (step.sources.empty()) return wrong("{}: no source", where_);
    if (step.destinations.empty()) return wrong("{}: no destination", where_);
    HAWSER_TRY(check_region(step.shape, "shape"));
    for (const Source& source : step.sources) {
      HAWSER_TRY(source.stream < 0 ? check_region(source.region, "source") : check_end(source.stream, End::kReceiver));
    }
    for (const Destination& destination : step.destinations) {
      HAWSER_TRY(destination.stream < 0 ? check_region(destination.region, "destination")
                                        : check_end(destination.stream, End::kSender));
      if (destination.stream < 0 && destination.region.space == Space::kInput) {
        return wrong("{}: stores into the input", where_);
      }
    }
    HAWSER_TRY(check_distinct(step));
    if (is_moving_only() && !is_move(step)) {
      return wrong("{}: arithmetic, in a collective that only moves", where_);
    }
    return check_after(step);
  }

  Status check_region(const Region& region, const char* role) const {
    if (region.space > Space::kScratch) return wrong("{}: a {} is in no known space", where_, role);
    if (region.runs.empty()) return wrong("{}: the region of a {} is empty", where_, role);
    for (const Run& run : region.runs) {
      const bool is_inside = run.first >= 0 && run.count >= 1 && run.first < chunks_of(region.space) &&
                             run.count <= chunks_of(region.space) - run.first;
      if (!is_inside) {
        return wrong("{}: a {} names {} chunks from {} where there are {}", where_, role, run.count,
                     name_of_chunk(region.space, run.first), chunks_of(region.space));
      }
    }
    return {};
  }

  enum class End : std::uint8_t { kSender, kReceiver };
  Status check_end(int index, End end) const {
    if (static_cast<std::size_t>(index) >= plan_.streams.size()) {
      return wrong("{}: stream {} does not exist", where_, index);
    }
    const Stream& stream = plan_.streams[static_cast<std::size_t>(index)];
    if (end == End::kSender && stream.sender != plan_.rank) {
      return wrong("{}: sends on stream {}, of which it is not the sender", where_, name_of(stream));
    }
    if (end == End::kReceiver && !std::ranges::binary_search(stream.receivers, plan_.rank)) {
      return wrong("{}: receives from stream {}, of which it is no receiver", where_, name_of(stream));
    }
    return {};
  }

  [[nodiscard]] Status check_distinct(const Step& step) const {
    std::set<int> seen;
    for (const Source& source : step.sources) {
      if (source.stream >= 0 && !seen.insert(source.stream).second) {
        return wrong("{}: takes two messages of stream {}", where_, name_of(stream(source.stream)));
      }
    }
    for (const Destination& destination : step.destinations) {
      if (destination.stream >= 0 && !seen.insert(destination.stream).second) {
        return wrong("{}: sends twice on stream {}", where_, name_of(stream(destination.stream)));
      }
    }
    return {};
  }

  Status check_after(const Step& step) const {
    for (const After& after : step.after) {
      const bool is_lane = after.lane >= 0 && static_cast<std::size_t>(after.lane) < plan_.lanes.size();
      if (!is_lane || after.step < 0 ||
          static_cast<std::size_t>(after.step) >= plan_.lanes[static_cast<std::size_t>(after.lane)].steps.size()) {
        return wrong("{}: waits for lane {}, step {}, which does not exist", where_, after.lane, after.step);
      }
      if (after.tiles_back < 0) return wrong("{}: waits for a tile that comes later", where_);
    }
    return {};
  }

  [[nodiscard]] bool is_rank(int rank) const { return rank >= 0 && rank < plan_.ranks; }
  [[nodiscard]] const Stream& stream(int index) const { return plan_.streams[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int chunks_of(Space space) const {
    if (space == Space::kScratch) return static_cast<int>(plan_.scratch.size());
    return space == Space::kInput ? plan_.input.chunks : plan_.output.chunks;
  }
  [[nodiscard]] bool is_moving_only() const {
    return plan_.collective != Collective::kAllReduce && plan_.collective != Collective::kReduce &&
           plan_.collective != Collective::kReduceScatter;
  }

  const Plan& plan_;
  std::string where_;
};

Status check_issue(const Plan& plan) {
  std::set<int> issues;
  for (const Lane& lane : plan.lanes) {
    for (const Step& step : lane.steps) {
      if (!issues.insert(step.issue).second) {
        return wrong("rank {}: two steps have issue {}", plan.rank, step.issue);
      }
    }
  }
  return {};
}

/// Chunks into which the vector of a collective of parts is cut, if this rank has a buffer that tells.
std::optional<int> parts_of(const Plan& plan) {
  if (plan.input.chunks > 0 && plan.input.cut == Cut::kParts) return plan.input.chunks;
  if (plan.output.chunks > 0 && plan.output.cut == Cut::kParts) return plan.output.chunks;
  return std::nullopt;
}

Status check_agreement(const Plan& plan, const Plan& first) {
  if (plan.algorithm != first.algorithm || plan.collective != first.collective || plan.root != first.root) {
    return wrong("rank {} and rank 0 do not agree on algorithm, collective and root", plan.rank);
  }
  if (plan.credit != first.credit) {
    return wrong("rank {} declares credit {}, rank 0 credit {}", plan.rank, plan.credit, first.credit);
  }
  const bool is_same_cut =
      parts_of(plan) == parts_of(first) && (plan.input.chunks == 0 || plan.output.chunks == 0 ||
                                            plan.input.cut != Cut::kParts || plan.output.chunks == plan.input.chunks);
  if (!is_same_cut) return wrong("rank {} cuts the vector into other parts than rank 0", plan.rank);
  return {};
}

}  // namespace

std::string name_of(const Stream& stream) {
  std::string receivers;
  for (const int receiver : stream.receivers) receivers += (receivers.empty() ? "" : ",") + std::to_string(receiver);
  return fmt::format("{}->{{{}}}#{}", stream.sender, receivers, stream.number);
}

std::string name_of_chunk(Space space, int chunk) {
  static constexpr const char* kNames[] = {"input", "output", "scratch"};
  return fmt::format("{} chunk {}", kNames[static_cast<std::size_t>(space)], chunk);
}

Status check_structure(std::span<const Plan> plans) {
  if (plans.empty()) return wrong("no plans");
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Plan& plan = plans[rank];
    if (plan.rank != static_cast<int>(rank) || plan.ranks != static_cast<int>(plans.size())) {
      return wrong("plan {} of {} says that it is of rank {} of {}", rank, plans.size(), plan.rank, plan.ranks);
    }
    if (plan.root < 0 || plan.root >= plan.ranks) return wrong("rank {}: root {} is no rank", rank, plan.root);
    if (static_cast<int>(plan.collective) >= kCollectiveCount) return wrong("rank {}: no known collective", rank);
    HAWSER_TRY(check_agreement(plan, plans.front()));
    HAWSER_TRY(PlanChecker(plan).check());
    HAWSER_TRY(check_issue(plan));
  }
  return {};
}

}  // namespace hawser::plan
