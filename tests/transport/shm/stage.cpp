// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/transport/shm/stage.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/transport/shm_connect.h"

namespace hawser::transport::suite {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{16} << 20;

void play(int rank, int ranks, Board& board, const Script& script, PlayedRank& played) {
  Result<shm::MeshListener> listener = shm::MeshListener::open();
  ASSERT_TRUE(listener.is_ok());
  const shm::ShmArgs shm = introduce(rank, ranks, board, listener.value());
  shm::MeshArgs args;
  args.rank = rank;
  args.local_ranks = shm.local_ranks;
  for (const shm::Introduction& introduction : shm.introductions)
    args.addresses.push_back(introduction.control_address);
  args.prove = prove_for_test;
  args.deadline = shm.deadline;
  Result<std::vector<shm::Peer>> connections = shm::connect_mesh(listener.value(), args);
  ASSERT_TRUE(connections.is_ok()) << connections.status().message();
  played.rank = rank;
  played.connections = std::move(connections).value();
  script(played);
  if (played.connections.empty()) return;
  Result<shm::Received> segment = shm::await_packet(played.connections[0], args);
  if (!segment.is_ok()) return;  // rank 0 had reason to give up
  Result<shm::PeerSegment> mapped = shm::PeerSegment::map(std::move(segment.value().descriptor));
  ASSERT_TRUE(mapped.is_ok()) << mapped.status().message();
  played.segment_of_zero = std::move(mapped).value();
}

Result<std::unique_ptr<Transport>> be_zero(int ranks, Board& board) {
  Result<shm::MeshListener> listener = shm::MeshListener::open();
  EXPECT_TRUE(listener.is_ok());
  shm::ShmArgs args = introduce(0, ranks, board, listener.value());
  // The played ranks are threads of this process; to rank 0 they must seem to be strangers' processes.
  for (int other = 1; other < ranks; ++other) args.introductions[static_cast<std::size_t>(other)].process_token ^= 2;
  args.segment_bytes = kSegmentBytes;
  return shm::create(std::move(listener).value(), std::move(args));
}

}  // namespace

void hand_over(PlayedRank& played, const shm::Packet& packet, int descriptor) {
  EXPECT_TRUE(shm::send_packet(played.connections[0], packet, descriptor).is_ok());
}

void play_honestly(PlayedRank& played) {
  Result<std::unique_ptr<shm::OwnSegment>> segment = shm::OwnSegment::create(kSegmentBytes);
  ASSERT_TRUE(segment.is_ok()) << segment.status().message();
  played.segment = std::move(segment).value();
  shm::Packet packet;
  packet.kind = shm::Packet::Kind::kSegment;
  hand_over(played, packet, played.segment->memory_fd());
}

Stage set_stage(int played, const Script& script) {
  const SharedBoard board;
  Stage stage{Status(Code::kInternalError, "not connected"), std::vector<PlayedRank>(static_cast<std::size_t>(played))};
  {
    std::vector<std::jthread> threads;
    for (int rank = 1; rank <= played; ++rank) {
      PlayedRank& own = stage.played[static_cast<std::size_t>(rank - 1)];
      threads.emplace_back([&, rank] { play(rank, played + 1, board.get(), script, own); });
    }
    stage.zero = be_zero(played + 1, board.get());
  }
  return stage;
}

}  // namespace hawser::transport::suite
