// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Plans and steps in readable form, and small questions about them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/plan.h"

namespace hawser::plan {
namespace {

bool is_local(const Destination& destination) { return destination.stream < 0; }

std::string text_of(const Region& region) {
  static constexpr const char* kNames[] = {"in", "out", "scratch"};
  std::vector<std::string> runs;
  runs.reserve(region.runs.size());
  for (const Run& run : region.runs) {
    runs.push_back(run.count == 1 ? fmt::format("{}", run.first)
                                  : fmt::format("{}..{}", run.first, run.first + run.count - 1));
  }
  return fmt::format("{}[{}]", kNames[static_cast<std::size_t>(region.space)], fmt::join(runs, ","));
}

/// The stream of that index, or nullptr if the plan has none: a plan that is printed may be wrong.
const Stream* stream_of(const Plan& plan, int index) {
  return static_cast<std::size_t>(index) < plan.streams.size() ? &plan.streams[static_cast<std::size_t>(index)]
                                                               : nullptr;
}

std::string text_of(const Plan& plan, const Step& step, const Source& source) {
  std::string text;
  if (source.stream < 0) {
    text = text_of(source.region);
  } else if (const Stream* stream = stream_of(plan, source.stream)) {
    text = fmt::format("recv {}<-{}#{}", plan.rank, stream->sender, stream->number);
  } else {
    text = fmt::format("recv stream {}?", source.stream);
  }
  return source.apply_pre && !is_move(step) ? fmt::format("pre({})", text) : text;
}

std::string text_of(const Plan& plan, const Destination& destination) {
  if (is_local(destination)) return text_of(destination.region);
  const Stream* stream = stream_of(plan, destination.stream);
  if (stream == nullptr) return fmt::format("send stream {}?", destination.stream);
  return fmt::format("send {}->{{{}}}#{}", stream->sender, fmt::join(stream->receivers, ","), stream->number);
}

std::string text_of(const After& after) {
  std::string text = fmt::format("l{}s{}", after.lane, after.step);
  if (after.released) text += " released";
  if (after.tiles_back != 0) text += fmt::format(" in tile t-{}", after.tiles_back);
  return text;
}

std::string text_of(const Plan& plan, const Step& step) {
  std::vector<std::string> sources;
  for (const Source& source : step.sources) sources.push_back(text_of(plan, step, source));
  std::vector<std::string> destinations;
  for (const Destination& destination : step.destinations) destinations.push_back(text_of(plan, destination));
  std::string text = fmt::format("{}", fmt::join(sources, " + "));
  if (step.apply_post) text = fmt::format("post({})", text);
  text += fmt::format(" -> {}", fmt::join(destinations, ", "));
  if (step.after.empty()) return text;
  std::vector<std::string> after;
  for (const After& one : step.after) after.push_back(text_of(one));
  return text + fmt::format("   after {}", fmt::join(after, ", "));
}

}  // namespace

bool may_land_directly(const Step& step) {
  return is_move(step) && step.sources.front().stream >= 0 && std::ranges::any_of(step.destinations, is_local);
}

bool may_be_read_in_place(const Step& step) {
  if (std::ranges::all_of(step.destinations, is_local)) return false;
  return std::ranges::any_of(step.destinations, is_local) || (is_move(step) && step.sources.front().stream < 0);
}

int step_count(const Plan& plan) {
  int steps = 0;
  for (const Lane& lane : plan.lanes) steps += static_cast<int>(lane.steps.size());
  return steps;
}

std::string print(const Plan& plan) {
  std::string text = fmt::format("{} {} rank {} of {}: {} steps in {} lanes, credit {}, window {}{}\n", plan.algorithm,
                                 name_of(plan.collective), plan.rank, plan.ranks, step_count(plan), plan.lanes.size(),
                                 plan.credit, plan.window, plan.straight_line ? ", straight line" : "");
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const std::vector<Step>& steps = plan.lanes[lane].steps;
    for (std::size_t index = 0; index < steps.size(); ++index) {
      text += fmt::format("lane {} step {}: {}\n", lane, index, text_of(plan, steps[index]));
    }
  }
  return text;
}

}  // namespace hawser::plan
