// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "verify_mutate.h"

namespace hawser::test {
namespace {

using plan::After;
using plan::Destination;
using plan::Lane;
using plan::Plan;
using plan::Region;
using plan::Run;
using plan::Source;
using plan::Space;
using plan::Step;
using plan::Stream;
using Plans = std::vector<Plan>;

/// order[i] is the new place of i.
std::vector<int> shuffled(std::size_t size, Random& random) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  return order;
}

template <class T>
std::vector<T> moved_to(std::vector<T> list, const std::vector<int>& order) {
  std::vector<T> result(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) result[static_cast<std::size_t>(order[i])] = std::move(list[i]);
  return result;
}

template <class F>
void for_each_step(Plan& plan, F f) {
  for (Lane& lane : plan.lanes) {
    for (Step& step : lane.steps) f(step);
  }
}

template <class F>
void for_each_region(Plan& plan, F f) {
  for (Region& region : plan.scratch) f(region);
  for_each_step(plan, [&](Step& step) {
    f(step.shape);
    for (Source& source : step.sources) {
      if (source.stream < 0) f(source.region);
    }
    for (Destination& destination : step.destinations) {
      if (destination.stream < 0) f(destination.region);
    }
  });
}

std::string renumber_lanes(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    const std::vector<int> order = shuffled(plan.lanes.size(), random);
    for_each_step(plan, [&](Step& step) {
      for (After& after : step.after) after.lane = order[static_cast<std::size_t>(after.lane)];
    });
    plan.lanes = moved_to(std::move(plan.lanes), order);
  }
  return "lanes renumbered";
}

std::string reorder_streams(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    const std::vector<int> order = shuffled(plan.streams.size(), random);
    const auto renumber = [&](int& stream) {
      if (stream >= 0) stream = order[static_cast<std::size_t>(stream)];
    };
    for_each_step(plan, [&](Step& step) {
      for (Source& source : step.sources) renumber(source.stream);
      for (Destination& destination : step.destinations) renumber(destination.stream);
    });
    plan.streams = moved_to(std::move(plan.streams), order);
  }
  return "lists of streams reordered";
}

/// Ends agree on the numbers, whatever they are.
std::string renumber_streams(Plans& plans, Random& random) {
  std::map<std::tuple<int, std::vector<int>, int>, int> numbers;
  int next = below(random, 100);
  for (Plan& plan : plans) {
    for (Stream& stream : plan.streams) {
      const auto [entry, is_new] = numbers.try_emplace({stream.sender, stream.receivers, stream.number}, next);
      if (is_new) next += 1 + below(random, 3);
      stream.number = entry->second;
    }
  }
  return "streams renumbered";
}

/// All ranks call the parts of the vector by other indices.
std::string renumber_parts(Plans& plans, Random& random) {
  if (plans.front().input.cut != plan::Cut::kParts || plans.front().output.cut != plan::Cut::kParts) return {};
  const int parts = std::max(plans.front().input.chunks, plans.front().output.chunks);
  const std::vector<int> order = shuffled(static_cast<std::size_t>(parts), random);
  for (Plan& plan : plans) {
    for_each_region(plan, [&](Region& region) {
      if (region.space == Space::kScratch) return;
      std::vector<Run> runs;
      for (const Run& run : region.runs) {
        for (int i = 0; i < run.count; ++i) runs.push_back({order[static_cast<std::size_t>(run.first + i)], 1});
      }
      region.runs = std::move(runs);
    });
  }
  return "parts renumbered";
}

std::string renumber_scratch(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    const std::vector<int> order = shuffled(plan.scratch.size(), random);
    for_each_region(plan, [&](Region& region) {
      if (region.space != Space::kScratch) return;
      std::vector<Run> runs;
      for (const Run& run : region.runs) {
        for (int i = 0; i < run.count; ++i) runs.push_back({order[static_cast<std::size_t>(run.first + i)], 1});
      }
      region.runs = std::move(runs);
    });
    plan.scratch = moved_to(std::move(plan.scratch), order);
  }
  return "scratch renumbered";
}

