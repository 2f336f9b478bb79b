// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "verify_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "interpret_support.h"
#include "plan/interpret.h"
#include "plan/verify.h"
#include "verify_examples.h"

namespace hawser::test {
namespace {

using plan::ElementOps;
using plan::Plan;

template <class F>
void for_each_word(std::span<std::byte> bytes, F f) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, 4);
    word = f(word, at);
    std::memcpy(bytes.data() + at, &word, 4);
  }
}

/// Sums that do not depend on the order, with a pre and a post that show when they are missing or applied twice.
ElementOps marked_sum() {
  ElementOps ops = plan::int32_sum();
  ops.pre = [](std::span<std::byte> bytes) {
    for_each_word(bytes, [](std::uint32_t word, std::size_t) { return word * 2654435761U + 12345U; });
  };
  ops.post = [](std::span<std::byte> bytes) {
    for_each_word(bytes, [](std::uint32_t word, std::size_t) { return word * 40503U + 777U; });
  };
  return ops;
}

/// Elements of a call: three tiles or so per chunk, uneven parts; now and then a call with fewer elements than parts.
std::size_t elements_of(const Plan& plan, Random& random) {
  constexpr std::size_t kElementsPerTile = 16;
  if (below(random, 8) == 0) return static_cast<std::size_t>(below(random, 4));
  const bool is_parts = plan.input.cut == plan::Cut::kParts;
  const std::size_t chunks = is_parts ? static_cast<std::size_t>(std::max(1, plan.input.chunks)) : 1;
  return kElementsPerTile * chunks * (1 + static_cast<std::size_t>(below(random, 4))) + random() % 40;
}

std::string compare(const plan::Outcome& outcome, const std::vector<std::vector<std::byte>>& expected) {
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    if (outcome.outputs[rank] != expected[rank]) return fmt::format("rank {} has a wrong result", rank);
  }
  return {};
}

std::string run_once(const Case& judged, int schedule, std::uint64_t seed) {
  Random random(seed + static_cast<std::uint64_t>(schedule) * 7919);
  const Plan& first = judged.model.front();
  constexpr std::array kMixes = {plan::LandingMix::kMixed, plan::LandingMix::kInPlace, plan::LandingMix::kMixed,
                                 plan::LandingMix::kDirect, plan::LandingMix::kSlots};
  plan::InterpretOptions options;
  options.seed = random();
  options.count = elements_of(first, random);
  options.in_place = judged.in_place;
  options.credit_extra = schedule % 2 == 0 ? 0 : 2;
  options.landing = kMixes[static_cast<std::size_t>(schedule) % kMixes.size()];
  const std::vector<std::vector<std::byte>> inputs =
      inputs_for(judged.model, options.count, Fill::kRandomBits, random());
  // One schedule in three compares expressions between ranks instead of sums with what they should be.
  const bool is_hashing = schedule % 3 == 2 && first.collective == Collective::kAllReduce;
  const ElementOps ops = is_hashing ? plan::expression_hash() : marked_sum();
  const Result<plan::Outcome> outcome = plan::interpret(judged.plans, inputs, options, ops);
  if (!outcome.is_ok()) return outcome.status().message();
  if (!is_hashing) {
    return compare(outcome.value(), plan::expected_outputs(first.collective, first.root, inputs, ops));
  }
  return compare(outcome.value(), std::vector(judged.model.size(), outcome.value().outputs.front()));
}

std::vector<bool> pick_placement(int ranks, Random& random) {
  const int kind = below(random, 4);
  std::vector<bool> in_place(static_cast<std::size_t>(ranks), kind == 0);
  if (kind == 1) {
    for (auto&& flag : in_place) flag = below(random, 2) == 0;
  }
  return in_place;
}

bool passes(const Case& judged) {
  return verify(judged.plans, plan::VerifyOptions{.in_place = judged.in_place}).is_ok();
}

}  // namespace

std::string find_fault(const Case& judged, int schedules, std::uint64_t seed) {
  for (int schedule = 0; schedule < schedules; ++schedule) {
    const std::string fault = run_once(judged, schedule, seed);
    if (!fault.empty()) return fmt::format("schedule {}: {}", schedule, fault);
  }
  return {};
}

Case pick_case(int most_ranks, Random& random) {
  const int ranks = 1 + below(random, static_cast<std::size_t>(most_ranks));
  const std::span<const algorithms::Algorithm* const> algorithms = algorithms::builtin();
  const std::vector<plan::examples::Example>& examples = plan::examples::all();
  Case picked;
  picked.in_place = pick_placement(ranks, random);
  // Two thirds are algorithms of the library.
  if (below(random, 3) == 0) {
    const auto& example = examples[static_cast<std::size_t>(below(random, examples.size()))];
    picked.name = fmt::format("example {}, {} ranks", example.name, ranks);
    picked.plans = picked.model = example.build(ranks);
    return picked;
  }
  const algorithms::Algorithm& algorithm = *algorithms[static_cast<std::size_t>(below(random, algorithms.size()))];
  const algorithms::Call call{.collective = collective_of(algorithm), .count = 100};
  picked.name = fmt::format("{}, {} ranks", label_of(algorithm), ranks);
  picked.plans = picked.model = plans_of(algorithm, call, topology::uniform(ranks, ranks));
  return picked;
}

Tally run_mutants(int cases, int schedules, std::uint64_t seed, Refused refused) {
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    Case damaged = pick_case(6, random);
    const std::string what = mutate(damaged.plans, random);
    ++tally.cases;
    if (!passes(damaged)) {
      ++tally.refused;
      if (refused == Refused::kJudgedToo && !find_fault(damaged, schedules, seed).empty()) ++tally.refused_and_wrong;
      continue;
    }
    const std::string fault = find_fault(damaged, schedules, seed);
    if (fault.empty()) {
      ++tally.passed_and_right;
    } else {
      tally.passed_and_wrong.push_back(fmt::format("case {}: {}, {}: {}", i, damaged.name, what, fault));
    }
  }
  return tally;
}

Tally run_rewrites(int cases, int schedules, std::uint64_t seed) {
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    Case changed = pick_case(8, random);
    const std::string what = rewrite(changed.plans, random);
    ++tally.cases;
    const Result<plan::Proof> proof = verify(changed.plans, plan::VerifyOptions{.in_place = changed.in_place});
    const std::string fault = find_fault(changed, schedules, seed);
    if (!proof.is_ok()) {
      ++tally.refused;
      tally.refused_texts.push_back(
          fmt::format("case {}: {}, {}: {}", i, changed.name, what, proof.status().message()));
    }
    if (!fault.empty()) {
      tally.passed_and_wrong.push_back(fmt::format("case {}: {}, {}: {}", i, changed.name, what, fault));
    } else if (proof.is_ok()) {
      ++tally.passed_and_right;
    }
  }
  return tally;
}

}  // namespace hawser::test
