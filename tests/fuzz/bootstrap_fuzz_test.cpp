// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Hostile bytes at everything of src/bootstrap that reads any: unique ids, the root's and the ranks' doors before the
// challenge, messages of members after it, and a middle man on the wire. Seeded, so that a failure repeats; bounded by
// number and by time. The outcome asked for is always the same: no crash, an answer in time, and nothing believed that
// an honest end did not send.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/connection.h"
#include "bootstrap/crypto.h"
#include "bootstrap/interfaces.h"
#include "bootstrap/joining.h"
#include "bootstrap/mesh.h"
#include "bootstrap/messages.h"
#include "bootstrap/rank_end.h"
#include "bootstrap/root.h"
#include "bootstrap/unique_id.h"
#include "bootstrap/wire.h"

namespace hawser::bootstrap {
namespace {

using Bytes = std::vector<std::byte>;
constexpr Milliseconds kHang{20'000};
constexpr Milliseconds kBudget{1500};  // of each test

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  Bytes bytes(std::size_t count) {
    Bytes result(count);
    for (std::byte& byte : result) byte = static_cast<std::byte>(random_() & 0xff);
    return result;
  }
  /// One to three small changes: a flipped bit, an extreme byte, a cut, an insertion, a repetition.
  Bytes mutated(Bytes original) {
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) change(original);
    return original;
  }

 private:
  void change(Bytes& bytes) {
    if (bytes.empty()) {
      bytes.push_back(std::byte{0});
      return;
    }
    const std::size_t place = below(bytes.size());
    const auto at = bytes.begin() + static_cast<long>(place);
    switch (below(5)) {
      case 0:
        *at ^= static_cast<std::byte>(1U << below(8));
        break;
      case 1:
        *at = below(2) == 0 ? std::byte{0xff} : std::byte{0};
        break;
      case 2:
        bytes.erase(at, bytes.end());
        break;
      case 3:
        bytes.insert(at, static_cast<std::byte>(below(256)));
        break;
      default: {
        const Bytes tail(at, bytes.end());
        bytes.insert(bytes.end(), tail.begin(), tail.end());
      }
    }
  }

  std::mt19937 random_;
};

/// At least kFewest tries however busy the machine is, at most `most`, and between the two as many as time allows.
class Budget {
 public:
  static constexpr int kFewest = 10;
  [[nodiscard]] bool allows(int tries, int most = 3000) const {
    return tries < kFewest || (tries < most && Clock::now() < end_);
  }

 private:
  TimePoint end_ = Clock::now() + kBudget;
};

SocketAddress loopback(std::uint16_t port = 0) {
  SocketAddress address;
  address.family = Family::kIpv4;
  address.bytes[0] = std::byte{127};
  address.bytes[3] = std::byte{1};
  address.port = port;
  return address;
}

Config loopback_config(Milliseconds limit) {
  Config config;
  config.socket_ifname = "=lo";
  config.socket_family = "AF_INET";
  config.init_timeout = limit;
  return config;
}

Listener open_listener() { return std::move(Listener::open({loopback()})).value(); }

Socket raw_connection(const SocketAddress& to) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  RawAddress raw = raw_address(to);
  if (::connect(socket.get(), raw.pointer(), raw.size) != 0) return Socket();
  return socket;
}

Bytes framed(FrameType type, const Bytes& payload) {
  Writer writer;
  writer.number(static_cast<std::uint32_t>(payload.size())).number(static_cast<std::uint8_t>(type));
  return writer.bytes(std::array<std::byte, 3>{}).bytes(payload).take();
}

/// Moves `connection` on until `condition`, its end, or the time limit; whether the condition came true.
template <class Condition>
bool drive(Connection& connection, const Condition& condition) {
  const TimePoint end = Clock::now() + kHang;
  while (connection.advance().is_ok() && Clock::now() < end) {
    if (condition()) return true;
    PollSet polls;
    connection.prepare(polls);
    static_cast<void>(polls.wait(Clock::now() + Milliseconds(50)));
  }
  return condition();
}

