// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/dialer.h"

#include <gmock/gmock.h>

#include "bootstrap/acceptor.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SocketAddress closed_address() {
  auto listener = Listener::open({loopback()});
  const SocketAddress address = listener.value().addresses().front();
  listener.value().close();
  return address;
}

/// Drives a dialer, and an acceptor if there is one, until the dialer has a connection or gives up.
Status drive(Dialer& dialer, std::unique_ptr<Connection>& found, Acceptor* acceptor = nullptr) {
  const TimePoint end = Clock::now() + kPlenty;
  std::vector<std::unique_ptr<Connection>> admitted;
  while (Clock::now() < end) {
    PollSet polls;
    dialer.prepare(polls);
    if (acceptor != nullptr) acceptor->prepare(polls);
    HAWSER_TRY(polls.wait(std::min(dialer.next_timer(), end)));
    if (acceptor != nullptr) {
      for (auto& connection : acceptor->service(polls)) admitted.push_back(std::move(connection));
    }
    HAWSER_TRY(dialer.service(polls));
    found = dialer.take();
    if (found) return {};
  }
  return Status(Code::kTimeout, "the test's patience is over");
}

TEST(Dialer, FindsTheAddressThatWorks) {
  Acceptor acceptor(std::move(Listener::open({loopback()})).value(), Secret{});
  Acceptor silent(std::move(Listener::open({loopback()})).value(), Secret{});  // accepts in the kernel, never answers
  Dialer dialer({closed_address(), silent.addresses().front(), acceptor.addresses().front()}, Secret{},
                Refusals::kAreFinal);
  std::unique_ptr<Connection> found;
  const Status outcome = drive(dialer, found, &acceptor);
  ASSERT_TRUE(outcome.is_ok()) << outcome.message();
  EXPECT_EQ(found->peer(), acceptor.addresses().front());
}

TEST(Dialer, GivesUpWhenEveryAddressRefuses) {
  const SocketAddress first = closed_address();
  const SocketAddress second = closed_address();
  Dialer dialer({first, second}, Secret{}, Refusals::kAreFinal);
  std::unique_ptr<Connection> found;
  const TimePoint begun = Clock::now();
  const Status outcome = drive(dialer, found);
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr(text_of(first) + " cannot be reached (Connection refused)"));
  EXPECT_THAT(outcome.message(), HasSubstr(text_of(second) + " cannot be reached (Connection refused)"));
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(10));
}

TEST(Dialer, WaitsForOneWhoMayStillCome) {
  const SocketAddress address = closed_address();
  Dialer dialer({address}, Secret{}, Refusals::kArePassing);
  PollSet polls;
  dialer.prepare(polls);  // refused
  Acceptor acceptor(std::move(Listener::open({address})).value(), Secret{});
  std::unique_ptr<Connection> found;
  EXPECT_TRUE(drive(dialer, found, &acceptor).is_ok());
}

TEST(Dialer, DoesNotWaitForOneWhoKnowsAnotherSecret) {
  Secret other{};
  other.fill(std::byte{1});
  Acceptor acceptor(std::move(Listener::open({loopback()})).value(), other);
  Dialer dialer({acceptor.addresses().front()}, Secret{}, Refusals::kArePassing);
  std::unique_ptr<Connection> found;
  const Status outcome = drive(dialer, found, &acceptor);
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("HAWSER_SECRET"));
}

TEST(Dialer, LoopbackIsForTheSameHost) {
  SocketAddress network = loopback(1);
  network.bytes[0] = std::byte{10};
  const SocketAddress local = loopback(2);
  EXPECT_THAT(candidates_for({network, local}, 5, 5), ElementsAre(local, network));
  EXPECT_THAT(candidates_for({local, network}, 5, 6), ElementsAre(network));
  EXPECT_THAT(candidates_for({local}, 5, 6), ElementsAre(local));
  EXPECT_THAT(candidates_for({network, local}, 0, 6), ElementsAre(network, local));
}

}  // namespace
}  // namespace hawser::bootstrap
