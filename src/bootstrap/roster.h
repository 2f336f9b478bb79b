// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the root knows of its ranks: who has joined, what is wrong with it, and what each must be told. Pure: no
// sockets, no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap.h"

namespace hawser::bootstrap {

/// The largest communicator.
inline constexpr int kMaxRanks = 1 << 20;

/// Where a rank is and how to reach it.
struct Member {
  int rank = 0;
  std::uint64_t host = 0;                ///< host_hash()
  std::string host_name;                 ///< for messages
  Secret nonce{};                        ///< of its listener: a connection to another one fails
  std::vector<SocketAddress> addresses;  ///< of its listener

  bool operator==(const Member&) const = default;
};

/// What a rank says when it joins.
struct JoinRequest {
  Member member;
  int ranks = 0;
  std::uint32_t limit_ms = 0;      ///< its Config::init_timeout
  std::uint32_t remaining_ms = 0;  ///< what is left of it
};

/// What a rank is told in return.
struct Table {
  Secret nonce{};                 ///< of this communicator
  std::vector<Member> neighbors;  ///< at distance 2^k in both directions
};

/// Why there will be no communicator.
struct Refusal {
  Code code = Code::kRemoteError;
  std::string reason;
};

std::vector<std::byte> encode(const JoinRequest& request);
std::vector<std::byte> encode(const Table& table);
std::vector<std::byte> encode(const Refusal& refusal);
/// Nothing for bytes that are no such message, or whose numbers are out of range.
std::optional<JoinRequest> decode_join(std::span<const std::byte> payload);
std::optional<Table> decode_table(std::span<const std::byte> payload);
std::optional<Refusal> decode_refusal(std::span<const std::byte> payload);

/// "rank 3 on node7 (10.0.0.7:4321, ...)".
std::string text_of(const Member& member);
/// "rank 3", "ranks 1, 4, 7", and at most 16 of them by number.
std::string text_of_ranks(const std::vector<int>& ranks);

/// The ranks at distance 2^k, k = 0 .. ceil(log2 ranks) - 1, in both directions, without duplicates, ascending.
std::vector<int> neighbors_of(int rank, int ranks);
/// How many rounds it takes: ceil(log2 ranks).
int rounds_for(int ranks);

class Roster {
 public:
  /// Enters a rank. kInvalidUsage if its number is taken or its count of ranks is another one, naming both.
  Status add(const JoinRequest& request);
  [[nodiscard]] bool is_complete() const { return ranks_ > 0 && static_cast<int>(members_.size()) == ranks_; }
  [[nodiscard]] bool is_empty() const { return members_.empty(); }
  /// As the first rank to join says; 0 before.
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::vector<int> missing() const;
  /// The member with that number, which has joined.
  [[nodiscard]] const Member& member(int rank) const { return members_.at(rank); }
  /// For one rank. Only when complete.
  [[nodiscard]] Table table_for(int rank, const Secret& nonce) const;

 private:
  int ranks_ = 0;
  int first_ = 0;  // the rank that set ranks_
  std::map<int, Member> members_;
};

}  // namespace hawser::bootstrap
