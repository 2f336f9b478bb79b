// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/verify_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace hawser::plan {
namespace {

/// Why a step waits for another.
enum class Reason : std::uint8_t { kOrder, kAfter, kRelease, kMessage, kRoom };

const char* text_of(Reason reason) {
  switch (reason) {
    case Reason::kOrder:
      return "the step before it";
    case Reason::kAfter:
      return "its after";
    case Reason::kRelease:
      return "the release of what was sent";
    case Reason::kMessage:
      return "a message";
    case Reason::kRoom:
      return "room in a stream";
  }
  return "";
}

/// The steps of all tiles and what each waits for. Nodes are numbered tile * steps + step.
class Waits {
 public:
  Waits(const Network& network, const Schedule& schedule)
      : network_(network), schedule_(schedule), steps_(static_cast<int>(network.steps.size())) {
    find_order();
  }

  [[nodiscard]] int nodes() const { return steps_ * schedule_.tiles; }
  [[nodiscard]] StepOfTile at(int node) const { return {node % steps_, node / steps_}; }

  /// Calls visit(node, reason) for every node that `node` waits for.
  template <class Visitor>
  void for_each(int node, Visitor visit) const {
    const StepOfTile s = at(node);
    const NetworkStep& step = network_.at(s.step);
    const auto [previous, tiles_back] = previous_[static_cast<std::size_t>(s.step)];
    if (s.tile >= tiles_back) visit(number({previous, s.tile - tiles_back}), Reason::kOrder);
    visit_after(s, visit);
    for (const MessageEnd& end : step.sources) {
      if (end.channel < 0) continue;
      visit(number({channel(end).senders[static_cast<std::size_t>(end.position)], s.tile}), Reason::kMessage);
    }
    for (const MessageEnd& end : step.destinations) {
      if (end.channel >= 0) visit_room(end, s.tile, visit);
    }
  }

 private:
  struct Previous {
    int step = 0;
    int tiles_back = 0;
  };

  void find_order();
  void link(std::span<const int> sequence) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      previous_[static_cast<std::size_t>(sequence[i])] =
          i > 0 ? Previous{sequence[i - 1], 0} : Previous{sequence.back(), 1};
    }
  }

  template <class Visitor>
  void visit_after(StepOfTile s, Visitor visit) const {
    const NetworkStep& step = network_.at(s.step);
    for (const After& after : step.step->after) {
      const StepOfTile earlier{network_.target(step.rank, after), s.tile - after.tiles_back};
      if (earlier.tile < 0) continue;
      visit(number(earlier), Reason::kAfter);
      if (!after.released) continue;
      // Read in place, its messages are released when all receivers' steps are done.
      for (const MessageEnd& end : network_.at(earlier.step).destinations) {
        if (end.channel < 0) continue;
        for (const Channel::Reader& reader : channel(end).readers) {
          visit(number({reader.steps[static_cast<std::size_t>(end.position)], earlier.tile}), Reason::kRelease);
        }
      }
    }
  }

  template <class Visitor>
  void visit_room(const MessageEnd& end, int tile, Visitor visit) const {
    const int per_tile = static_cast<int>(channel(end).senders.size());
    const int freed = tile * per_tile + end.position - schedule_.credit;
    if (freed < 0) return;
    for (const Channel::Reader& reader : channel(end).readers) {
      visit(number({reader.steps[static_cast<std::size_t>(freed % per_tile)], freed / per_tile}), Reason::kRoom);
    }
  }

  [[nodiscard]] const Channel& channel(const MessageEnd& end) const {
    return network_.channels[static_cast<std::size_t>(end.channel)];
  }
  [[nodiscard]] int number(StepOfTile s) const { return s.tile * steps_ + s.step; }

  const Network& network_;
  Schedule schedule_;
  int steps_;
  std::vector<Previous> previous_;
};