std::unique_ptr<Connection> authenticated(const SocketAddress& to, const Secret& key) {
  auto connection = std::move(Connection::dial(to, key)).value();
  if (!drive(*connection, [&] { return connection->is_authenticated(); })) return nullptr;
  return connection;
}

Status join_pair(const UniqueId& id) {
  const Config config = loopback_config(kHang);
  std::vector<Status> outcomes(2);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        auto end = Bootstrap::join(id, rank, 2, config, nullptr);
        outcomes[static_cast<std::size_t>(rank)] = end.is_ok() ? end.value()->barrier() : end.status();
      });
    }
  }
  return outcomes[0].is_ok() ? outcomes[1] : outcomes[0];
}

Member member(int rank, const SocketAddress& address) { return {rank, host_hash(), "host", {}, {address}}; }

JoinRequest request(int rank, int ranks) { return {member(rank, loopback(9)), ranks, 20'000, 20'000}; }

TEST(BootstrapFuzz, UniqueIds) {
  Dice dice(1);
  IdContents contents;
  contents.addresses = {loopback(4444)};
  const UniqueId id = encode(contents);
  const Bytes original(id.begin(), id.end());
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = dice.mutated(original);
    bytes.resize(id.size());
    const UniqueId changed = Reader(bytes).array<sizeof(UniqueId)>();
    EXPECT_EQ(decode(changed).is_ok(), changed == id);
  }
}

TEST(BootstrapFuzz, IdsThatAreWellFormedButWrong) {
  Dice dice(2);
  const Budget budget;
  for (int i = 0; budget.allows(i, 40); ++i) {
    IdContents contents;
    contents.kind = dice.below(2) == 0 ? RootKind::kThread : RootKind::kFixed;
    contents.host = dice.below(2) == 0 ? host_hash() : dice.below(1000);
    for (std::size_t count = 1 + dice.below(kMaxAddresses); count > 0; --count)
      contents.addresses.push_back(loopback(static_cast<std::uint16_t>(20'000 + dice.below(40'000))));
    const TimePoint begun = Clock::now();
    EXPECT_FALSE(Bootstrap::join(encode(contents), 1, 2, loopback_config(Milliseconds(30)), nullptr).is_ok());
    EXPECT_LT(Clock::now() - begun, kHang / 2);
  }
}

TEST(BootstrapFuzz, StrangersAtTheRootsDoor) {
  Dice dice(3);
  const auto id = create_unique_id(loopback_config(kHang));
  ASSERT_TRUE(id.is_ok());
  const IdContents contents = decode(id.value()).value();
  const Budget budget;
  for (int thrown = 0; budget.allows(thrown); ++thrown) {
    Handshake handshake(Role::kInitiator, Secret{}, Secret{});
    Handshake acceptor(Role::kAcceptor, Secret{}, Secret{});
    const Bytes proof = std::move(handshake.answer_hello(acceptor.hello())).value();
    const auto type = static_cast<FrameType>(dice.below(14));
    Bytes stream = dice.mutated(framed(dice.below(2) == 0 ? FrameType::kProof : type, proof));
    if (dice.below(3) == 0) stream = dice.bytes(dice.below(400));
    const Socket socket = raw_connection(contents.addresses.front());
    ASSERT_TRUE(socket.is_open()) << "after " << thrown;
    static_cast<void>(::send(socket.get(), stream.data(), stream.size(), MSG_NOSIGNAL));
  }
  const Status outcome = join_pair(id.value());
  EXPECT_TRUE(outcome.is_ok()) << outcome.message();
}

