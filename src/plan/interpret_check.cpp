// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/interpret_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/geometry.h"

namespace hawser::plan {
namespace {

// Bounds on what a damaged plan can make the interpreter allocate.
constexpr int kMostChunks = 1 << 16;
constexpr int kMostWindow = 1 << 16;

/// Checks one plan; names the place of the first thing that is wrong.
class Checker {
 public:
  Checker(const Plan& plan, std::size_t ranks) : plan_(plan), ranks_(static_cast<int>(ranks)) {}

  [[nodiscard]] Status check() {
    HAWSER_TRY(check_frame());
    HAWSER_TRY(check_streams());
    std::map<int, int> reading_lane;
    std::map<int, int> writing_lane;
    for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
      for (std::size_t index = 0; index < plan_.lanes[lane].steps.size(); ++index) {
        const Step& step = plan_.lanes[lane].steps[index];
        place_ = fmt::format("rank {} lane {} step {}", plan_.rank, lane, index);
        HAWSER_TRY(check_step(step));
        for (const Source& source : step.sources) {
          HAWSER_TRY(check_lane(reading_lane, source.stream, static_cast<int>(lane)));
        }
        for (const Destination& destination : step.destinations) {
          HAWSER_TRY(check_lane(writing_lane, destination.stream, static_cast<int>(lane)));
        }
      }
    }
    return {};
  }

 private:
  [[nodiscard]] Status fault(std::string_view what) const {
    return {Code::kInternalError, fmt::format("malformed plan, {}: {}", place_, what)};
  }

  [[nodiscard]] Status check_frame() {
    place_ = fmt::format("rank {}", plan_.rank);
    if (plan_.ranks != ranks_) return fault("wrong number of ranks");
    if (plan_.root < 0 || plan_.root >= ranks_) return fault("root out of range");
    if (static_cast<int>(plan_.collective) >= kCollectiveCount) return fault("unknown collective");
    for (const Layout& layout : {plan_.input, plan_.output}) {
      if (layout.chunks < 0 || layout.chunks > kMostChunks) return fault("number of chunks out of range");
      if (layout.cut > Cut::kBlocks) return fault("unknown cut");
    }
    if (plan_.window < 1 || plan_.window > kMostWindow) return fault("window out of range");
    for (const Region& model : plan_.scratch) {
      const bool is_one_chunk = model.runs.size() == 1 && model.runs[0].count == 1;
      if (!is_one_chunk || model.space >= Space::kScratch) return fault("scratch is not modelled on one chunk");
      HAWSER_TRY(check_region(model));
    }
    return {};
  }

  [[nodiscard]] Status check_streams() const {
    for (const Stream& stream : plan_.streams) {
      if (stream.sender < 0 || stream.sender >= ranks_) return fault("sender out of range");
      if (stream.receivers.empty()) return fault("stream without receivers");
      int before = -1;
      for (const int receiver : stream.receivers) {
        if (receiver <= before || receiver >= ranks_ || receiver == stream.sender) return fault("bad receivers");
        before = receiver;
      }
      if (std::ranges::count(plan_.streams, stream) > 1) return fault("a stream is listed twice");
    }
    return {};
  }

  [[nodiscard]] int chunks_of(Space space) const {
    if (space == Space::kInput) return plan_.input.chunks;
    if (space == Space::kOutput) return plan_.output.chunks;
    return space == Space::kScratch ? static_cast<int>(plan_.scratch.size()) : 0;
  }

  [[nodiscard]] Status check_region(const Region& region) const {
    if (region.runs.empty()) return fault("empty region");
    const int chunks = chunks_of(region.space);
    for (const Run& run : region.runs) {
      if (run.first < 0 || run.count < 1 || run.count > chunks || run.first > chunks - run.count) {
        return fault("chunk out of range");
      }
    }
    return {};
  }

