// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "topology/json.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace hawser::topology {
namespace {

TEST(TopologyJson, ComesBackAsItWas) {
  Topology topology = uniform(5, 2);
  topology.ranks[3].numa = 1;
  topology.intra = {.alpha_s = 1.25e-7, .beta_s_per_byte = 3.7e-11};
  const Result<Topology> back = from_json(to_json(topology));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back.value(), topology);
}

TEST(TopologyJson, AHostNameThatIsNotUtf8DoesNotThrow) {
  Topology topology = uniform(1, 1);
  topology.ranks[0].host = "bad\xff name";
  EXPECT_TRUE(from_json(to_json(topology)).is_ok());
}

TEST(TopologyJson, NonsenseIsRefusedWithAReason) {
  const std::string good = to_json(uniform(2, 2));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::array<std::pair<std::string, std::string>, 7> cases = {{
      {"", "not JSON"},
      {"[1, 2]", "format"},
      {with("hawser-topology-1", "hawser-topology-9"), "format"},
      {with("\"nodes\": 1", "\"nodes\": 0"), "'nodes'"},
      {with("\"nodes\": 1", "\"nodes\": \"many\""), "'nodes'"},
      {with("\"node\": 0", "\"node\": 7"), "lives on node 7"},
      {with("\"ranks\"", "\"runks\""), "'ranks'"},
  }};
  for (const auto& [text, reason] : cases) {
    const Result<Topology> outcome = from_json(text);
    ASSERT_FALSE(outcome.is_ok()) << text;
    EXPECT_EQ(outcome.status().code(), Code::kInvalidArgument);
    EXPECT_NE(outcome.status().message().find(reason), std::string::npos) << outcome.status().message();
  }
}

TEST(TopologyJson, FilesThatCannotBeReadAreNamed) {
  const Result<Topology> outcome = load("/nonexistent/topology.json");
  ASSERT_FALSE(outcome.is_ok());
  EXPECT_NE(outcome.status().message().find("/nonexistent/topology.json"), std::string::npos);
}

TEST(TopologyJson, DumpsAndLoadsAFile) {
  const std::string path = testing::TempDir() + "hawser-topology-test.json";
  const Topology topology = uniform(3, 3);
  ASSERT_TRUE(dump(topology, path).is_ok());
  const Result<Topology> back = load(path);
  std::remove(path.c_str());
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back.value(), topology);
}

}  // namespace
}  // namespace hawser::topology
