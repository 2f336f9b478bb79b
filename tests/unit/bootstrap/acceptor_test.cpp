// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/acceptor.h"

#include <gtest/gtest.h>

#include "bootstrap/crypto.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

/// One turn of an acceptor; gives how many connections it let through.
std::size_t turn(Acceptor& acceptor, Milliseconds wait = Milliseconds(10)) {
  PollSet polls;
  acceptor.prepare(polls);
  EXPECT_TRUE(polls.wait(std::min(acceptor.next_timer(), Clock::now() + wait)).is_ok());
  return acceptor.service(polls).size();
}

Acceptor make_acceptor(DoorLimits limits) {
  return Acceptor(std::move(Listener::open({loopback()})).value(), Secret{}, limits);
}

TEST(Acceptor, StrangersAreBoundedInNumber) {
  Acceptor acceptor = make_acceptor({.strangers = 4, .patience = kPlenty});
  std::vector<Socket> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(raw_connection(acceptor.addresses().front()));
    ASSERT_TRUE(strangers.back().is_open());
  }
  const auto first_is_dropped = [&] {
    turn(acceptor);
    EXPECT_LE(acceptor.strangers(), 4u);
    char byte = 0;
    // The hello lies there first; the end of the stream behind it shows that the oldest had to go.
    ssize_t count = 0;
    while ((count = ::recv(strangers.front().get(), &byte, 1, MSG_DONTWAIT)) == 1) {
    }
    return count == 0;
  };
  EXPECT_TRUE(eventually(first_is_dropped));
}

TEST(Acceptor, StrangersAreBoundedInTime) {
  Acceptor acceptor = make_acceptor({.strangers = 4, .patience = Milliseconds(50)});
  const Socket silent = raw_connection(acceptor.addresses().front());
  const Socket slow = raw_connection(acceptor.addresses().front());
  ASSERT_TRUE(eventually([&] { return turn(acceptor), acceptor.strangers() == 2; }));
  const std::byte drop{8};
  EXPECT_TRUE(eventually([&] {
    send_raw(slow, std::span(&drop, 1));  // a byte now and then buys no time
    turn(acceptor);
    return acceptor.strangers() == 0;
  }));
}

TEST(Acceptor, AFullDoorStillLetsThoseThroughWhoKnowTheKey) {
  Acceptor acceptor = make_acceptor({.strangers = 2, .patience = kPlenty});
  std::vector<Socket> strangers;
  for (int i = 0; i < 10; ++i) strangers.push_back(raw_connection(acceptor.addresses().front()));
  auto friendly = Connection::dial(acceptor.addresses().front(), Secret{});
  ASSERT_TRUE(friendly.is_ok());
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(friendly.value()->advance());
    return turn(acceptor) == 1;
  }));
}

TEST(Acceptor, NothingGetsThroughAClosedDoor) {
  Acceptor acceptor = make_acceptor({});
  const SocketAddress address = acceptor.addresses().front();
  acceptor.close();
  EXPECT_FALSE(raw_connection(address).is_open());
}

}  // namespace
}  // namespace hawser::bootstrap