TEST(BootstrapFuzz, MembersThatSpeakNonsenseToTheRoot) {
  Dice dice(4);
  const Secret secret{};
  const Budget budget;
  int tries = 0;
  for (; budget.allows(tries); ++tries) {
    auto root = std::move(Root::create(open_listener(), secret, RootKind::kThread)).value();
    const SocketAddress address = root->addresses().front();
    std::jthread thread([&](const std::stop_token& stop) { root->serve(stop); });
    std::vector<std::unique_ptr<Connection>> members;
    for (int rank = 0; rank < 3; ++rank) {
      auto connection = authenticated(address, derive(secret, "root"));
      if (!connection) continue;  // the root has ended already
      Bytes payload = encode(request(rank, 3));
      if (dice.below(3) != 0) payload = dice.mutated(payload);
      const bool is_join = dice.below(8) != 0;
      connection->send(is_join ? FrameType::kJoin : static_cast<FrameType>(dice.below(256)), payload);
      static_cast<void>(connection->advance());
      members.push_back(std::move(connection));
    }
  }  // each root stops when it is told to: the test would hang otherwise
}

TEST(BootstrapFuzz, RootsThatSpeakNonsense) {
  Dice dice(5);
  IdContents id;
  id.kind = RootKind::kFixed;
  const Member self = member(1, loopback(7));
  const Budget budget;
  int tries = 0;
  int believed = 0;
  for (; budget.allows(tries); ++tries) {
    Listener listener = open_listener();
    id.addresses = listener.addresses();
    std::jthread root([&] {
      PollSet polls;
      listener.prepare(polls);
      static_cast<void>(polls.wait(Clock::now() + kHang));
      auto incoming = std::move(listener.accept()).value();
      if (!incoming) return;
      auto connection = std::move(Connection::accept(std::move(*incoming), derive(id.secret, "root"))).value();
      if (!drive(*connection, [&] { return connection->inbox().has_value(); })) return;
      const Table table{{}, {member(0, loopback(8)), member(2, loopback(9))}};
      const bool is_honest = tries == 0;
      Bytes payload = !is_honest && dice.below(3) == 0 ? encode(Refusal{Code::kTimeout, "because"}) : encode(table);
      if (!is_honest && dice.below(8) != 0) payload = dice.mutated(payload);
      connection->send(is_honest || dice.below(2) == 0 ? FrameType::kTable : static_cast<FrameType>(dice.below(12)),
                       payload);
      drive(*connection, [&] { return connection->is_flushed(); });
    });
    const auto table = ask_root(id, self, 3, Deadline(kHang, nullptr));
    if (!table.is_ok()) continue;
    ++believed;
    EXPECT_TRUE(std::ranges::equal(table.value().neighbors, neighbors_of(1, 3), {}, &Member::rank));
  }
  EXPECT_GT(believed, 0);  // the honest ones
  EXPECT_LT(believed, tries);
}

/// Plays rank 1 of 2: takes the blocks of rank 0, answers with `type` and `payload`, and goes.
void play_neighbor(const Secret& secret, Listener& listener, const Member& self, const Member& victim, FrameType type,
                   const Bytes& payload) {
  PollSet polls;
  listener.prepare(polls);
  static_cast<void>(polls.wait(Clock::now() + kHang));
  auto incoming = std::move(listener.accept()).value();
  if (!incoming) return;
  auto from = std::move(Connection::accept(std::move(*incoming), peer_key(secret, self))).value();
  drive(*from, [&] { return from->inbox().has_value(); });
  auto to = std::move(Connection::dial(victim.addresses.front(), peer_key(secret, victim))).value();
  if (!drive(*to, [&] { return to->is_authenticated(); })) return;
  to->send(FrameType::kPeerHello, Writer().number(std::uint32_t{1}).take());
  to->send(type, payload);
  for (Connection* connection : {to.get(), from.get()}) {
    connection->send(FrameType::kGoodbye, {});
    drive(*connection, [&] { return connection->is_flushed(); });
  }
}

