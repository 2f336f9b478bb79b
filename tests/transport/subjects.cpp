// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/transport/conformance.h"
#include "tests/transport/delayed_transport.h"
#include "tests/transport/shm_connect.h"
#include "transport/shm/layout.h"

namespace hawser::transport::suite {
namespace {

constexpr std::uint64_t kSeed = 20;

Connect connect_shm(int) {
  return [](int rank, int ranks, Board& board) { return connect_over_shm(rank, ranks, board); };
}

/// Endpoints made ahead, handed out to the ranks' threads.
Connect hand_out(int ranks, const DelayedOptions& options) {
  auto made = std::make_shared<std::vector<std::unique_ptr<Transport>>>(make_delayed(ranks, options));
  return [made](int rank, int, Board&) { return std::move(made->at(static_cast<std::size_t>(rank))); };
}

Connect connect_slots(int ranks) { return hand_out(ranks, {.seed = kSeed, .landings = DelayedLandings::kSlots}); }
Connect connect_put(int ranks) { return hand_out(ranks, {.seed = kSeed, .landings = DelayedLandings::kPut}); }
Connect connect_get(int ranks) { return hand_out(ranks, {.seed = kSeed, .landings = DelayedLandings::kGet}); }
Connect connect_load_store(int ranks) {
  return hand_out(ranks, {.seed = kSeed, .landings = DelayedLandings::kLoadStore});
}
Connect connect_moody(int ranks) {
  return hand_out(ranks, {.seed = kSeed, .landings = DelayedLandings::kLoadStore, .refusals_percent = 40});
}

}  // namespace

std::vector<Subject> subjects() {
  constexpr std::uint32_t kInline = shm::kInlineBytes;
  return {
      {"ShmThreads", connect_shm, kMaxRanks, Reach::kAny, Reach::kAny, kInline, true},
#ifndef __SANITIZE_THREAD__  // the race detector watches threads; forked processes would only slow it down
      {"ShmProcesses", connect_shm, 1, Reach::kOffered, Reach::kOffered, kInline, true},
      {"ShmMixed", connect_shm, 2, Reach::kOffered, Reach::kOffered, kInline, true},
#endif
      {"DelayedSlots", connect_slots},
      {"DelayedPut", connect_put, kMaxRanks, Reach::kNone, Reach::kOffered},
      {"DelayedGet", connect_get, kMaxRanks, Reach::kOffered, Reach::kNone},
      {"DelayedLoadStore", connect_load_store, kMaxRanks, Reach::kOffered, Reach::kOffered, 0, true},
      {"DelayedMoody", connect_moody, kMaxRanks, Reach::kOffered, Reach::kOffered, 0, true, true},
  };
}

std::string name_of_subject(const ::testing::TestParamInfo<Subject>& info) { return info.param.name; }

std::vector<int> all_but_zero(int ranks) {
  std::vector<int> receivers;
  for (int rank = 1; rank < ranks; ++rank) receivers.push_back(rank);
  return receivers;
}

}  // namespace hawser::transport::suite
