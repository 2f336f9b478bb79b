// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace hawser::bootstrap {
namespace {

void set_option(const Socket& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.get(), level, option, &on, sizeof on);
}

Status out_of_descriptors(int error) {
  return Status(
      Code::kSystemError,
      fmt::format("no more sockets can be opened ({}): raise the limit of open files (ulimit -n)", errno_text(error)));
}

Status cannot_listen(const SocketAddress& address, int error) {
  const std::string reason = fmt::format("cannot listen on {} ({})", text_of(address), errno_text(error));
  if (error == EADDRINUSE)
    return Status(Code::kInProgress, reason + ": another program or communicator uses this port; choose another one");
  if (error == EADDRNOTAVAIL) return Status(Code::kInvalidUsage, reason + ": this host has no such address");
  return Status(Code::kSystemError, reason);
}

Status listen_on(const Socket& socket, const SocketAddress& address) {
  set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  if (address.family == Family::kIpv6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY);
  RawAddress raw = raw_address(address);
  if (::bind(socket.get(), raw.pointer(), raw.size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return cannot_listen(address, errno);
  return {};
}

}  // namespace

std::string errno_text(int error) { return std::generic_category().message(error); }

Socket::Socket(int fd) : fd_(fd), owner_(::getpid()) {}

Socket::~Socket() {
  if (fd_.is_open() && owner_ == ::getpid()) ::shutdown(fd_.get(), SHUT_RDWR);
}

Result<Socket> open_socket(Family family) {
  Socket socket(::socket(family == Family::kIpv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return out_of_descriptors(errno);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  return socket;
}

std::optional<SocketAddress> local_address(const Socket& socket) {
  RawAddress raw;
  if (::getsockname(socket.get(), raw.pointer(), &raw.size) != 0) return std::nullopt;
  return from_raw(*raw.pointer());
}

std::size_t PollSet::add(int fd, short events) {
  entries_.push_back({fd, events, 0});
  return entries_.size() - 1;
}

Status PollSet::wait(TimePoint until) {
  // Rounded up: a wait that ends a fraction of a millisecond early would spin.
  const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
  const int timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  if (::poll(entries_.data(), entries_.size(), timeout) >= 0 || errno == EINTR) return {};
  return Status(Code::kSystemError, fmt::format("poll failed ({})", errno_text(errno)));
}

bool PollSet::is_ready(std::size_t place) const { return place < entries_.size() && entries_[place].revents != 0; }

Result<Listener> Listener::open(const std::vector<SocketAddress>& addresses) {
  Listener listener;
  Status failure(Code::kSystemError, "there is no address to listen on");
  for (const SocketAddress& address : addresses) {
    Result<Socket> socket = open_socket(address.family);
    Status outcome = socket.is_ok() ? listen_on(socket.value(), address) : socket.status();
    const auto local = outcome.is_ok() ? local_address(socket.value()) : std::nullopt;
    if (!local) {
      if (!outcome.is_ok()) failure = outcome;
      continue;
    }
    listener.sockets_.push_back(std::move(socket).value());
    listener.addresses_.push_back(*local);
  }
  if (listener.sockets_.empty()) return failure;
  return listener;
}

void Listener::prepare(PollSet& polls) {
  places_.clear();
  for (const Socket& socket : sockets_) places_.push_back(polls.add(socket.get(), POLLIN));
}

bool Listener::is_ready(const PollSet& polls) const {
  return std::ranges::any_of(places_, [&](std::size_t place) { return polls.is_ready(place); });
}

Result<std::optional<Incoming>> Listener::accept() {
  for (const Socket& socket : sockets_) {
    RawAddress raw;
    const int fd = ::accept4(socket.get(), raw.pointer(), &raw.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
      return out_of_descriptors(errno);
    if (fd < 0) continue;  // nobody there, or gone again
    Incoming incoming{Socket(fd), {}};
    set_option(incoming.socket, IPPROTO_TCP, TCP_NODELAY);
    if (const auto from = from_raw(*raw.pointer())) incoming.from = *from;
    return std::optional<Incoming>(std::move(incoming));
  }
  return std::optional<Incoming>();
}

void Listener::close() {
  sockets_.clear();
  places_.clear();
}

}  // namespace hawser::bootstrap