TEST(BootstrapFuzz, NeighborsThatSpeakNonsense) {
  Dice dice(6);
  const Secret secret{};
  const Budget budget;
  int tries = 0;
  int believed = 0;
  for (; budget.allows(tries); ++tries) {
    Listener own = open_listener();
    Listener other = open_listener();
    Seat seat;
    seat.self = member(0, own.addresses().front());
    seat.ranks = 2;
    seat.table.neighbors = {member(1, other.addresses().front())};
    seat.limit = kHang;
    const Bytes honest = encode(Block{0, Operation::kAllGather, 0, 1, std::as_bytes(std::span("blob"))});
    const bool is_honest = tries == 0 || dice.below(8) == 0;
    const Bytes payload = is_honest ? honest : dice.mutated(honest);
    const FrameType type =
        is_honest || dice.below(3) != 0 ? FrameType::kBlock : static_cast<FrameType>(dice.below(256));
    std::jthread neighbor([&] { play_neighbor(secret, other, seat.table.neighbors[0], seat.self, type, payload); });
    RankEnd rank_0(seat, std::move(own));
    const TimePoint begun = Clock::now();
    const auto blobs = rank_0.all_gather({});
    EXPECT_LT(Clock::now() - begun, kHang / 2);
    believed += blobs.is_ok() ? 1 : 0;
    EXPECT_TRUE(blobs.is_ok() || !is_honest) << blobs.status().message();
  }
  EXPECT_GT(believed, 0);  // the honest ones
  EXPECT_LT(believed, tries);
}

/// Passes bytes on between two sockets; one byte of all is changed on the way, or one doubled, or one left out.
class MiddleMan {
 public:
  MiddleMan(Socket left, Socket right, Dice& dice)
      : left_(std::move(left)), right_(std::move(right)), fatal_byte_(dice.below(1500)), way_(dice.below(3)) {}

  /// Passes on what is there; how many bytes.
  std::size_t pass() {
    const std::size_t before = passed_;
    pass(left_, right_);
    pass(right_, left_);
    return passed_ - before;
  }

 private:
  void pass(const Socket& from, const Socket& to) {
    std::byte byte{};
    while (::recv(from.get(), &byte, 1, MSG_DONTWAIT) == 1) {
      const bool is_fatal = passed_++ == fatal_byte_;
      if (is_fatal && way_ == 0) byte ^= std::byte{4};
      if (is_fatal && way_ == 1) continue;
      for (int copies = is_fatal && way_ == 2 ? 2 : 1; copies > 0; --copies)
        static_cast<void>(::send(to.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
    }
  }

  Socket left_;
  Socket right_;
  std::size_t fatal_byte_;
  std::size_t way_;
  std::size_t passed_ = 0;
};

Socket accept_one(Listener& listener) {
  PollSet polls;
  listener.prepare(polls);
  static_cast<void>(polls.wait(Clock::now() + kHang));
  return std::move(listener.accept().value()->socket);
}

TEST(BootstrapFuzz, AMiddleManCannotMakeAnEndBelieveWhatWasNotSent) {
  Dice dice(7);
  const Budget budget;
  int tries = 0;
  for (; budget.allows(tries); ++tries) {
    Listener front = open_listener();
    Listener back = open_listener();
    auto initiator = std::move(Connection::dial(front.addresses().front(), Secret{})).value();
    static_cast<void>(initiator->advance());
    Socket left = accept_one(front);
    Socket right = raw_connection(back.addresses().front());
    auto acceptor = std::move(Connection::accept({accept_one(back), loopback()}, Secret{})).value();
    MiddleMan man(std::move(left), std::move(right), dice);
    const std::vector<Bytes> sent = {dice.bytes(10), dice.bytes(0), dice.bytes(300), dice.bytes(700)};
    std::vector<Bytes> got;
    bool has_sent = false;
    // Ends when all has arrived or an end has noticed. A frame cut short leaves both waiting, and nothing moves any more.
    for (int idle = 0; got.size() < sent.size() && idle < 100; ++idle) {
      if (!initiator->advance().is_ok() || !acceptor->advance().is_ok()) break;
      if (initiator->is_authenticated() && !has_sent) {
        for (const Bytes& payload : sent) initiator->send(FrameType::kBlock, payload);
        has_sent = true;
      }
      if (man.pass() > 0) idle = 0;
      if (acceptor->inbox()) got.push_back(acceptor->take()->payload);
    }
    ASSERT_LE(got.size(), sent.size());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin())) << "try " << tries;
  }
}

}  // namespace
}  // namespace hawser::bootstrap
