// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "verify_mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hawser::test {
namespace {

using plan::After;
using plan::Destination;
using plan::Lane;
using plan::Plan;
using plan::Region;
using plan::Source;
using plan::Space;
using plan::Step;
using plan::Stream;

template <class T>
T& any_of(std::vector<T>& list, Random& random) {
  return list[static_cast<std::size_t>(below(random, list.size()))];
}

/// Mutates one plan. Every kind returns what it did, or nothing if the plan has no place for it.
class Mutator {
 public:
  Mutator(Plan& plan, Random& random) : plan_(plan), random_(random) {}

  std::string mutate() {
    static constexpr std::array kKinds = {
        &Mutator::source_stream, &Mutator::source_region, &Mutator::source_pre,   &Mutator::source_order,
        &Mutator::source_list,   &Mutator::sink_stream,   &Mutator::sink_region,  &Mutator::sink_order,
        &Mutator::sink_list,     &Mutator::post,          &Mutator::shape,        &Mutator::after_target,
        &Mutator::after_tiles,   &Mutator::after_release, &Mutator::after_list,   &Mutator::after_dropped,
        &Mutator::issue,         &Mutator::step_order,    &Mutator::step_list,    &Mutator::step_lane,
        &Mutator::lane_list,     &Mutator::lane_order,    &Mutator::stream_field, &Mutator::stream_list,
        &Mutator::numbers,       &Mutator::frame,         &Mutator::layout,       &Mutator::scratch,
    };
    return (this->*kKinds[static_cast<std::size_t>(below(random_, kKinds.size()))])();
  }

 private:
  /// Another value near or far.
  int other(int value) {
    switch (below(random_, 6)) {
      case 0:
        return value - 1;
      case 1:
        return value + 2;
      case 2:
        return 0;
      case 3:
        return below(random_, 9) - 1;
      case 4:
        return below(random_, 20) == 0 ? 1 << 30 : value + 1;
      default:
        return value + 1;
    }
  }
  std::string change(int& field, const char* name) {
    const int before = std::exchange(field, other(field));
    return fmt::format("{}: {} instead of {}", name, field, before);
  }
  std::string flip(bool& field, const char* name) {
    field = !field;
    return fmt::format("{}: {}", name, field);
  }
  template <class T>
  std::string change_list(std::vector<T>& list, const char* name) {
    if (list.empty()) return {};
    const auto at = static_cast<std::ptrdiff_t>(below(random_, list.size()));
    if (below(random_, 2) == 0) {
      list.erase(list.begin() + at);
      return fmt::format("{} {} dropped", name, at);
    }
    const T copy = list[static_cast<std::size_t>(at)];
    list.insert(list.begin() + below(random_, list.size() + 1), copy);
    return fmt::format("{} {} repeated", name, at);
  }
  template <class T>
  std::string swap_two(std::vector<T>& list, const char* name) {
    if (list.size() < 2) return {};
    const int a = below(random_, list.size());
    const int b = below(random_, list.size());
    std::swap(list[static_cast<std::size_t>(a)], list[static_cast<std::size_t>(b)]);
    return fmt::format("{} {} and {} swapped", name, a, b);
  }
  std::string change_region(Region& region, const char* name) {
    if (region.runs.empty()) return {};
    plan::Run& run = any_of(region.runs, random_);
    switch (below(random_, 5)) {
      case 0:
        region.space = static_cast<Space>(below(random_, 3));
        return fmt::format("{}: space {}", name, static_cast<int>(region.space));
      case 1:
        return change(run.count, name) + " (count)";
      case 2:
        return change_list(region.runs, name) + " (run)";
      default:
        return change(run.first, name) + " (first)";
    }
  }

  /// A lane with steps and one of them; the pointers are null if there is none.
  std::pair<Lane*, Step*> step() {
    if (plan_.lanes.empty()) return {};
    const auto at = static_cast<std::size_t>(below(random_, plan_.lanes.size()));
    Lane& lane = plan_.lanes[at];
    if (lane.steps.empty()) return {};
    const auto index = static_cast<std::size_t>(below(random_, lane.steps.size()));
    where_ = fmt::format("lane {} step {} ", at, index);
    return {&lane, &lane.steps[index]};
  }

