// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What is told to peers about user memory, and when staging memory cannot be had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>

#include "tests/transport/shm/stage.h"

namespace hawser::transport::suite {
namespace {

using shm::Packet;
using ::testing::HasSubstr;

constexpr std::array kOne{1};
const StreamSpec kFromZero{0, kOne, 0, 4096, 2};
constexpr std::size_t kBytes = 8192;

class Offers : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(stage_.zero.is_ok()) << stage_.zero.status().message();
    port_ = std::move(stage_.zero.value()->open_send(kFromZero)).value();
  }
  void offer(const std::byte* memory, std::size_t bytes) { stage_.zero.value()->offer(memory, bytes); }
  /// Packets that have come to rank 1 since the last call.
  std::vector<Packet> told() {
    std::vector<Packet> packets;
    while (std::optional<shm::Received> received = shm::receive_packet(stage_.played[0].connections[0])) {
      EXPECT_EQ(received->descriptor.is_open(), received->packet.kind == Packet::Kind::kMemory);
      packets.push_back(received->packet);
    }
    return packets;
  }

  Stage stage_ = set_stage(1);
  std::unique_ptr<SendPort> port_;
};

TEST_F(Offers, AreToldOnce) {
  const DeviceMemory memory(kBytes);
  for (int call = 0; call < 5; ++call) offer(memory.data(), kBytes);
  offer(memory.data() + 100, 200);
  const std::vector<Packet> packets = told();
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0].kind, Packet::Kind::kMemory);
  EXPECT_TRUE(port_->can_refer(memory.data() + kBytes - 100, 100));
  EXPECT_FALSE(port_->can_refer(memory.data() + kBytes - 100, 101));
}

TEST_F(Offers, OfFreedMemoryAreTakenBack) {
  DeviceMemory memory(kBytes);
  offer(memory.data(), kBytes);
  const std::vector<Packet> first = told();
  ASSERT_EQ(first.size(), 1U);
  memory.reset();
  const DeviceMemory other(kBytes);
  offer(other.data(), kBytes);
  const std::vector<Packet> then = told();
  ASSERT_EQ(then.size(), 2U);
  EXPECT_EQ(then[0].kind, Packet::Kind::kForget);
  EXPECT_EQ(then[0].id, first[0].id);
  EXPECT_EQ(then[1].kind, Packet::Kind::kMemory);
  EXPECT_NE(then[1].id, first[0].id);
}

TEST_F(Offers, OfOrdinaryMemoryAreRefusedAndHideNothing) {
  const DeviceMemory memory(kBytes);
  offer(memory.data(), 10 * kBytes);  // more than is there
  EXPECT_FALSE(port_->can_refer(memory.data(), kBytes));
  offer(memory.data(), kBytes);
  EXPECT_TRUE(port_->can_refer(memory.data(), kBytes));
  std::vector<std::byte> ordinary(kBytes);
  offer(ordinary.data(), kBytes);
  offer(nullptr, 0);
  offer(nullptr, kBytes);
  EXPECT_FALSE(port_->can_refer(ordinary.data(), kBytes));
  EXPECT_EQ(told().size(), 1U);
}

TEST_F(Offers, AFullQueueMeansSlots) {
  std::vector<std::unique_ptr<DeviceMemory>> memories;
  bool is_refused = false;
  for (int i = 0; i < 3000 && !is_refused; ++i) {
    memories.push_back(std::make_unique<DeviceMemory>(100));
    offer(memories.back()->data(), 100);
    is_refused = !port_->can_refer(memories.back()->data(), 100);
  }
  EXPECT_TRUE(is_refused) << "the queue never filled up";
  EXPECT_TRUE(port_->can_refer(memories.front()->data(), 100));
  EXPECT_TRUE(stage_.zero.value()->check_peers().is_ok());
}

/// An unread queue keeps freed memory alive and ends offers; whoever offers reads, too.
TEST_F(Offers, MakeRoomForThoseOfPeers) {
  const shm::Peer& to_zero = stage_.played[0].connections[0];
  Packet packet;
  packet.kind = Packet::Kind::kForget;
  while (shm::send_packet(to_zero, packet, -1).is_ok()) {
  }
  EXPECT_EQ(shm::send_packet(to_zero, packet, -1).code(), Code::kInProgress);
  const DeviceMemory memory(kBytes);
  offer(memory.data(), kBytes);
  EXPECT_TRUE(shm::send_packet(to_zero, packet, -1).is_ok());
}

TEST(StagingMemory, ThatIsTooSmallIsAnErrorWithAdvice) {
  Stage stage = set_stage(1);
  ASSERT_TRUE(stage.zero.is_ok());
  Transport& zero = *stage.zero.value();
  const auto spec = [](int number) { return StreamSpec{0, kOne, number, 3 << 20, 2}; };
  EXPECT_TRUE(zero.open_send(spec(0)).is_ok());  // 6 of 16 MiB
  EXPECT_TRUE(zero.open_send(spec(1)).is_ok());
  const Status status = zero.open_send(spec(2)).status();
  EXPECT_EQ(status.code(), Code::kSystemError);
  EXPECT_THAT(status.message(), HasSubstr("is full"));
  EXPECT_THAT(status.message(), HasSubstr("NCCL_BUFFSIZE"));
  EXPECT_TRUE(zero.open_send(kFromZero).is_ok()) << "a small stream still fits";
}

TEST(StagingMemory, HoldsAsManyStreamsAsItSays) {
  Result<std::unique_ptr<shm::OwnSegment>> segment = shm::OwnSegment::create(std::size_t{64} << 20);
  ASSERT_TRUE(segment.is_ok());
  for (std::uint64_t key = 1; key <= shm::kDirectoryEntries; ++key) {
    ASSERT_TRUE(segment.value()->stream(key * 0x9e3779b97f4a7c15ULL, 64, 1, 1).is_ok()) << key;
  }
  const Status status = segment.value()->stream(1, 64, 1, 1).status();
  EXPECT_EQ(status.code(), Code::kSystemError);
  EXPECT_THAT(status.message(), HasSubstr("streams"));
}

TEST(StagingMemory, BeyondTheAddressSpaceIsAnError) {
  const Status status = shm::OwnSegment::create(std::size_t{1} << 48).status();
  EXPECT_EQ(status.code(), Code::kSystemError);
  EXPECT_THAT(status.message(), HasSubstr("shared memory for staging failed"));
}

TEST(StagingMemory, BeyondTheFileLimitIsAnErrorNotASignal) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit low = old;
  low.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status status = shm::OwnSegment::create(std::size_t{16} << 20).status();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(status.code(), Code::kSystemError);
  EXPECT_THAT(status.message(), HasSubstr("ulimit -f"));
}

}  // namespace
}  // namespace hawser::transport::suite
