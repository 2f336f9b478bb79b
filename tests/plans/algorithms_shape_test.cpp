// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// That plans have the steps and bytes that docs/algorithms.md and the cost functions claim: longest chain of messages,
// chunks sent, lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "interpret_support.h"

namespace hawser::algorithms {
namespace {

using plan::Plan;
using plan::Step;

const Algorithm& named(std::string_view name, Collective collective = Collective::kAllReduce) {
  for (const Algorithm* algorithm : builtin()) {
    if (algorithm->name() == name && test::collective_of(*algorithm) == collective) return *algorithm;
  }
  ADD_FAILURE() << "no algorithm " << name;
  return *builtin()[0];
}

std::vector<Plan> plans_of(const Algorithm& algorithm, int ranks) {
  const Call call{.collective = test::collective_of(algorithm), .count = 1};
  return test::plans_of(algorithm, call, topology::uniform(ranks, ranks));
}

int chunks_in(const plan::Region& region) {
  int chunks = 0;
  for (const plan::Run& run : region.runs) chunks += run.count;
  return chunks;
}

/// Messages that a rank sends (to however many), and chunks in them.
struct Sent {
  int messages = 0;
  int chunks = 0;
};
Sent sent_by(const Plan& plan) {
  Sent sent;
  for (const plan::Lane& lane : plan.lanes) {
    for (const Step& step : lane.steps) {
      for (const plan::Destination& destination : step.destinations) {
        if (destination.stream < 0) continue;
        ++sent.messages;
        sent.chunks += chunks_in(step.shape);
      }
    }
  }
  return sent;
}

enum class Order : std::uint8_t { kLanes, kIssue };

/// Runs plans on counters: each message carries the length of the longest chain of messages that leads to it. In issue
/// order a rank is one thread that waits for whatever its next step needs, with the declared credit.
class ChainRun {
 public:
  ChainRun(const std::vector<Plan>& plans, Order order) : plans_(plans) {
    for (const Plan& plan : plans_) {
      std::vector<const Step*> all;
      for (const plan::Lane& lane : plan.lanes) {
        if (order == Order::kLanes) queues_.push_back({plan.rank, pointers(lane), 0});
        for (const Step& step : lane.steps) all.push_back(&step);
      }
      std::ranges::sort(all, {}, &Step::issue);
      if (order == Order::kIssue) queues_.push_back({plan.rank, all, 0});
    }
  }

  /// The longest chain; -1 if the ranks get stuck within `tiles` tiles.
  int run(int tiles) {
    bool has_moved = true;
    while (has_moved) {
      has_moved = false;
      for (Queue& queue : queues_) {
        while (queue.done < queue.steps.size() * static_cast<std::size_t>(tiles) && can_do(queue)) {
          do_step(queue);
          has_moved = true;
        }
      }
    }
    for (const Queue& queue : queues_) {
      if (queue.done < queue.steps.size() * static_cast<std::size_t>(tiles)) return -1;
    }
    return longest_;
  }

 private:
  struct Queue {
    int rank;
    std::vector<const Step*> steps;
    std::size_t done;
  };
  struct Channel {
    std::vector<int> chains;           // of all messages so far
    std::map<int, std::size_t> taken;  // by receiver
  };

  static std::vector<const Step*> pointers(const plan::Lane& lane) {
    std::vector<const Step*> steps;
    for (const Step& step : lane.steps) steps.push_back(&step);
    return steps;
  }

  Channel& channel(int rank, int stream) {
    const plan::Stream& key = plans_[static_cast<std::size_t>(rank)].streams[static_cast<std::size_t>(stream)];
    Channel& channel = channels_[{key.sender, key.receivers, key.number}];
    for (const int receiver : key.receivers) channel.taken.try_emplace(receiver, 0);
    return channel;
  }

