// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ranks that know the secret and are broken all the same: nothing that they say or write may crash their peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "device/host_memory.h"
#include "tests/transport/shm/stage.h"
#include "transport/shm/ports.h"

namespace hawser::transport::suite {
namespace {

using shm::Packet;
using ::testing::HasSubstr;

constexpr std::array kZero{0};
constexpr std::array kOne{1};
const StreamSpec kToZero{1, kZero, 0, 4096, 2};
const StreamSpec kFromZero{0, kOne, 0, 4096, 2};

Packet packet_of(Packet::Kind kind) {
  Packet packet;
  packet.kind = kind;
  return packet;
}

void expect_refusal(const Script& script, const char* sentence) {
  const Stage stage = set_stage(1, script);
  ASSERT_FALSE(stage.zero.is_ok());
  EXPECT_EQ(stage.zero.status().code(), Code::kRemoteError);
  EXPECT_THAT(stage.zero.status().message(), HasSubstr(sentence));
}

TEST(HostileSegment, OfAnotherVersionIsRefused) {
  expect_refusal(
      [](PlayedRank& played) {
        played.segment = std::move(shm::OwnSegment::create(1 << 16)).value();
        played.segment->control().version = 99;
        hand_over(played, packet_of(Packet::Kind::kSegment), played.segment->memory_fd());
      },
      "layout version 99");
}

TEST(HostileSegment, ThatIsNoneIsRefused) {
  expect_refusal([](PlayedRank& played) { hand_over(played, packet_of(Packet::Kind::kSegment), -1); },
                 "no shared segment");
  expect_refusal(
      [](PlayedRank& played) {
        const Fd small(::memfd_create("small", MFD_CLOEXEC));
        EXPECT_EQ(::ftruncate(small.get(), 100), 0);
        hand_over(played, packet_of(Packet::Kind::kSegment), small.get());
      },
      "too small");
  expect_refusal(
      [](PlayedRank& played) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe(ends.data()), 0);
        const Fd in(ends[0]);
        const Fd out(ends[1]);
        hand_over(played, packet_of(Packet::Kind::kSegment), in.get());
      },
      "too small");
  expect_refusal([](PlayedRank& played) { hand_over(played, packet_of(Packet::Kind::kForget), -1); },
                 "something else than its shared segment");
}

TEST(HostileSegment, ThatLiesAboutItsSizeIsRefused) {
  expect_refusal(
      [](PlayedRank& played) {
        played.segment = std::move(shm::OwnSegment::create(1 << 16)).value();
        played.segment->control().segment_bytes += 4096;
        hand_over(played, packet_of(Packet::Kind::kSegment), played.segment->memory_fd());
      },
      "layout version");
}

TEST(HostileSegment, EndDuringInitialisationIsNamed) {
  const auto before = std::chrono::steady_clock::now();
  expect_refusal([](PlayedRank& played) { played.connections.clear(); }, "rank 1");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

/// Rank 0 receives from a rank whose directory is what `corrupt` makes of it; nothing must arrive.
void expect_no_stream(const std::function<void(shm::Control&, std::uint64_t key)>& corrupt) {
  Stage stage = set_stage(1);
  ASSERT_TRUE(stage.zero.is_ok()) << stage.zero.status().message();
  auto port = std::move(stage.zero.value()->open_receive(kToZero)).value();
  corrupt(stage.played[0].segment->control(), shm::key_of(kToZero));
  DeviceMemory memory(4096);
  stage.zero.value()->offer(memory.data(), 4096);
  EXPECT_EQ(port->front(), nullptr);
  EXPECT_FALSE(port->post(0, memory.data(), 4096));
}

TEST(HostileDirectory, OffsetsBeyondTheSegmentAreIgnored) {
  for (const std::uint64_t offset : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{17} << 20}) {
    expect_no_stream([&](shm::Control& control, std::uint64_t key) {
      shm::DirectoryEntry& entry = control.directory[key % shm::kDirectoryEntries];
      entry.offset = offset;
      entry.key.store(key);
    });
  }
  // The head would lie inside, the slots beyond the end.
  expect_no_stream([&](shm::Control& control, std::uint64_t key) {
    shm::DirectoryEntry& entry = control.directory[key % shm::kDirectoryEntries];
    entry.offset = control.segment_bytes - shm::kPair;
    entry.key.store(key);
  });
}

