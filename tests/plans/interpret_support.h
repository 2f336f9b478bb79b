// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests that run plans on the byte interpreter.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "plan/interpret.h"
#include "topology/topology.h"

namespace hawser::test {

/// The plans of all ranks.
inline std::vector<plan::Plan> plans_of(const algorithms::Algorithm& algorithm, const algorithms::Call& call,
                                        const topology::Topology& topology) {
  std::vector<plan::Plan> plans;
  for (int rank = 0; rank < topology.size(); ++rank) plans.push_back(algorithm.build(call, topology, rank));
  return plans;
}

/// The collective that an algorithm is for.
inline Collective collective_of(const algorithms::Algorithm& algorithm) {
  const topology::Topology topology = topology::uniform(2, 2);
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (algorithm.supports({.collective = collective, .count = 1}, topology)) return collective;
  }
  return Collective::kAllReduce;
}

/// "all_reduce_ring".
inline std::string label_of(const algorithms::Algorithm& algorithm) {
  return std::string(name_of(collective_of(algorithm))) + "_" + std::string(algorithm.name());
}

enum class Fill : std::uint8_t { kRandomBits, kSmallFloats };

/// An input per rank, different everywhere. kSmallFloats: integers that fp32 sums exactly.
inline std::vector<std::vector<std::byte>> inputs_for(const std::vector<plan::Plan>& plans, std::size_t count,
                                                      Fill fill, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::byte>> inputs;
  for (const plan::Plan& plan : plans) {
    std::vector<std::byte>& input = inputs.emplace_back(plan::input_bytes(plan, count, 4));
    for (std::size_t at = 0; at < input.size(); at += 4) {
      const auto bits = static_cast<std::uint32_t>(random());
      const auto number = static_cast<float>(static_cast<int>(bits % 2001) - 1000);
      std::memcpy(input.data() + at, fill == Fill::kRandomBits ? static_cast<const void*>(&bits) : &number, 4);
    }
  }
  return inputs;
}

}  // namespace hawser::test