  bool can_do(const Queue& queue) {
    const Step& step = *queue.steps[queue.done % queue.steps.size()];
    const auto credit = static_cast<std::size_t>(plans_[static_cast<std::size_t>(queue.rank)].credit);
    for (const plan::Source& source : step.sources) {
      if (source.stream < 0) continue;
      const Channel& from = channel(queue.rank, source.stream);
      if (from.taken.at(queue.rank) >= from.chains.size()) return false;
    }
    for (const plan::Destination& destination : step.destinations) {
      if (destination.stream < 0) continue;
      const Channel& to = channel(queue.rank, destination.stream);
      for (const auto& [receiver, taken] : to.taken) {
        if (to.chains.size() - taken >= credit) return false;
      }
    }
    return true;
  }

  void do_step(Queue& queue) {
    const Step& step = *queue.steps[queue.done % queue.steps.size()];
    int chain = chain_of_regions(queue.rank, step);
    for (const plan::Source& source : step.sources) {
      if (source.stream < 0) continue;
      Channel& from = channel(queue.rank, source.stream);
      chain = std::max(chain, from.chains[from.taken[queue.rank]++]);
    }
    longest_ = std::max(longest_, chain);
    for (const plan::Destination& destination : step.destinations) {
      if (destination.stream >= 0) {
        channel(queue.rank, destination.stream).chains.push_back(chain + 1);
        continue;
      }
      for_each_chunk(queue.rank, destination.region, [&](int& stored) { stored = std::max(stored, chain); });
    }
    ++queue.done;
  }

  /// The longest chain that led to what the step reads locally.
  int chain_of_regions(int rank, const Step& step) {
    int chain = 0;
    for (const plan::Source& source : step.sources) {
      if (source.stream >= 0) continue;
      for_each_chunk(rank, source.region, [&](int& stored) { chain = std::max(chain, stored); });
    }
    return chain;
  }

  template <class F>
  void for_each_chunk(int rank, const plan::Region& region, F f) {
    for (const plan::Run& run : region.runs) {
      for (int chunk = run.first; chunk < run.first + run.count; ++chunk) f(stored_[{rank, region.space, chunk}]);
    }
  }