TEST(HostileDirectory, CrookedOffsetsAreIgnored) {
  expect_no_stream([](shm::Control& control, std::uint64_t key) {
    shm::DirectoryEntry& entry = control.directory[key % shm::kDirectoryEntries];
    entry.offset = (1 << 20) + 3;
    entry.key.store(key);
  });
}

TEST(HostileDirectory, FullOfOthersIsNoEndlessSearch) {
  expect_no_stream([](shm::Control& control, std::uint64_t key) {
    for (shm::DirectoryEntry& entry : control.directory) entry.key.store(key + 1 == 0 ? 7 : key + 1);
  });
}

/// A stream of rank 1 whose slots the test writes.
class HostileSlots : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(stage_.zero.is_ok()) << stage_.zero.status().message();
    Result<shm::StreamHead*> head =
        played().segment->stream(shm::key_of(kToZero), kToZero.slot_bytes, kToZero.credit, 1);
    ASSERT_TRUE(head.is_ok());
    slots_ = reinterpret_cast<std::byte*>(head.value()) + sizeof(shm::StreamHead) + sizeof(shm::ReceiverLine);
    port_ = std::move(stage_.zero.value()->open_receive(kToZero)).value();
  }
  PlayedRank& played() { return stage_.played[0]; }

  /// Writes a header into the next slot and returns what rank 0 makes of it; releases it.
  Message deliver(shm::SlotKind kind, std::uint32_t bytes, const shm::Reference& reference = {}) {
    auto& header =
        *reinterpret_cast<shm::SlotHeader*>(slots_ + written_ % kToZero.credit * shm::slot_stride(kToZero.slot_bytes));
    header.bytes = bytes;
    header.kind = kind;
    std::memcpy(header.inline_data, &reference, sizeof(reference));
    header.sequence.store(++written_);
    const Message* front = port_->front();
    EXPECT_NE(front, nullptr);
    const Message message = front == nullptr ? Message{} : *front;
    if (front != nullptr) port_->release();
    return message;
  }
  const std::byte* refer(std::uint64_t id, std::uint64_t offset, std::uint32_t bytes) {
    return deliver(shm::SlotKind::kReference, bytes, {id, offset}).data;
  }

  Stage stage_ = set_stage(1);
  std::byte* slots_ = nullptr;
  std::uint64_t written_ = 0;
  std::unique_ptr<ReceivePort> port_;
};

TEST_F(HostileSlots, UnknownMemoryIsNoData) {
  EXPECT_EQ(refer(shm::kNoMemory, 0, 100), nullptr);
  EXPECT_EQ(refer(12345, 0, 100), nullptr);
  EXPECT_EQ(refer(shm::kSameProcess, reinterpret_cast<std::uintptr_t>(this), 100), nullptr) << "it is another process";
}

