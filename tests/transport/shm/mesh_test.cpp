// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Control connections among strangers: whoever does not know the secret gets nowhere and holds nobody up.
#include "transport/shm/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/transport/shm_connect.h"

namespace hawser::transport::shm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using Outcome = Result<std::vector<Peer>>;

std::vector<MeshListener> open_listeners(int count) {
  std::vector<MeshListener> listeners;
  for (int i = 0; i < count; ++i) {
    Result<MeshListener> listener = MeshListener::open();
    EXPECT_TRUE(listener.is_ok()) << listener.status().message();
    listeners.push_back(std::move(listener).value());
  }
  return listeners;
}

MeshArgs args_of(int rank, const std::vector<MeshListener>& listeners, Clock::duration patience = seconds(20)) {
  MeshArgs args;
  args.rank = rank;
  args.prove = suite::prove_for_test;
  args.deadline = Clock::now() + patience;
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    args.local_ranks.push_back(static_cast<int>(i));
    args.addresses.push_back(listeners[i].address);
  }
  return args;
}

/// All ranks at once, each on its thread.
std::vector<Outcome> connect_all(const std::vector<MeshListener>& listeners) {
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < listeners.size(); ++i) outcomes.emplace_back(Status(Code::kInternalError, "not run"));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    threads.emplace_back([&, i] { outcomes[i] = connect_mesh(listeners[i], args_of(static_cast<int>(i), listeners)); });
  }
  threads.clear();
  return outcomes;
}

void expect_connected(std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_TRUE(outcomes[i].is_ok()) << outcomes[i].status().message();
    for (std::size_t j = 0; j < outcomes.size(); ++j) {
      EXPECT_EQ(outcomes[i].value()[j].rank, static_cast<int>(j));
      EXPECT_EQ(outcomes[i].value()[j].socket.is_open(), i != j);
    }
  }
  // Every pair talks to each other and to nobody else.
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (std::size_t j = 0; j < outcomes.size(); ++j) {
      if (i == j) continue;
      Packet packet;
      packet.id = i * 100 + j;
      ASSERT_TRUE(send_packet(outcomes[i].value()[j], packet, -1).is_ok());
      const std::optional<Received> received = receive_packet(outcomes[j].value()[i]);
      ASSERT_TRUE(received);
      EXPECT_EQ(received->packet.id, i * 100 + j);
    }
  }
}

/// A stranger's connection.
Fd call(const MeshListener& listener) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, listener.address.data(), listener.address.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + listener.address.size());
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length), 0) << std::strerror(errno);
  return socket;
}

void say(const Fd& socket, std::size_t bytes) {
  const std::vector<std::byte> noise = suite::pattern(bytes, bytes);
  EXPECT_EQ(::send(socket.get(), noise.data(), bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
}

/// Sends a packet with two descriptors where one is expected at most.
void say_with_descriptors(const Fd& socket, const Packet& packet) {
  iovec content{const_cast<Packet*>(&packet), sizeof(packet)};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const std::array<int, 2> descriptors{socket.get(), socket.get()};
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof(descriptors));
  EXPECT_GT(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), 0);
}

long open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return std::distance(begin(entries), end(entries));
}

TEST(Mesh, ConnectsAllPairs) {
  for (const int count : {1, 2, 3, 8}) {
    const std::vector<MeshListener> listeners = open_listeners(count);
    std::vector<Outcome> outcomes = connect_all(listeners);
    expect_connected(outcomes);
  }
}

TEST(Mesh, StrangersHoldNobodyUp) {
  const std::vector<MeshListener> listeners = open_listeners(3);
  std::vector<Fd> strangers;
  for (const MeshListener& listener : listeners) {
    for (int silent = 0; silent < 100; ++silent) strangers.push_back(call(listener));
    for (const std::size_t bytes :
         {std::size_t{1}, sizeof(Packet) - 1, sizeof(Packet), sizeof(Packet) + 1, std::size_t{9000}}) {
      strangers.push_back(call(listener));
      say(strangers.back(), bytes);
    }
    call(listener);  // and gone
    Packet hello;    // of the right form, without the secret
    hello.rank = 2;
    strangers.push_back(call(listener));
    EXPECT_GT(::send(strangers.back().get(), &hello, sizeof(hello), MSG_NOSIGNAL), 0);
  }
  const Clock::time_point before = Clock::now();
  std::vector<Outcome> outcomes = connect_all(listeners);
  EXPECT_LT(Clock::now() - before, seconds(5));
  expect_connected(outcomes);
}

TEST(Mesh, DescriptorsOfStrangersAreClosed) {
  const std::vector<MeshListener> listeners = open_listeners(2);
  long before = 0;
  {
    std::vector<Fd> strangers;
    for (int i = 0; i < 20; ++i) {
      strangers.push_back(call(listeners[0]));
      say_with_descriptors(strangers.back(), {});
    }
    before = open_descriptors();
    std::vector<Outcome> outcomes = connect_all(listeners);
    expect_connected(outcomes);
  }
  EXPECT_EQ(open_descriptors(), before - 20);
}