  const std::vector<Plan>& plans_;
  std::vector<Queue> queues_;
  std::map<std::tuple<int, std::vector<int>, int>, Channel> channels_;
  std::map<std::tuple<int, plan::Space, int>, int> stored_;
  int longest_ = 0;
};

int hops_of(const Algorithm& algorithm, int ranks) {
  const std::vector<Plan> plans = plans_of(algorithm, ranks);
  return ChainRun(plans, Order::kLanes).run(1);
}

int floor_log2(int value) {
  int log = 0;
  while (value >> (log + 1) != 0) ++log;
  return log;
}
int ceil_log2(int value) { return value == 1 ? 0 : floor_log2(value - 1) + 1; }

TEST(Hops, AreThoseOfTheCostFunctions) {
  for (int p = 2; p <= 40; ++p) {
    const int fold = p == 1 << floor_log2(p) ? 0 : 2;
    EXPECT_EQ(hops_of(named("flat_one_shot"), p), 1) << p;
    EXPECT_EQ(hops_of(named("flat_two_shot"), p), 2) << p;
    EXPECT_EQ(hops_of(named("ring"), p), 2 * (p - 1)) << p;
    EXPECT_EQ(hops_of(named("tree"), p), 2 * floor_log2(p)) << p;
    // Whoever is not waited for in the fold shortens the chain.
    EXPECT_LE(hops_of(named("recursive_doubling"), p), floor_log2(p) + fold) << p;
    EXPECT_GE(hops_of(named("recursive_doubling"), p), floor_log2(p) + fold / 2) << p;
    EXPECT_EQ(hops_of(named("rabenseifner"), p), 2 * floor_log2(p) + fold) << p;
    EXPECT_EQ(hops_of(named("ring", Collective::kAllGather), p), p - 1) << p;
    EXPECT_LE(hops_of(named("bruck", Collective::kAllGather), p), ceil_log2(p)) << p;
    EXPECT_GE(hops_of(named("bruck", Collective::kAllGather), p), floor_log2(p)) << p;
    EXPECT_EQ(hops_of(named("pairwise", Collective::kAllToAll), p), 1) << p;
  }
}

TEST(Bytes, AreTheFewestWhereClaimed) {
  for (int p = 2; p <= 33; ++p) {
    for (const Plan& plan : plans_of(named("ring"), p)) EXPECT_EQ(sent_by(plan).chunks, 2 * (p - 1));
    for (const Plan& plan : plans_of(named("ring", Collective::kAllGather), p)) {
      EXPECT_EQ(sent_by(plan).chunks, p - 1);
    }
    for (const Plan& plan : plans_of(named("bruck", Collective::kAllGather), p)) {
      EXPECT_EQ(sent_by(plan).chunks, p - 1);
      EXPECT_EQ(sent_by(plan).messages, ceil_log2(p));
    }
    for (const Plan& plan : plans_of(named("pairwise", Collective::kAllToAll), p)) {
      EXPECT_EQ(sent_by(plan).chunks, p - 1);
    }
    for (const Plan& plan : plans_of(named("flat_two_shot"), p)) EXPECT_EQ(sent_by(plan).chunks, p);
    for (const Plan& plan : plans_of(named("flat_one_shot"), p)) EXPECT_EQ(sent_by(plan).chunks, 1);
  }
  for (const int p : {2, 4, 8, 16, 32}) {
    for (const Plan& plan : plans_of(named("rabenseifner"), p)) EXPECT_EQ(sent_by(plan).chunks, 2 * (p - 1));
  }
}

TEST(Bytes, ATreeRankIsInsideOneTreeAtMost) {
  for (int p = 2; p <= 64; ++p) {
    for (const Plan& plan : plans_of(named("tree"), p)) {
      int trees_with_children = 0;
      for (const plan::Lane& lane : plan.lanes) {
        for (const Step& step : lane.steps) {
          if (step.sources.size() > 1) ++trees_with_children;
          EXPECT_LE(step.sources.size(), 3U);
        }
      }
      EXPECT_LE(trees_with_children, 1) << "rank " << plan.rank << " of " << p;
    }
  }
}

TEST(Lanes, AllToAllHasOnePerDirectionAndPeer) {
  for (const Plan& plan : plans_of(named("pairwise", Collective::kAllToAll), 7)) {
    EXPECT_EQ(plan.lanes.size(), 13U);
    for (const plan::Lane& lane : plan.lanes) EXPECT_EQ(lane.steps.size(), 1U);
  }
}

TEST(StraightLine, OneThreadPerRankFinishes) {
  int straight = 0;
  for (const Algorithm* algorithm : builtin()) {
    for (int p = 1; p <= 33; ++p) {
      const std::vector<Plan> plans = plans_of(*algorithm, p);
      if (!plans[0].straight_line) continue;
      ++straight;
      for (const Plan& plan : plans) EXPECT_TRUE(plan.straight_line);
      EXPECT_GE(ChainRun(plans, Order::kIssue).run(4), 0) << algorithm->name() << ", " << p << " ranks";
    }
  }
  EXPECT_GE(straight, 2 * 33) << "flat_one_shot and recursive_doubling are latency algorithms";
}

TEST(OneRank, IsOneStep) {
  for (const Algorithm* algorithm : builtin()) {
    const Plan plan = plans_of(*algorithm, 1)[0];
    ASSERT_EQ(plan::step_count(plan), 1) << algorithm->name();
    const Step& step = plan.lanes[0].steps[0];
    EXPECT_EQ(step.apply_post, plan.collective == Collective::kAllReduce);
    EXPECT_TRUE(step.sources[0].apply_pre);
    EXPECT_TRUE(plan.streams.empty());
  }
}

}  // namespace
}  // namespace hawser::algorithms
