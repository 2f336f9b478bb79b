// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the tests of src/bootstrap share: configurations that stay on loopback, ranks as threads, raw sockets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/deadline.h"
#include "bootstrap/socket.h"
#include "bootstrap/unique_id.h"

namespace hawser::bootstrap {

/// Far longer than anything here takes, and short enough that a hang fails the test.
inline constexpr Milliseconds kPlenty{30'000};

inline Config loopback_config(Milliseconds limit = kPlenty) {
  Config config;
  config.socket_ifname = "=lo";
  config.socket_family = "AF_INET";
  config.init_timeout = limit;
  return config;
}

inline SocketAddress loopback(std::uint16_t port = 0) {
  SocketAddress address;
  address.family = Family::kIpv4;
  address.bytes[0] = std::byte{127};
  address.bytes[3] = std::byte{1};
  address.port = port;
  return address;
}

/// Runs `body(rank)` for every rank on a thread of its own and gives what they return.
template <class Body>
std::vector<Status> on_ranks(int ranks, const Body& body) {
  std::vector<Status> outcomes(static_cast<std::size_t>(ranks));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] { outcomes[static_cast<std::size_t>(rank)] = body(rank); });
  }
  return outcomes;
}

/// What rank r gives to all_gather number `call`: sizes differ, some are empty.
inline std::vector<std::byte> blob_of(int rank, int call) {
  const std::size_t size = static_cast<std::size_t>((rank * 37 + call * 11) % 5) * 1000;
  std::vector<std::byte> blob(size);
  for (std::size_t i = 0; i < size; ++i)
    blob[i] = static_cast<std::byte>((static_cast<std::size_t>(rank) * 7 + i + static_cast<std::size_t>(call)) & 0xff);
  return blob;
}

/// all_gather number `call` of this rank, checked against what every rank gives.
inline Status gather_and_check(Bootstrap& bootstrap, int call) {
  const auto blobs = HAWSER_TRY_VALUE(bootstrap.all_gather(blob_of(bootstrap.rank(), call)));
  if (static_cast<int>(blobs.size()) != bootstrap.ranks()) return Status(Code::kInternalError, "wrong number of blobs");
  for (int rank = 0; rank < bootstrap.ranks(); ++rank) {
    if (blobs[static_cast<std::size_t>(rank)] != blob_of(rank, call))
      return Status(Code::kInternalError, "wrong blob of rank " + std::to_string(rank));
  }
  return {};
}

inline void expect_all_ok(const std::vector<Status>& outcomes) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    EXPECT_TRUE(outcomes[rank].is_ok()) << "rank " << rank << ": " << outcomes[rank].message();
}

/// A blocking TCP connection that has proved nothing.
inline Socket raw_connection(const SocketAddress& to) {
  Socket socket(::socket(to.family == Family::kIpv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  RawAddress raw = raw_address(to);
  if (::connect(socket.get(), raw.pointer(), raw.size) != 0) return Socket();
  return socket;
}

inline void send_raw(const Socket& socket, std::span<const std::byte> bytes) {
  static_cast<void>(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

/// Waits for `condition` without a fixed sleep; false if it does not come true in time.
inline bool eventually(const std::function<bool()>& condition, Milliseconds limit = kPlenty) {
  const TimePoint end = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Raises the soft limit of open files as far as it goes; whether at least `count` can be opened.
inline bool can_open_files(rlim_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max >= count;
}

}  // namespace hawser::bootstrap