TEST(Mesh, AnotherSecretIsRefused) {
  const std::vector<MeshListener> listeners = open_listeners(2);
  Outcome low(Status(Code::kInternalError, "not run"));
  Outcome high(Status(Code::kInternalError, "not run"));
  {
    const std::jthread thread([&] { low = connect_mesh(listeners[0], args_of(0, listeners, milliseconds(500))); });
    MeshArgs args = args_of(1, listeners);
    args.prove = [](std::span<const std::byte> text) {
      auto proof = suite::prove_for_test(text);
      proof[31] ^= std::byte{1};
      return proof;
    };
    high = connect_mesh(listeners[1], args);
  }
  EXPECT_EQ(high.status().code(), Code::kRemoteError);
  EXPECT_THAT(high.status().message(), HasSubstr("rank 1: rank 0"));
  EXPECT_EQ(low.status().code(), Code::kTimeout);
  EXPECT_THAT(low.status().message(), HasSubstr("rank 0: rank 1"));
}

TEST(Mesh, AFalseListenerIsUnmasked) {
  std::vector<MeshListener> listeners = open_listeners(2);
  const std::jthread impostor([&] {
    pollfd entry{listeners[0].socket.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&entry, 1, 10'000), 1);
    Fd socket(::accept4(listeners[0].socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Packet welcome;
    welcome.kind = Packet::Kind::kWelcome;
    EXPECT_GT(::send(socket.get(), &welcome, sizeof(welcome), MSG_NOSIGNAL), 0);
    entry.fd = socket.get();
    entry.events = 0;
    ::poll(&entry, 1, 10'000);  // until the caller hangs up
  });
  const Outcome outcome = connect_mesh(listeners[1], args_of(1, listeners));
  EXPECT_EQ(outcome.status().code(), Code::kRemoteError);
  EXPECT_THAT(outcome.status().message(), HasSubstr("does not know this communicator's secret"));
}

TEST(Mesh, ImpossibleAddressesAreErrors) {
  std::vector<MeshListener> listeners = open_listeners(2);
  MeshArgs args = args_of(1, listeners);
  args.addresses[0] = "hawser-nobody-listens-here";
  const Status absent = connect_mesh(listeners[1], args).status();
  EXPECT_EQ(absent.code(), Code::kRemoteError);
  EXPECT_THAT(absent.message(), HasSubstr("NCCL_HOSTID"));
  args.addresses[0] = std::string(200, 'x');
  EXPECT_EQ(connect_mesh(listeners[1], args).status().code(), Code::kRemoteError);
}

TEST(Mesh, MissingRanksAreNamedInTime) {
  const std::vector<MeshListener> listeners = open_listeners(3);
  const Clock::time_point before = Clock::now();
  const std::jthread present(
      [&] { EXPECT_FALSE(connect_mesh(listeners[1], args_of(1, listeners, milliseconds(300))).is_ok()); });
  const Outcome outcome = connect_mesh(listeners[0], args_of(0, listeners, milliseconds(300)));
  EXPECT_LT(Clock::now() - before, seconds(5));
  EXPECT_EQ(outcome.status().code(), Code::kTimeout);
  EXPECT_THAT(outcome.status().message(), HasSubstr("rank 2"));
}

TEST(Mesh, CancellationEndsWaiting) {
  const std::vector<MeshListener> listeners = open_listeners(2);
  for (const int rank : {0, 1}) {  // one that is waiting to be called, one that waits for an answer
    std::atomic<std::uint32_t> cancel{0};
    MeshArgs args = args_of(rank, listeners);
    args.cancel = &cancel;
    Outcome outcome(Status(Code::kInternalError, "not run"));
    const Clock::time_point before = Clock::now();
    {
      const std::jthread thread([&] { outcome = connect_mesh(listeners[static_cast<std::size_t>(rank)], args); });
      cancel.store(1);
    }
    EXPECT_LT(Clock::now() - before, seconds(3));
    EXPECT_EQ(outcome.status().code(), Code::kInvalidUsage);
  }
}

TEST(Mesh, AFullQueueIsNotAnError) {
  const std::vector<MeshListener> listeners = open_listeners(2);
  std::vector<Outcome> outcomes = connect_all(listeners);
  ASSERT_TRUE(outcomes[0].is_ok() && outcomes[1].is_ok());
  Packet packet;
  Status status;
  std::uint64_t sent = 0;
  while ((status = send_packet(outcomes[0].value()[1], packet, -1)).is_ok()) packet.id = ++sent;
  EXPECT_EQ(status.code(), Code::kInProgress);
  std::uint64_t received = 0;
  while (const std::optional<Received> next = receive_packet(outcomes[1].value()[0])) {
    EXPECT_EQ(next->packet.id, received++);
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(outcomes[1].value()[0].state, PeerState::kPresent);
}

TEST(Mesh, TheEndComesAfterTheLastWord) {
  const std::vector<MeshListener> listeners = open_listeners(2);
  std::vector<Outcome> outcomes = connect_all(listeners);
  ASSERT_TRUE(outcomes[0].is_ok() && outcomes[1].is_ok());
  Peer& reader = outcomes[1].value()[0];
  Packet packet;
  packet.id = 77;
  ASSERT_TRUE(send_packet(outcomes[0].value()[1], packet, -1).is_ok());
  ASSERT_TRUE(send_packet(reader, packet, -1).is_ok());  // rank 0 never reads it, which resets the connection
  outcomes[0].value()[1].socket.reset();
  const std::optional<Received> received = receive_packet(reader);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->packet.id, 77U);
  EXPECT_EQ(reader.state, PeerState::kPresent);
  EXPECT_FALSE(receive_packet(reader));
  EXPECT_EQ(reader.state, PeerState::kDead);
  EXPECT_EQ(send_packet(reader, packet, -1).code(), Code::kRemoteError);
}

}  // namespace
}  // namespace hawser::transport::shm
