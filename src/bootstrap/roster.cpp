// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/roster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bootstrap/wire.h"

namespace hawser::bootstrap {
namespace {

constexpr std::size_t kNamedRanks = 16;
constexpr std::size_t kMaxNeighbors = 40;  // 2 * log2(kMaxRanks)

void write_member(Writer& writer, const Member& member) {
  writer.number(static_cast<std::uint32_t>(member.rank)).number(member.host).text(member.host_name);
  write_addresses(writer.bytes(member.nonce), member.addresses);
}

std::optional<Member> read_member(Reader& reader) {
  Member member;
  const auto rank = reader.number<std::uint32_t>();
  member.host = reader.number<std::uint64_t>();
  member.host_name = reader.text();
  member.nonce = reader.array<sizeof(Secret)>();
  auto addresses = read_addresses(reader);
  if (!addresses || rank >= kMaxRanks) return std::nullopt;
  member.rank = static_cast<int>(rank);
  member.addresses = std::move(*addresses);
  return member;
}

}  // namespace

std::vector<std::byte> encode(const JoinRequest& request) {
  Writer writer;
  write_member(writer, request.member);
  writer.number(static_cast<std::uint32_t>(request.ranks)).number(request.limit_ms).number(request.remaining_ms);
  return writer.take();
}

std::vector<std::byte> encode(const Table& table) {
  Writer writer;
  writer.bytes(table.nonce).number(static_cast<std::uint16_t>(table.neighbors.size()));
  for (const Member& member : table.neighbors) write_member(writer, member);
  return writer.take();
}

std::vector<std::byte> encode(const Refusal& refusal) {
  return Writer().number(static_cast<std::uint8_t>(refusal.code)).text(refusal.reason).take();
}

std::optional<JoinRequest> decode_join(std::span<const std::byte> payload) {
  Reader reader(payload);
  auto member = read_member(reader);
  if (!member) return std::nullopt;
  JoinRequest request{std::move(*member)};
  const auto ranks = reader.number<std::uint32_t>();
  request.limit_ms = reader.number<std::uint32_t>();
  request.remaining_ms = reader.number<std::uint32_t>();
  if (!reader.is_complete() || ranks == 0 || ranks > kMaxRanks) return std::nullopt;
  request.ranks = static_cast<int>(ranks);
  if (request.member.rank >= request.ranks) return std::nullopt;
  return request;
}

std::optional<Table> decode_table(std::span<const std::byte> payload) {
  Reader reader(payload);
  Table table;
  table.nonce = reader.array<sizeof(Secret)>();
  const auto count = reader.number<std::uint16_t>();
  if (count > kMaxNeighbors) return std::nullopt;
  for (std::uint16_t i = 0; i < count; ++i) {
    auto member = read_member(reader);
    if (!member) return std::nullopt;
    table.neighbors.push_back(std::move(*member));
  }
  if (!reader.is_complete()) return std::nullopt;
  return table;
}

std::optional<Refusal> decode_refusal(std::span<const std::byte> payload) {
  Reader reader(payload);
  const auto code = reader.number<std::uint8_t>();
  std::string reason = reader.text();
  const bool is_failure = code >= static_cast<std::uint8_t>(Code::kSystemError) &&
                          code <= static_cast<std::uint8_t>(Code::kTimeout) &&
                          code != static_cast<std::uint8_t>(Code::kInProgress);
  if (!reader.is_complete() || !is_failure) return std::nullopt;
  return Refusal{static_cast<Code>(code), std::move(reason)};
}

std::string text_of(const Member& member) {
  return fmt::format("rank {} on {} ({})", member.rank, member.host_name, text_of(member.addresses));
}

std::string text_of_ranks(const std::vector<int>& ranks) {
  const std::size_t named = std::min(ranks.size(), kNamedRanks);
  std::string text = fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks",
                                 fmt::join(ranks.begin(), ranks.begin() + static_cast<long>(named), ", "));
  if (named < ranks.size()) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

std::vector<int> neighbors_of(int rank, int ranks) {
  std::set<int> neighbors;
  for (int distance = 1; distance < ranks; distance *= 2) {
    neighbors.insert((rank + distance) % ranks);
    neighbors.insert((rank - distance + ranks) % ranks);
  }
  return {neighbors.begin(), neighbors.end()};
}

int rounds_for(int ranks) {
  int rounds = 0;
  while ((1 << rounds) < ranks) ++rounds;
  return rounds;
}

Status Roster::add(const JoinRequest& request) {
  const Member& member = request.member;
  if (members_.empty()) {
    ranks_ = request.ranks;
    first_ = member.rank;
  }
  if (request.ranks != ranks_)
    return Status(
        Code::kInvalidUsage,
        fmt::format("{} joined a communicator of {} ranks, but {} joined the same one with {} ranks: pass the "
                    "same number to ncclCommInitRank everywhere",
                    text_of(member), request.ranks, text_of(members_.at(first_)), ranks_));
  const auto [place, is_new] = members_.try_emplace(member.rank, member);
  if (is_new) return {};
  return Status(Code::kInvalidUsage,
                fmt::format("two callers joined as the same rank: {} and {}: give every rank a number of its own, and "
                            "every communicator a unique id of its own",
                            text_of(place->second), text_of(member)));
}

std::vector<int> Roster::missing() const {
  std::vector<int> missing;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!members_.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

Table Roster::table_for(int rank, const Secret& nonce) const {
  Table table{nonce, {}};
  for (const int neighbor : neighbors_of(rank, ranks_)) table.neighbors.push_back(members_.at(neighbor));
  return table;
}

}  // namespace hawser::bootstrap
