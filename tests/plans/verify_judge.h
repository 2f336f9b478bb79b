// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The byte interpreter as judge of plans that verify has passed or refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "verify_mutate.h"

namespace hawser::test {

/// What to judge, and under which circumstances.
struct Case {
  std::string name;
  std::vector<plan::Plan> plans;
  std::vector<plan::Plan> model;  ///< what the plans were before: says which collective is called
  std::vector<bool> in_place;
};

/// Runs the plans under `schedules` schedules (orders, credits, landings, sizes). Empty if each gave what the collective
/// demands, and equal expressions on all ranks; otherwise a sentence about the first that did not.
std::string find_fault(const Case& judged, int schedules, std::uint64_t seed);

/// Right plans at random: every algorithm of the library and every example, 1 to `most_ranks` ranks, in place anywhere.
Case pick_case(int most_ranks, Random& random);

/// What became of the damaged or rewritten plans of a campaign.
struct Tally {
  int cases = 0;
  int refused = 0;            ///< by verify
  int refused_and_wrong = 0;  ///< of those, such as the interpreter also faults (only if it was asked)
  int passed_and_right = 0;
  std::vector<std::string> passed_and_wrong;  ///< descriptions
  std::vector<std::string> refused_texts;     ///< of rewrites
};

enum class Refused : std::uint8_t { kTrusted, kJudgedToo };

/// Damages one field in each of `cases` right plans.
Tally run_mutants(int cases, int schedules, std::uint64_t seed, Refused refused);
/// Rewrites `cases` right plans.
Tally run_rewrites(int cases, int schedules, std::uint64_t seed);

}  // namespace hawser::test
