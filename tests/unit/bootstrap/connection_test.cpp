// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Two ends of one connection, driven by hand, and what a tampering middle man can do to them.
#include "bootstrap/connection.h"

#include <gmock/gmock.h>

#include "bootstrap/crypto.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::HasSubstr;

Secret key_of(int number) { return derive(Secret{}, std::to_string(number)); }

struct Pair {
  std::unique_ptr<Connection> initiator;
  std::unique_ptr<Connection> acceptor;
};

Pair connect_pair(const Secret& initiator_key, const Secret& acceptor_key) {
  auto listener = Listener::open({loopback()});
  EXPECT_TRUE(listener.is_ok());
  Pair pair;
  pair.initiator = std::move(Connection::dial(listener.value().addresses().front(), initiator_key)).value();
  static_cast<void>(pair.initiator->advance());
  EXPECT_TRUE(eventually([&] {
    auto incoming = listener.value().accept();
    if (!incoming.value()) return false;
    pair.acceptor = std::move(Connection::accept(std::move(*incoming.value()), acceptor_key)).value();
    return true;
  }));
  return pair;
}

/// Moves both on until `condition` or a failure, which it gives.
Status drive(Pair& pair, const std::function<bool()>& condition) {
  Status failure;
  const bool is_done = eventually([&] {
    for (Connection* end : {pair.initiator.get(), pair.acceptor.get()}) {
      if (Status outcome = end->advance(); !outcome.is_ok() && failure.is_ok()) failure = outcome;
    }
    return condition() || !failure.is_ok();
  });
  EXPECT_TRUE(is_done);
  return failure;
}

TEST(Connection, BothEndsPassAndFramesTravelBothWays) {
  Pair pair = connect_pair(key_of(1), key_of(1));
  ASSERT_TRUE(
      drive(pair, [&] { return pair.initiator->is_authenticated() && pair.acceptor->is_authenticated(); }).is_ok());
  const std::vector<std::byte> large(3'000'000, std::byte{7});
  pair.initiator->send(FrameType::kBlock, large);
  pair.acceptor->send(FrameType::kGoodbye, {});
  ASSERT_TRUE(drive(pair, [&] { return pair.initiator->inbox() && pair.acceptor->inbox(); }).is_ok());
  EXPECT_EQ(pair.acceptor->take()->payload, large);
  EXPECT_EQ(pair.initiator->take()->type, FrameType::kGoodbye);
}

TEST(Connection, AnotherKeyIsDenied) {
  Pair pair = connect_pair(key_of(1), key_of(2));
  const Status failure = drive(pair, [] { return false; });
  EXPECT_EQ(failure.code(), Code::kRemoteError);
  EXPECT_THAT(failure.message(), HasSubstr("secret"));
  EXPECT_FALSE(pair.initiator->is_authenticated());
  EXPECT_FALSE(pair.acceptor->is_authenticated());
}

TEST(Connection, FramesLongerThanTheLimitEndIt) {
  Pair pair = connect_pair(key_of(1), key_of(1));
  ASSERT_TRUE(
      drive(pair, [&] { return pair.initiator->is_authenticated() && pair.acceptor->is_authenticated(); }).is_ok());
  pair.acceptor->limit_payload(100);
  pair.initiator->send(FrameType::kBlock, std::vector<std::byte>(101));
  const Status failure = drive(pair, [&] { return pair.acceptor->inbox().has_value(); });
  EXPECT_THAT(failure.message(), HasSubstr("101 bytes"));
}

TEST(Connection, WhatWasSentBeforeTheCloseIsRead) {
  Pair pair = connect_pair(key_of(1), key_of(1));
  ASSERT_TRUE(
      drive(pair, [&] { return pair.initiator->is_authenticated() && pair.acceptor->is_authenticated(); }).is_ok());
  pair.acceptor->send(FrameType::kAbort, std::vector<std::byte>(5));
  ASSERT_TRUE(pair.acceptor->advance().is_ok());
  pair.acceptor.reset();
  ASSERT_TRUE(eventually([&] { return pair.initiator->advance().is_ok() && pair.initiator->inbox(); }));
  EXPECT_EQ(pair.initiator->take()->type, FrameType::kAbort);
  Status failure;
  ASSERT_TRUE(eventually([&] { return !(failure = pair.initiator->advance()).is_ok(); }));
  EXPECT_THAT(failure.message(), HasSubstr("closed the connection"));
}