std::string raise_credit(Plans& plans, Random& random) {
  const int more = 1 + below(random, 4);
  for (Plan& plan : plans) plan.credit += more;
  return "more credit";
}

std::string widen_window(Plans& plans, Random& random) {
  const bool is_waiting_less = below(random, 2) == 0;
  for (Plan& plan : plans) {
    if (is_waiting_less) {
      for_each_step(plan, [&](Step& step) {
        for (After& after : step.after) after.tiles_back += after.tiles_back == plan.window ? 1 : 0;
      });
    }
    ++plan.window;
  }
  return is_waiting_less ? "more scratch copies, all used" : "more scratch copies";
}

/// Merges the lanes in another order of issue; a straight line may be lost by it.
std::string reissue(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    std::vector<std::size_t> next(plan.lanes.size(), 0);
    const int steps = plan::step_count(plan);
    for (int issue = 0; issue < steps;) {
      const auto lane = static_cast<std::size_t>(below(random, plan.lanes.size()));
      if (next[lane] < plan.lanes[lane].steps.size()) plan.lanes[lane].steps[next[lane]++].issue = issue++;
    }
    plan.straight_line = false;
  }
  return "steps issued in another order";
}

std::string split_runs(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    for_each_region(plan, [&](Region& region) {
      for (std::size_t i = 0; i < region.runs.size(); ++i) {
        if (region.runs[i].count < 2) continue;
        const int head = 1 + below(random, static_cast<std::size_t>(region.runs[i].count - 1));
        const Run tail{region.runs[i].first + head, region.runs[i].count - head};
        region.runs[i].count = head;
        region.runs.insert(region.runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, tail);
      }
    });
  }
  return "runs split";
}

/// Repeats waits, and names what is waited for indirectly.
std::string repeat_waits(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      for (std::size_t index = 0; index < plan.lanes[lane].steps.size(); ++index) {
        std::vector<After>& after = plan.lanes[lane].steps[index].after;
        if (index > 0 && below(random, 2) == 0) after.push_back({static_cast<int>(lane), static_cast<int>(index) - 1});
        if (after.empty()) continue;
        After one = after[static_cast<std::size_t>(below(random, after.size()))];
        const std::vector<After>& before =
            plan.lanes[static_cast<std::size_t>(one.lane)].steps[static_cast<std::size_t>(one.step)].after;
        if (!before.empty()) {
          After indirect = before[static_cast<std::size_t>(below(random, before.size()))];
          indirect.tiles_back += one.tiles_back;
          after.push_back(indirect);
        }
        one.released = false;
        after.push_back(one);
      }
    }
  }
  return "waits repeated";
}

std::string shuffle_lists(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    for_each_step(plan, [&](Step& step) {
      std::ranges::shuffle(step.after, random);
      std::ranges::shuffle(step.destinations, random);
    });
  }
  return "destinations and waits in another order";
}

std::string flip_ignored_marks(Plans& plans, Random& random) {
  for (Plan& plan : plans) {
    for_each_step(plan, [&](Step& step) {
      if (is_move(step) && below(random, 2) == 0) step.sources.front().apply_pre = !step.sources.front().apply_pre;
    });
  }
  return "apply_pre of moves";
}

}  // namespace

std::string rewrite(Plans& plans, Random& random) {
  static constexpr std::array kKinds = {
      renumber_lanes, reorder_streams, renumber_streams, renumber_parts, renumber_scratch, raise_credit,
      widen_window,   reissue,         split_runs,       repeat_waits,   shuffle_lists,    flip_ignored_marks,
  };
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const std::string one = kKinds[static_cast<std::size_t>(below(random, kKinds.size()))](plans, random);
    if (!one.empty()) text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

}  // namespace hawser::test
