// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A rank's connections against a neighbour that is played by hand, step by step, so that orders of arrival that are rare
// between real ranks happen every time.
#include "bootstrap/mesh.h"

#include <gmock/gmock.h>

#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::HasSubstr;

class MeshOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    Listener own = std::move(Listener::open({loopback()})).value();
    other_ = std::make_unique<Listener>(std::move(Listener::open({loopback()})).value());
    self_ = {0, 1, "here", {}, own.addresses()};
    neighbor_ = {1, 1, "there", {}, other_->addresses()};
    mesh_ = std::make_unique<Mesh>(self_, Secret{}, Table{{}, {neighbor_}}, std::move(own));
    ASSERT_TRUE(mesh_->open_way_to(1, Purpose::kBlocks).is_ok());
    // The neighbour takes this rank's connection, and makes its own without a word of who it is.
    ASSERT_TRUE(turn_until([&] {
      auto incoming = std::move(other_->accept()).value();
      if (incoming) from_mesh_ = std::move(Connection::accept(std::move(*incoming), key_of(neighbor_))).value();
      return from_mesh_ != nullptr;
    }));
    to_mesh_ = std::move(Connection::dial(self_.addresses.front(), key_of(self_))).value();
    ASSERT_TRUE(turn_until([&] { return mesh_->way_to(1) != nullptr && to_mesh_->is_authenticated(); }));
  }

  static Secret key_of(const Member& member) { return peer_key(Secret{}, member); }

  /// Moves mesh and neighbour on until `condition`.
  bool turn_until(const std::function<bool()>& condition) {
    return eventually([&] {
      for (Connection* connection : {from_mesh_.get(), to_mesh_.get()}) {
        if (connection != nullptr) static_cast<void>(connection->advance());
        if (connection != nullptr) static_cast<void>(connection->take());
      }
      EXPECT_TRUE(mesh_->turn(deadline_, Clock::now() + Milliseconds(5)).is_ok());
      return condition();
    });
  }
  void say(Connection& connection, FrameType type, std::span<const std::byte> payload = {}) {
    connection.send(type, payload);
    ASSERT_TRUE(eventually([&] { return connection.advance().is_ok() && connection.is_flushed(); }));
  }
  void introduce() { say(*to_mesh_, FrameType::kPeerHello, Writer().number(std::uint32_t{1}).take()); }

  Deadline deadline_{kPlenty, nullptr};
  Member self_;
  Member neighbor_;
  std::unique_ptr<Listener> other_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<Connection> from_mesh_;
  std::unique_ptr<Connection> to_mesh_;
};

TEST_F(MeshOfTwo, AGoodbyeThatOvertakesTheBlocksLosesNone) {
  say(*from_mesh_, FrameType::kGoodbye);
  ASSERT_TRUE(turn_until([&] { return mesh_->way_to(1) == nullptr; }));
  const auto early = mesh_->take_from(1);
  ASSERT_TRUE(early.is_ok()) << early.status().message();
  EXPECT_FALSE(early.value());
  EXPECT_TRUE(mesh_->open_way_to(1, Purpose::kProbe).is_ok());

  introduce();
  const std::vector<std::byte> payload(3, std::byte{7});
  say(*to_mesh_, FrameType::kBlock, payload);
  say(*to_mesh_, FrameType::kGoodbye);
  std::optional<Frame> block;
  ASSERT_TRUE(turn_until([&] {
    auto next = mesh_->take_from(1);
    EXPECT_TRUE(next.is_ok()) << next.status().message();
    if (next.is_ok()) block = std::move(next).value();
    return block.has_value();
  }));
  EXPECT_EQ(block->payload, payload);
  // Only now has it left.
  ASSERT_TRUE(turn_until([&] { return !mesh_->take_from(1).is_ok(); }));
}

TEST_F(MeshOfTwo, ANeighborThatLeavesWithoutItsBlocksIsNamed) {
  to_mesh_.reset();
  say(*from_mesh_, FrameType::kGoodbye);
  ASSERT_TRUE(turn_until([&] { return !mesh_->take_from(1).is_ok(); }));
  const Status outcome = mesh_->take_from(1).status();
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on there"));
  EXPECT_EQ(mesh_->open_way_to(1, Purpose::kBlocks).code(), Code::kRemoteError);
}

}  // namespace
}  // namespace hawser::bootstrap