TEST(Connection, NobodyListeningIsARefusal) {
  auto listener = Listener::open({loopback()});
  const SocketAddress address = listener.value().addresses().front();
  listener.value().close();
  auto connection = Connection::dial(address, key_of(1));
  ASSERT_TRUE(connection.is_ok());
  Status failure;
  ASSERT_TRUE(eventually([&] { return !(failure = connection.value()->advance()).is_ok(); }));
  EXPECT_EQ(connection.value()->prospect(), Prospect::kNobody);
}

/// Challenge without sockets, so that the middle man can reach in.
struct Challenge {
  Handshake initiator{Role::kInitiator, key_of(1), key_of(10)};
  Handshake acceptor{Role::kAcceptor, key_of(1), key_of(11)};
};

TEST(Handshake, ARecordedProofDoesNotPassAgain) {
  Challenge first;
  const auto proof = first.initiator.answer_hello(first.acceptor.hello());
  ASSERT_TRUE(proof.is_ok());
  ASSERT_TRUE(first.acceptor.answer_proof(proof.value()).is_ok());
  Handshake other(Role::kAcceptor, key_of(1), key_of(12));
  EXPECT_FALSE(other.answer_proof(proof.value()).is_ok());
}

TEST(Handshake, AnEndCannotBeMadeToAnswerItself) {
  // Reflection: the acceptor's own welcome or the initiator's own proof are of no use to the other role.
  Challenge challenge;
  const auto proof = challenge.initiator.answer_hello(challenge.acceptor.hello());
  ASSERT_TRUE(proof.is_ok());
  const auto mac = std::span(proof.value()).last(sizeof(Secret));
  EXPECT_FALSE(challenge.initiator.check_welcome(mac).is_ok());
}

TEST(Handshake, EveryBitOfTheMessagesMatters) {
  Challenge base;
  const std::vector<std::byte> proof = std::move(base.initiator.answer_hello(base.acceptor.hello())).value();
  for (std::size_t bit = 0; bit < proof.size() * 8; ++bit) {
    std::vector<std::byte> changed = proof;
    changed[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    Handshake acceptor(Role::kAcceptor, key_of(1), key_of(11));
    EXPECT_FALSE(acceptor.answer_proof(changed).is_ok()) << "bit " << bit;
  }
  for (std::size_t size = 0; size < proof.size(); ++size) {
    Handshake acceptor(Role::kAcceptor, key_of(1), key_of(11));
    EXPECT_FALSE(acceptor.answer_proof(std::span(proof).first(size)).is_ok()) << size;
  }
}

TEST(Handshake, SealsDependOnDirectionNumberAndContents) {
  Challenge challenge;
  const auto proof = challenge.initiator.answer_hello(challenge.acceptor.hello());
  ASSERT_TRUE(challenge.acceptor.answer_proof(proof.value()).is_ok());
  const std::vector<std::byte> frame(20, std::byte{1});
  const Tag tag = challenge.initiator.tag(Role::kInitiator, 0, frame);
  EXPECT_EQ(tag, challenge.acceptor.tag(Role::kInitiator, 0, frame));
  EXPECT_NE(tag, challenge.acceptor.tag(Role::kAcceptor, 0, frame));
  EXPECT_NE(tag, challenge.acceptor.tag(Role::kInitiator, 1, frame));
  EXPECT_NE(tag, challenge.acceptor.tag(Role::kInitiator, 0, std::span(frame).first(19)));
}

}  // namespace
}  // namespace hawser::bootstrap
