// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// verify_campaign [--mutants N] [--rewrites N] [--schedules N] [--seed N] [--judge-refused]
//                 [--ranks N] [--speed N] [--only LABEL]
// The campaigns of verify_mutants_test in any length; --ranks proves every algorithm at 1 to N ranks in many
// placements; --speed times verify at N ranks, in processor time (LABEL: all_reduce_ring, ...). Prints counts; exit code 1 if something is found.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "interpret_support.h"
#include "plan/verify.h"
#include "verify_judge.h"

namespace hawser::test {
namespace {

struct Arguments {
  int mutants = 0;
  int rewrites = 0;
  int schedules = 8;
  std::uint64_t seed = 1;
  int ranks = 0;
  int speed = 0;
  std::string_view only;
  Refused refused = Refused::kTrusted;
};

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--judge-refused") arguments.refused = Refused::kJudgedToo;
    if (i + 1 == words.size()) break;
    const int value = std::atoi(words[i + 1]);
    if (word == "--mutants") arguments.mutants = value;
    if (word == "--rewrites") arguments.rewrites = value;
    if (word == "--schedules") arguments.schedules = value;
    if (word == "--seed") arguments.seed = static_cast<std::uint64_t>(value);
    if (word == "--ranks") arguments.ranks = value;
    if (word == "--speed") arguments.speed = value;
    if (word == "--only") arguments.only = words[i + 1];
  }
  return arguments;
}

bool report(std::string_view name, const Tally& tally) {
  fmt::print(
      "{}: {} cases, {} refused ({} of them wrong in the interpreter), {} passed and right, {} passed and wrong\n",
      name, tally.cases, tally.refused, tally.refused_and_wrong, tally.passed_and_right, tally.passed_and_wrong.size());
  for (const std::string& text : tally.passed_and_wrong) fmt::print("  wrong: {}\n", text);
  for (const std::string& text : tally.refused_texts) fmt::print("  refused: {}\n", text);
  return tally.passed_and_wrong.empty() && tally.refused_texts.empty();
}

/// None, all, each single rank, and 20 random subsets.
std::vector<std::vector<bool>> placements(int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::vector<bool>> all = {std::vector<bool>(size, false), std::vector<bool>(size, true)};
  for (std::size_t rank = 0; rank < size; ++rank) {
    all.emplace_back(size, false);
    all.back()[rank] = true;
  }
  Random random(size);
  for (int i = 0; i < 20; ++i) {
    all.emplace_back(size, false);
    for (auto&& flag : all.back()) flag = below(random, 2) == 0;
  }
  return all;
}

/// Of this process, so that figures mean something on a busy machine.
double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool prove(const algorithms::Algorithm& algorithm, int most_ranks) {
  const double start = processor_s();
  const algorithms::Call call{.collective = collective_of(algorithm), .count = 100};
  long proofs = 0;
  int credit = 0;
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    const std::vector<plan::Plan> plans = plans_of(algorithm, call, topology::uniform(ranks, ranks));
    for (const std::vector<bool>& in_place : placements(ranks)) {
      const Result<plan::Proof> proof = verify(plans, plan::VerifyOptions{.in_place = in_place});
      ++proofs;
      if (!proof.is_ok()) {
        fmt::print("{} at {} ranks: {}\n", label_of(algorithm), ranks, proof.status().message());
        return false;
      }
      credit = std::max(credit, proof.value().credit);
    }
  }
  fmt::print("{}: {} proofs at 1..{} ranks, credit {}, {:.1f} s of processor time\n", label_of(algorithm), proofs,
             most_ranks, credit, (processor_s() - start));
  return true;
}

bool time_one(const algorithms::Algorithm& algorithm, int ranks) {
  const algorithms::Call call{.collective = collective_of(algorithm), .count = 100};
  double start = processor_s();
  const std::vector<plan::Plan> plans = plans_of(algorithm, call, topology::uniform(ranks, ranks));
  const double build_s = (processor_s() - start);
  start = processor_s();
  const Result<plan::Proof> proof = verify(plans, plan::VerifyOptions{.exact = ranks <= 64});
  fmt::print("{:28} {:4} ranks: built in {:8.1f} ms, verified in {:8.1f} ms, {} steps{}\n", label_of(algorithm), ranks,
             build_s * 1e3, (processor_s() - start) * 1e3, proof.is_ok() ? proof.value().steps : 0,
             proof.is_ok() ? "" : ": " + proof.status().message());
  return proof.is_ok();
}

int run(const Arguments& arguments) {
  bool is_clean = true;
  for (const algorithms::Algorithm* algorithm : algorithms::builtin()) {
    if (!arguments.only.empty() && label_of(*algorithm) != arguments.only) continue;
    if (arguments.ranks > 0) is_clean = prove(*algorithm, arguments.ranks) && is_clean;
    if (arguments.speed > 0) is_clean = time_one(*algorithm, arguments.speed) && is_clean;
  }
  if (arguments.mutants > 0) {
    const Tally tally = run_mutants(arguments.mutants, arguments.schedules, arguments.seed, arguments.refused);
    is_clean = report("mutants", tally) && is_clean;
  }
  if (arguments.rewrites > 0) {
    is_clean = report("rewrites", run_rewrites(arguments.rewrites, arguments.schedules, arguments.seed)) && is_clean;
  }
  return is_clean ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace hawser::test

int main(int count, char** words) {
  return hawser::test::run(hawser::test::parse(std::span(words, static_cast<std::size_t>(count))));
}