void Waits::find_order() {
  previous_.resize(network_.steps.size());
  std::vector<int> all(network_.steps.size());
  std::iota(all.begin(), all.end(), 0);
  for (const std::vector<int>& first : network_.first_step) {
    if (schedule_.order == Order::kIssue) {
      const auto begin = all.begin() + first.front();
      const auto end = all.begin() + first.back();
      std::sort(begin, end, [&](int a, int b) { return network_.at(a).step->issue < network_.at(b).step->issue; });
      link(std::span(begin, end));
      continue;
    }
    for (std::size_t lane = 0; lane + 1 < first.size(); ++lane) {
      link(std::span(all).subspan(static_cast<std::size_t>(first[lane]),
                                  static_cast<std::size_t>(first[lane + 1] - first[lane])));
    }
  }
}

/// Follows unfinished waits from some blocked step until they meet themselves, and describes a step of that circle.
std::string describe_block(const Network& network, const Waits& waits, const std::vector<int>& missing,
                           const Schedule& schedule) {
  const auto is_blocked = [&](int node) { return missing[static_cast<std::size_t>(node)] > 0; };
  int node = 0;
  while (!is_blocked(node)) ++node;
  std::vector<bool> is_seen(missing.size(), false);
  int next = node;
  Reason reason = Reason::kOrder;
  const auto follow = [&] {
    waits.for_each(node, [&](int other, Reason why) {
      if (!is_blocked(other)) return;
      next = other;
      reason = why;
    });
  };
  for (; !is_seen[static_cast<std::size_t>(node)]; node = next) {
    is_seen[static_cast<std::size_t>(node)] = true;
    follow();
  }
  follow();
  const StepOfTile waiting = waits.at(node);
  const StepOfTile cause = waits.at(next);
  return fmt::format("{} (tile {}) waits forever for {}, at credit {}: for {} (tile {}), which waits for it in turn",
                     name_of(network.at(waiting.step)), waiting.tile, text_of(reason), schedule.credit,
                     name_of(network.at(cause.step)), cause.tile);
}

}  // namespace

Execution execute(const Network& network, const Schedule& schedule) {
  const Waits waits(network, schedule);
  const auto nodes = static_cast<std::size_t>(waits.nodes());
  std::vector<int> missing(nodes, 0);
  // Followers of node n: followers[begin[n]] to followers[begin[n + 1]].
  std::vector<std::size_t> begin(nodes + 1, 0);
  for (std::size_t node = 0; node < nodes; ++node) {
    waits.for_each(static_cast<int>(node), [&](int other, Reason) {
      ++missing[node];
      ++begin[static_cast<std::size_t>(other) + 1];
    });
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int> followers(begin.back());
  std::vector<std::size_t> filled(begin.begin(), begin.end() - 1);
  std::vector<int> ready;
  for (std::size_t node = 0; node < nodes; ++node) {
    waits.for_each(static_cast<int>(node), [&](int other, Reason) {
      followers[filled[static_cast<std::size_t>(other)]++] = static_cast<int>(node);
    });
    if (missing[node] == 0) ready.push_back(static_cast<int>(node));
  }
  for (std::size_t walked = 0; walked < ready.size(); ++walked) {
    const auto node = static_cast<std::size_t>(ready[walked]);
    for (std::size_t i = begin[node]; i < begin[node + 1]; ++i) {
      if (--missing[static_cast<std::size_t>(followers[i])] == 0) ready.push_back(followers[i]);
    }
  }
  Execution execution;
  execution.done.reserve(ready.size());
  for (const int node : ready) execution.done.push_back(waits.at(node));
  if (ready.size() < nodes) execution.blocked = describe_block(network, waits, missing, schedule);
  return execution;
}

int largest_credit(const Network& network) {
  std::size_t most = 1;
  for (const Channel& channel : network.channels) most = std::max(most, channel.senders.size());
  return static_cast<int>(most);
}

}  // namespace hawser::plan