  [[nodiscard]] Status check_step(const Step& step) const {
    if (step.sources.empty()) return fault("step without sources");
    HAWSER_TRY(check_region(step.shape));
    for (const Source& source : step.sources) {
      if (source.stream < 0) {
        HAWSER_TRY(check_region(source.region));
        continue;
      }
      if (source.stream >= static_cast<int>(plan_.streams.size())) return fault("stream out of range");
      const Stream& stream = plan_.streams[static_cast<std::size_t>(source.stream)];
      if (std::ranges::find(stream.receivers, plan_.rank) == stream.receivers.end()) {
        return fault("takes a message that is for others");
      }
      const auto is_same = [&](const Source& other) { return other.stream == source.stream; };
      if (std::ranges::count_if(step.sources, is_same) > 1) return fault("takes two messages of a stream");
    }
    for (const Destination& destination : step.destinations) HAWSER_TRY(check_destination(step, destination));
    for (const After& after : step.after) {
      const bool is_lane = after.lane >= 0 && after.lane < static_cast<int>(plan_.lanes.size());
      if (!is_lane) return fault("waits for a lane out of range");
      const auto steps = plan_.lanes[static_cast<std::size_t>(after.lane)].steps.size();
      if (after.step < 0 || after.step >= static_cast<int>(steps)) return fault("waits for a step out of range");
    }
    return {};
  }

  [[nodiscard]] Status check_destination(const Step& step, const Destination& destination) const {
    if (destination.stream < 0) {
      HAWSER_TRY(check_region(destination.region));
      return destination.region.space == Space::kInput ? fault("writes its input") : Status();
    }
    if (destination.stream >= static_cast<int>(plan_.streams.size())) return fault("stream out of range");
    if (plan_.streams[static_cast<std::size_t>(destination.stream)].sender != plan_.rank) {
      return fault("sends on a stream of another rank");
    }
    const auto is_same = [&](const Destination& other) { return other.stream == destination.stream; };
    return std::ranges::count_if(step.destinations, is_same) > 1 ? fault("sends twice on a stream") : Status();
  }

  [[nodiscard]] Status check_lane(std::map<int, int>& lanes, int stream, int lane) const {
    if (stream < 0 || lanes.try_emplace(stream, lane).first->second == lane) return {};
    return fault("a stream is used by two lanes");
  }

  const Plan& plan_;
  int ranks_;
  std::string place_;
};

Status fault(int rank, std::string_view what) {
  return {Code::kInternalError, fmt::format("malformed plan, rank {}: {}", rank, what)};
}

/// The layouts give buffers of the sizes that the collective has.
Status check_sizes(const Plan& plan, std::size_t input, const InterpretOptions& options, std::size_t element_bytes) {
  if (input != input_bytes(plan, options.count, element_bytes)) return fault(plan.rank, "input of another size");
  if (Geometry(plan.input, options.count, element_bytes).bytes() != input) {
    return fault(plan.rank, "input layout does not fit the collective");
  }
  if (Geometry(plan.output, options.count, element_bytes).bytes() != output_bytes(plan, options.count, element_bytes)) {
    return fault(plan.rank, "output layout does not fit the collective");
  }
  return {};
}

}  // namespace

Status check_plans(std::span<const Plan> plans, std::span<const std::vector<std::byte>> inputs,
                   const InterpretOptions& options, std::size_t element_bytes) {
  if (plans.empty() || inputs.size() != plans.size()) return fault(0, "need one input per plan, and at least one");
  if (options.tile_bytes == 0 || options.tile_bytes % kPartAlignment != 0) return fault(0, "bad tile size");
  if (element_bytes == 0 || kPartAlignment % element_bytes != 0) return fault(0, "bad element size");
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Plan& plan = plans[rank];
    if (plan.rank != static_cast<int>(rank)) return fault(static_cast<int>(rank), "plan of another rank");
    if (plan.collective != plans[0].collective || plan.root != plans[0].root) {
      return fault(plan.rank, "another collective or root than rank 0");
    }
    HAWSER_TRY(Checker(plan, plans.size()).check());
    HAWSER_TRY(check_sizes(plan, inputs[rank].size(), options, element_bytes));
  }
  return {};
}

}  // namespace hawser::plan
