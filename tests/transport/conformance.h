// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The suite that every transport passes. A transport takes part by one entry in subjects.cpp: how to connect its ranks,
// and what it promises beyond the vocabulary's minimum.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/transport/harness.h"

namespace hawser::transport::suite {

/// Which memory a peer can reach in place.
enum class Reach : std::uint8_t {
  kNone,
  kOffered,  ///< allocated by device/host_memory.h and offered
  kAny,
};

/// A transport under test, in one arrangement of ranks and processes.
struct Subject {
  std::string name;
  Connect (*connector)(int ranks);
  int ranks_per_process = kMaxRanks;
  Reach refer = Reach::kNone;      ///< memory for which can_refer() says yes
  Reach post = Reach::kNone;       ///< memory for which post() says yes
  std::uint32_t inline_bytes = 0;  ///< messages up to this size always come in slots
  bool is_put_in_place = false;    ///< places() names the posted memory itself
  bool may_refuse = false;         ///< says no now and then to what it could do
};

/// All transports, each in the arrangements that differ.
std::vector<Subject> subjects();

class Conformance : public ::testing::TestWithParam<Subject> {
 protected:
  static const Subject& subject() { return GetParam(); }
  static void run(int ranks, const Body& body) {
    // Ranks of one process would be a different subject.
    const int most = subject().ranks_per_process < kMaxRanks ? std::max(1, ranks - 1) : kMaxRanks;
    const RunOptions options{.ranks = ranks, .ranks_per_process = std::min(most, subject().ranks_per_process)};
    run_ranks(options, subject().connector(ranks), body);
  }
};

/// Names the tests of one subject.
std::string name_of_subject(const ::testing::TestParamInfo<Subject>& info);

/// Receivers 1..n-1 of a stream of rank 0.
std::vector<int> all_but_zero(int ranks);

}  // namespace hawser::transport::suite
