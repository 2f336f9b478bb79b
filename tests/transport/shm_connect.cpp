// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/transport/shm_connect.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hawser::transport::suite {

std::array<std::byte, 32> prove_for_test(std::span<const std::byte> text) {
  std::array<std::byte, 32> proof{};
  std::uint64_t state = 0x5ec2e7;
  for (const std::byte byte : text) state = (state ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  for (std::byte& byte : proof) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::byte>(state >> 56);
  }
  return proof;
}

shm::ShmArgs introduce(int rank, int ranks, Board& board, const shm::MeshListener& listener) {
  Board::Name& own = board.names.at(static_cast<std::size_t>(rank));
  EXPECT_LT(listener.address.size(), sizeof(own.address));
  std::memcpy(own.address, listener.address.data(), listener.address.size());
  const Result<std::uint64_t> token = shm::process_token();
  EXPECT_TRUE(token.is_ok());
  own.token = token.is_ok() ? token.value() : 0;
  own.is_set.store(1);
  shm::ShmArgs args;
  args.rank = rank;
  args.ranks = ranks;
  args.prove = prove_for_test;
  args.deadline = std::chrono::steady_clock::now() + kPatience;
  args.segment_bytes = std::size_t{64} << 20;
  for (int other = 0; other < ranks; ++other) {
    const Board::Name& name = board.names.at(static_cast<std::size_t>(other));
    await(board, "a peer's introduction", [&] { return name.is_set.load() != 0; });
    args.local_ranks.push_back(other);
    args.introductions.push_back({name.address, name.token});
    args.hosts.emplace_back("testhost");
  }
  return args;
}

std::unique_ptr<Transport> connect_over_shm(int rank, int ranks, Board& board) {
  Result<shm::MeshListener> listener = shm::MeshListener::open();
  EXPECT_TRUE(listener.is_ok()) << listener.status().message();
  if (!listener.is_ok()) return nullptr;
  shm::ShmArgs args = introduce(rank, ranks, board, listener.value());
  Result<std::unique_ptr<Transport>> transport = shm::create(std::move(listener).value(), std::move(args));
  EXPECT_TRUE(transport.is_ok()) << transport.status().message();
  return transport.is_ok() ? std::move(transport).value() : nullptr;
}

}  // namespace hawser::transport::suite