TEST_F(HostileSlots, ReferencesStayInsideTheMemory) {
  const Fd memory(::memfd_create("memory", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(memory.get(), 8192), 0);
  Packet packet = packet_of(Packet::Kind::kMemory);
  packet.id = 5;
  packet.bytes = 1 << 30;  // a lie: the kernel knows better
  hand_over(played(), packet, memory.get());
  EXPECT_NE(refer(5, 0, 8192), nullptr);
  EXPECT_NE(refer(5, 8191, 1), nullptr);
  EXPECT_EQ(refer(5, 0, 8193), nullptr);
  EXPECT_EQ(refer(5, 8192, 1), nullptr);
  EXPECT_EQ(refer(5, ~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(refer(5, std::uint64_t{1} << 63, 100), nullptr);
  packet.kind = Packet::Kind::kForget;
  hand_over(played(), packet, -1);
  ASSERT_TRUE(stage_.zero.value()->check_peers().is_ok());
  EXPECT_EQ(refer(5, 0, 100), nullptr) << "forgotten";
}

TEST_F(HostileSlots, AnnouncementsOfNothingAreIgnored) {
  Packet packet = packet_of(Packet::Kind::kMemory);
  packet.id = 6;
  packet.bytes = 4096;
  hand_over(played(), packet, -1);  // no descriptor
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Fd in(ends[0]);
  const Fd out(ends[1]);
  hand_over(played(), packet, in.get());  // nothing that can be mapped
  EXPECT_EQ(refer(6, 0, 100), nullptr);
  EXPECT_TRUE(stage_.zero.value()->check_peers().is_ok());
}

TEST_F(HostileSlots, CrookedPacketsDoNotHideTheNext) {
  const int socket = played().connections[0].socket.get();
  const std::array<std::byte, 200> noise{};
  ASSERT_EQ(::send(socket, noise.data(), 3, 0), 3);
  ASSERT_EQ(::send(socket, noise.data(), noise.size(), 0), static_cast<ssize_t>(noise.size()));
  Packet unknown = packet_of(static_cast<Packet::Kind>(777));
  hand_over(played(), unknown, -1);
  const Fd memory(::memfd_create("memory", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(memory.get(), 4096), 0);
  Packet packet = packet_of(Packet::Kind::kMemory);
  packet.id = 9;
  hand_over(played(), packet, memory.get());
  for (int look = 0; look < 4; ++look) EXPECT_TRUE(stage_.zero.value()->check_peers().is_ok());
  EXPECT_NE(refer(9, 0, 4096), nullptr);
}

TEST_F(HostileSlots, UnknownKindsAndSizesAreNoData) {
  EXPECT_EQ(deliver(static_cast<shm::SlotKind>(77), 8).data, nullptr);
  EXPECT_NE(deliver(shm::SlotKind::kInline, shm::kInlineBytes).data, nullptr);
  EXPECT_EQ(deliver(shm::SlotKind::kInline, shm::kInlineBytes + 1).data, nullptr);
  EXPECT_NE(deliver(shm::SlotKind::kSlot, kToZero.slot_bytes).data, nullptr);
  EXPECT_EQ(deliver(shm::SlotKind::kSlot, kToZero.slot_bytes + 1).data, nullptr);
}

TEST_F(HostileSlots, DirectWithoutAPostIsNoData) {
  EXPECT_EQ(deliver(shm::SlotKind::kDirect, 1000).data, nullptr);
  DeviceMemory memory(4096);
  stage_.zero.value()->offer(memory.data(), 4096);
  ASSERT_TRUE(port_->post(1, memory.data(), 1000));
  EXPECT_EQ(deliver(shm::SlotKind::kDirect, 1001).data, nullptr) << "not the posted size";
  ASSERT_TRUE(port_->post(2, memory.data(), 1000));
  EXPECT_EQ(deliver(shm::SlotKind::kDirect, 1000).data, memory.data());
  EXPECT_EQ(deliver(shm::SlotKind::kDirect, 1000).data, nullptr);
  EXPECT_EQ(deliver(shm::SlotKind::kDirect, 1000).data, nullptr) << "an old post in the same place";
}

TEST(HostileReceiver, NonsenseThatWasPostedIsNotUsed) {
  Stage stage = set_stage(1);
  ASSERT_TRUE(stage.zero.is_ok());
  auto port = std::move(stage.zero.value()->open_send(kFromZero)).value();
  shm::StreamHead* head = stage.played[0].segment_of_zero->find_stream(
      shm::key_of(kFromZero), shm::stream_bytes(kFromZero.slot_bytes, kFromZero.credit, 1));
  ASSERT_NE(head, nullptr);
  auto& line = *reinterpret_cast<shm::ReceiverLine*>(head + 1);
  std::uint64_t number = 0;
  for (const shm::Reference& reference :
       {shm::Reference{3, 0}, {shm::kNoMemory, 0}, {shm::kSameProcess, 4096}, {3, ~std::uint64_t{0}}}) {
    shm::PostedLanding& posted = line.posted[number % kFromZero.credit];
    posted.memory = reference;
    posted.bytes = 2000;
    posted.sequence.store(number + 1);
    ASSERT_TRUE(port->has_credit());
    EXPECT_EQ(port->places(2000).landing, Landing::kSlot);
    port->announce(2000, 0);
    line.released.store(++number);
  }
}

TEST(HostileReceiver, ReleasesBeyondTheTruthGiveNoMoreCredit) {
  Stage stage = set_stage(1);
  ASSERT_TRUE(stage.zero.is_ok());
  auto port = std::move(stage.zero.value()->open_send(kFromZero)).value();
  shm::StreamHead* head = stage.played[0].segment_of_zero->find_stream(
      shm::key_of(kFromZero), shm::stream_bytes(kFromZero.slot_bytes, kFromZero.credit, 1));
  ASSERT_NE(head, nullptr);
  reinterpret_cast<shm::ReceiverLine*>(head + 1)->released.store(~std::uint64_t{0});
  EXPECT_EQ(port->released(), 0U);
  port->places(1);
  port->announce(1, 0);
  EXPECT_EQ(port->released(), 1U);
  reinterpret_cast<shm::ReceiverLine*>(head + 1)->released.store(0);
  EXPECT_LE(port->released(), port->announced());
}

TEST(HostileFarewell, AnAbortMayExplainADeath) {
  Stage stage = set_stage(2);
  ASSERT_TRUE(stage.zero.is_ok()) << stage.zero.status().message();
  shm::Control& control = stage.played[0].segment->control();
  control.farewell.store((1 + static_cast<std::uint64_t>(Transport::Leave::kAborted)) | std::uint64_t{2} << 8);
  const Status status = stage.zero.value()->check_peers();
  EXPECT_EQ(status.code(), Code::kRemoteError);
  EXPECT_THAT(status.message(), HasSubstr("rank 2 (pid"));
  EXPECT_THAT(status.message(), HasSubstr("has died, says rank 1"));
  // And rank 0 hands the explanation on when it gives up itself.
  stage.zero.value()->leave(Transport::Leave::kAborted);
  EXPECT_EQ(stage.played[1].segment_of_zero->control().farewell.load() >> 8, 2U);
}

/// Whoever gives up for reasons of its own does not hide that another rank has died.
TEST(HostileFarewell, ADeathIsNamedBeforeAnAbort) {
  Stage stage = set_stage(2);
  ASSERT_TRUE(stage.zero.is_ok()) << stage.zero.status().message();
  shm::Control& control = stage.played[0].segment->control();
  control.farewell.store((1 + static_cast<std::uint64_t>(Transport::Leave::kAborted)) | std::uint64_t{1} << 8);
  EXPECT_THAT(stage.zero.value()->check_peers().message(), HasSubstr("rank 1 (pid"));
  stage.played[1].connections.clear();
  const Status status = stage.zero.value()->check_peers();
  EXPECT_THAT(status.message(), HasSubstr("rank 2 (pid"));
  EXPECT_THAT(status.message(), HasSubstr("has died"));
}

TEST(HostileFarewell, NonsenseIsAnAbort) {
  for (const std::uint64_t word :
       {std::uint64_t{2} | std::uint64_t{1000} << 8, ~std::uint64_t{0}, std::uint64_t{200}}) {
    Stage stage = set_stage(1);
    ASSERT_TRUE(stage.zero.is_ok());
    stage.played[0].segment->control().farewell.store(word);
    const Status status = stage.zero.value()->check_peers();
    EXPECT_EQ(status.code(), Code::kRemoteError);
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
  }
}

}  // namespace
}  // namespace hawser::transport::suite
