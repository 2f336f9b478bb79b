// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Non-blocking TCP sockets, listeners, and the set of descriptors that one poll(2) waits for.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/deadline.h"

namespace hawser::bootstrap {

/// "connection refused" and the like, for messages.
std::string errno_text(int error);

/// Owns a socket. Its end is an orderly shutdown even if a forked child has inherited the descriptor (a plain close
/// would leave the peer waiting for that child); in such a child its end is a plain close.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  Socket(Socket&& other) noexcept : fd_(std::move(other.fd_)), owner_(other.owner_) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] int get() const { return fd_.get(); }
  [[nodiscard]] bool is_open() const { return fd_.is_open(); }

 private:
  Fd fd_;
  pid_t owner_ = -1;
};

/// A non-blocking, close-on-exec TCP socket. kSystemError, with the remedy if descriptors have run out.
Result<Socket> open_socket(Family family);
/// The address that the kernel gave to this end; nothing if it does not say.
std::optional<SocketAddress> local_address(const Socket& socket);

/// One poll(2) after the other: filled anew before each.
class PollSet {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Adds a descriptor and gives its place.
  std::size_t add(int fd, short events);
  /// Waits for any of them or until `until`. kSystemError if the kernel refuses.
  Status wait(TimePoint until);
  /// Whether something happened there. False for kNone.
  [[nodiscard]] bool is_ready(std::size_t place) const;
  void clear() { entries_.clear(); }

 private:
  std::vector<pollfd> entries_;
};

/// A connection that came in, before it has proved anything.
struct Incoming {
  Socket socket;
  SocketAddress from;
};

/// Listens on several addresses.
class Listener {
 public:
  /// Listens on every one of `addresses` that the kernel lets it (port 0: any). Fails with the kernel's reason, naming
  /// the address, if that is none; kInProgress if another socket holds the port.
  static Result<Listener> open(const std::vector<SocketAddress>& addresses);

  /// With the ports that were given.
  [[nodiscard]] const std::vector<SocketAddress>& addresses() const { return addresses_; }
  void prepare(PollSet& polls);
  [[nodiscard]] bool is_ready(const PollSet& polls) const;
  /// The next connection, if one is waiting. kSystemError when descriptors have run out.
  Result<std::optional<Incoming>> accept();
  /// No connection comes in any more.
  void close();

 private:
  std::vector<Socket> sockets_;
  std::vector<std::size_t> places_;
  std::vector<SocketAddress> addresses_;
};

}  // namespace hawser::bootstrap