  std::string source_stream() {
    return on_source([&](Source& s) { return change(s.stream, "source stream"); });
  }
  std::string source_region() {
    return on_source([&](Source& s) { return change_region(s.region, "source"); });
  }
  std::string source_pre() {
    return on_source([&](Source& s) { return flip(s.apply_pre, "apply_pre"); });
  }
  std::string source_order() {
    return on_step([&](Step& s) { return swap_two(s.sources, "sources"); });
  }
  std::string source_list() {
    return on_step([&](Step& s) { return change_list(s.sources, "source"); });
  }
  std::string sink_stream() {
    return on_sink([&](Destination& d) { return change(d.stream, "destination stream"); });
  }
  std::string sink_region() {
    return on_sink([&](Destination& d) { return change_region(d.region, "destination"); });
  }
  std::string sink_order() {
    return on_step([&](Step& s) { return swap_two(s.destinations, "destinations"); });
  }
  std::string sink_list() {
    return on_step([&](Step& s) { return change_list(s.destinations, "destination"); });
  }
  std::string post() {
    return on_step([&](Step& s) { return flip(s.apply_post, "apply_post"); });
  }
  std::string shape() {
    return on_step([&](Step& s) { return change_region(s.shape, "shape"); });
  }
  std::string after_target() {
    return on_after(
        [&](After& a) { return below(random_, 2) == 0 ? change(a.lane, "after lane") : change(a.step, "after step"); });
  }
  std::string after_tiles() {
    return on_after([&](After& a) { return change(a.tiles_back, "after tiles_back"); });
  }
  std::string after_release() {
    return on_after([&](After& a) { return flip(a.released, "after released"); });
  }
  std::string after_list() {
    return on_step([&](Step& s) {
      After after{below(random_, plan_.lanes.size()), 0, below(random_, 3), below(random_, 2) == 0};
      const std::size_t steps = plan_.lanes[static_cast<std::size_t>(after.lane)].steps.size();
      if (steps > 0) after.step = below(random_, steps);
      s.after.push_back(after);
      return fmt::format("after l{}s{} t-{} added", after.lane, after.step, after.tiles_back);
    });
  }
  std::string after_dropped() {
    return on_step([&](Step& s) -> std::string {
      if (s.after.empty()) return {};
      const int at = below(random_, s.after.size());
      s.after.erase(s.after.begin() + at);
      return fmt::format("after {} dropped", at);
    });
  }
  std::string issue() {
    return on_step([&](Step& s) { return change(s.issue, "issue"); });
  }
  std::string step_order() {
    const auto [lane, step_unused] = step();
    if (lane == nullptr || lane->steps.size() < 2) return {};
    const auto at = static_cast<std::size_t>(below(random_, lane->steps.size() - 1));
    std::swap(lane->steps[at], lane->steps[at + 1]);
    // Half the time the order of issue goes along.
    if (below(random_, 2) == 0) std::swap(lane->steps[at].issue, lane->steps[at + 1].issue);
    return where_ + fmt::format("its lane's steps {} and {} swapped", at, at + 1);
  }
  std::string step_list() {
    const auto [lane, step_unused] = step();
    return lane == nullptr ? "" : where_ + change_list(lane->steps, "step");
  }
  std::string step_lane() {
    const auto [lane, moved] = step();
    if (lane == nullptr) return {};
    Step copy = *moved;
    lane->steps.erase(lane->steps.begin() + (moved - lane->steps.data()));
    Lane& target = any_of(plan_.lanes, random_);
    const auto place = std::ranges::upper_bound(target.steps, copy.issue, {}, &Step::issue);
    target.steps.insert(place, std::move(copy));
    return where_ + "moved to another lane";
  }
  std::string lane_list() { return change_list(plan_.lanes, "lane"); }
  std::string lane_order() { return swap_two(plan_.lanes, "lanes"); }
  std::string stream_field() {
    if (plan_.streams.empty()) return {};
    Stream& stream = any_of(plan_.streams, random_);
    switch (below(random_, 4)) {
      case 0:
        return change(stream.sender, "sender");
      case 1:
        return change(stream.number, "number");
      case 2:
        return change_list(stream.receivers, "receiver");
      default:
        return stream.receivers.empty() ? "" : change(any_of(stream.receivers, random_), "receiver");
    }
  }
  std::string stream_list() {
    return below(random_, 2) == 0 ? swap_two(plan_.streams, "streams") : change_list(plan_.streams, "stream");
  }
  std::string numbers() {
    switch (below(random_, 3)) {
      case 0:
        return change(plan_.window, "window");
      case 1:
        return change(plan_.credit, "credit");
      default:
        return flip(plan_.straight_line, "straight_line");
    }
  }
  std::string frame() {
    switch (below(random_, 4)) {
      case 0:
        return change(plan_.rank, "rank");
      case 1:
        return change(plan_.ranks, "ranks");
      case 2:
        plan_.collective = static_cast<Collective>(below(random_, kCollectiveCount));
        return fmt::format("collective {}", static_cast<int>(plan_.collective));
      default:
        return change(plan_.root, "root");
    }
  }
  std::string layout() {
    plan::Layout& changed = below(random_, 2) == 0 ? plan_.input : plan_.output;
    if (below(random_, 2) == 0) return change(changed.chunks, "chunks");
    changed.cut = changed.cut == plan::Cut::kParts ? plan::Cut::kBlocks : plan::Cut::kParts;
    return "cut";
  }
  std::string scratch() {
    if (plan_.scratch.empty()) return {};
    switch (below(random_, 3)) {
      case 0:
        return change_list(plan_.scratch, "scratch chunk");
      case 1:
        return swap_two(plan_.scratch, "scratch chunks");
      default:
        return change_region(any_of(plan_.scratch, random_), "scratch model");
    }
  }

  template <class F>
  std::string on_step(F f) {
    const auto [lane, chosen] = step();
    return chosen == nullptr ? "" : where_ + f(*chosen);
  }
  template <class F>
  std::string on_source(F f) {
    return on_step([&](Step& s) { return s.sources.empty() ? "" : f(any_of(s.sources, random_)); });
  }
  template <class F>
  std::string on_sink(F f) {
    return on_step([&](Step& s) { return s.destinations.empty() ? "" : f(any_of(s.destinations, random_)); });
  }
  template <class F>
  std::string on_after(F f) {
    return on_step([&](Step& s) { return s.after.empty() ? "" : f(any_of(s.after, random_)); });
  }

  Plan& plan_;
  Random& random_;
  std::string where_;
};

}  // namespace

int below(Random& random, std::size_t bound) { return static_cast<int>(random() % bound); }

std::string mutate(std::vector<Plan>& plans, Random& random) {
  // Credit is agreed between ranks: changed on one alone, it shows at once.
  if (below(random, 50) == 0) {
    const int credit = std::max(1, plans.front().credit - 1 + below(random, 3));
    for (Plan& plan : plans) plan.credit = credit;
    return fmt::format("credit {} on all ranks", credit);
  }
  Plan& plan = any_of(plans, random);
  const Plan before = plan;
  std::string text;
  while (plan == before) text = Mutator(plan, random).mutate();
  return fmt::format("rank {}: {}", before.rank, text);
}

}  // namespace hawser::test
