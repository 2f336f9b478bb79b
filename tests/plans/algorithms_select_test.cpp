// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Which algorithm a call gets: by cost, and by NCCL_ALGO.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpret_support.h"

namespace hawser::algorithms {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Call all_reduce(std::size_t bytes) { return {.collective = Collective::kAllReduce, .count = bytes / 4}; }
Call all_gather(std::size_t bytes) { return {.collective = Collective::kAllGather, .count = bytes / 4}; }

std::string chosen(const Call& call, const topology::Topology& topology, std::string_view forced = {}) {
  const Result<Choice> choice = select(call, topology, forced);
  return choice.is_ok() ? std::string(choice.value().algorithm->name()) : "error: " + choice.status().message();
}

TEST(Select, OneHostUsesFlatAlgorithms) {
  for (const int ranks : {2, 3, 4, 5, 6, 7, 8}) {
    for (const int cores : {2, 8}) {
      topology::Topology topology = topology::uniform(ranks, ranks);
      topology.cores_per_node = cores;
      EXPECT_EQ(chosen(all_reduce(8), topology), "flat_one_shot") << ranks << " ranks, " << cores << " cores";
      EXPECT_EQ(chosen(all_reduce(64), topology), "flat_one_shot") << ranks << " ranks, " << cores << " cores";
      bool is_two_shot = false;
      for (std::size_t bytes = 8; bytes <= std::size_t{256} << 20; bytes *= 2) {
        const std::string name = chosen(all_reduce(bytes), topology);
        is_two_shot = is_two_shot || name == "flat_two_shot";
        EXPECT_EQ(name, is_two_shot ? "flat_two_shot" : "flat_one_shot") << ranks << " ranks, " << bytes << " bytes";
      }
      EXPECT_EQ(chosen(all_reduce(std::size_t{64} << 10), topology), "flat_two_shot");
    }
  }
}

TEST(Select, ManyHostsUseLogarithmicAndRingAlgorithms) {
  const topology::Topology topology = topology::uniform(64, 8);
  EXPECT_EQ(chosen(all_reduce(8), topology), "recursive_doubling");
  EXPECT_EQ(chosen(all_reduce(std::size_t{1} << 20), topology), "tree");
  EXPECT_EQ(chosen(all_reduce(std::size_t{256} << 20), topology), "ring");
  EXPECT_EQ(chosen(all_gather(8), topology), "bruck");
  EXPECT_EQ(chosen(all_gather(std::size_t{16} << 20), topology), "ring");
}

TEST(Costs, ArePositiveFiniteAndGrowWithSize) {
  for (const Algorithm* algorithm : builtin()) {
    for (const auto& [ranks, per_node] : {std::pair{1, 1}, {2, 2}, {2, 1}, {7, 7}, {12, 4}, {64, 8}, {65, 8}}) {
      const topology::Topology topology = topology::uniform(ranks, per_node);
      double before = 0;
      for (std::size_t count = 1; count < std::size_t{1} << 26; count *= 3) {
        const Call call{.collective = test::collective_of(*algorithm), .count = count};
        const double cost = algorithm->cost_s(call, topology);
        EXPECT_GT(cost, before) << algorithm->name() << ", " << ranks << " ranks, count " << count;
        EXPECT_LT(cost, 1e3);
        EXPECT_EQ(cost, algorithm->cost_s(call, topology));
        before = cost;
      }
    }
  }
}

TEST(Candidates, AreSortedAndAllSupportTheCall) {
  const topology::Topology topology = topology::uniform(6, 2);
  for (int i = 0; i < kCollectiveCount; ++i) {
    const Call call{.collective = static_cast<Collective>(i), .count = 1000};
    const std::vector<Choice> choices = candidates(call, topology);
    EXPECT_TRUE(std::ranges::is_sorted(choices, {}, &Choice::cost_s));
    for (const Choice& choice : choices) EXPECT_TRUE(choice.algorithm->supports(call, topology));
  }
  EXPECT_EQ(candidates(all_reduce(100), topology).size(), 6U);
  EXPECT_EQ(candidates(all_gather(100), topology).size(), 2U);
}

TEST(Candidates, TiesKeepTheOrderOfTheList) {
  const std::vector<Choice> choices = candidates(all_reduce(8), topology::uniform(2, 2));
  EXPECT_EQ(choices[0].cost_s, choices[1].cost_s);
  EXPECT_EQ(choices[0].algorithm->name(), "flat_one_shot");
}

TEST(Force, ListsNamesInAnyCase) {
  const topology::Topology topology = topology::uniform(4, 4);
  EXPECT_EQ(chosen(all_reduce(8), topology, "Ring"), "ring");
  EXPECT_EQ(chosen(all_reduce(8), topology, " TREE "), "tree");
  EXPECT_EQ(chosen(all_reduce(8), topology, "ring,tree"), "tree") << "the cheaper one";
  EXPECT_EQ(chosen(all_reduce(8), topology, "ring, flat_one_shot"), "flat_one_shot");
  EXPECT_EQ(chosen(all_reduce(8), topology, ""), "flat_one_shot");
  EXPECT_EQ(chosen(all_reduce(8), topology, "  "), "flat_one_shot");
}

TEST(Force, ExcludesNames) {
  const topology::Topology topology = topology::uniform(4, 4);
  EXPECT_EQ(chosen(all_reduce(8), topology, "^flat_one_shot"), "recursive_doubling");
  EXPECT_EQ(chosen(all_reduce(8), topology, "^flat_one_shot,recursive_doubling"), "flat_two_shot");
}

TEST(Force, TakesAListPerCollective) {
  const topology::Topology topology = topology::uniform(4, 4);
  const std::string_view value = "ring;allreduce:tree;AllGather:^ring";
  EXPECT_EQ(chosen(all_reduce(8), topology, value), "tree");
  EXPECT_EQ(chosen(all_gather(8), topology, value), "bruck");
  EXPECT_EQ(chosen(all_gather(std::size_t{1} << 20), topology, "all_gather:bruck;all_reduce:ring"), "bruck");
  EXPECT_EQ(chosen(all_reduce(8), topology, "allgather:bruck"), "flat_one_shot") << "others stay free";
}

TEST(Force, KnowsNcclsOtherNames) {
  const topology::Topology topology = topology::uniform(4, 4);
  EXPECT_EQ(chosen(all_reduce(8), topology, "NVLS,Tree"), "tree");
  EXPECT_EQ(chosen(all_reduce(8), topology, "^NVLSTree,CollnetChain"), "flat_one_shot");
}

TEST(Force, NamesTheVariableInErrors) {
  const topology::Topology topology = topology::uniform(4, 4);
  for (const std::string_view value :
       {"rong", "ring,", "^", "broadkast:ring", "allreduce:", "ring;allreduce:rong", "allreduce:tree;ring", "NVLS"}) {
    const Result<Choice> choice = select(all_reduce(8), topology, value);
    ASSERT_FALSE(choice.is_ok()) << value;
    EXPECT_EQ(choice.status().code(), Code::kInvalidUsage);
    EXPECT_THAT(choice.status().message(), HasSubstr("NCCL_ALGO"));
    EXPECT_THAT(choice.status().message(), HasSubstr(std::string(value)));
  }
  EXPECT_THAT(select(all_reduce(8), topology, "rong").status().message(), HasSubstr("flat_two_shot"));
  EXPECT_THAT(chosen(all_gather(8), topology, "tree"), HasSubstr("leaves no algorithm for all_gather"));
}

TEST(Force, SaysWhenThereIsNoAlgorithmAtAll) {
  const Call call{.collective = Collective::kBroadcast, .count = 1};
  EXPECT_THAT(chosen(call, topology::uniform(2, 2)), HasSubstr("no algorithm supports broadcast"));
}

TEST(Size, IsTheLargerBuffer) {
  EXPECT_EQ(bytes_of({.collective = Collective::kAllReduce, .count = 10, .type = DataType::kFloat64}, 4), 80U);
  EXPECT_EQ(bytes_of({.collective = Collective::kAllGather, .count = 10, .type = DataType::kFloat16}, 4), 80U);
  EXPECT_EQ(bytes_of({.collective = Collective::kReduceScatter, .count = 10, .type = DataType::kInt8}, 4), 40U);
  EXPECT_EQ(bytes_of({.collective = Collective::kAllToAll, .count = 10, .type = DataType::kInt32}, 4), 160U);
  EXPECT_EQ(bytes_of({.collective = Collective::kBroadcast, .count = 10, .type = DataType::kInt32}, 4), 40U);
}

}  // namespace
}  // namespace hawser::algorithms
