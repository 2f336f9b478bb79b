// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/input_pump.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace hawser::run {

Status InputPump::open() {
  if (::isatty(STDIN_FILENO) != 1) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {Code::kSystemError, fmt::format("pipe2 for rank 0's input: {}", std::strerror(errno))};
  for_rank_ = Fd(ends[0]);
  to_rank_ = Fd(ends[1]);
  ::fcntl(to_rank_.get(), F_SETFL, O_NONBLOCK);
  return {};
}

pollfd InputPump::interest() const {
  if (!to_rank_.is_open()) return {-1, 0, 0};
  if (!pending_.empty()) return {to_rank_.get(), POLLOUT, 0};
  // In the background, reading the terminal would stop us.
  const bool may_read = !has_ended_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  return {may_read ? STDIN_FILENO : -1, POLLIN, 0};
}

void InputPump::move() {
  if (pending_.empty()) {
    char buffer[4096];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (got > 0) pending_.assign(buffer, static_cast<std::size_t>(got));
    has_ended_ = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
  }
  if (!pending_.empty()) {
    const ssize_t sent = ::write(to_rank_.get(), pending_.data(), pending_.size());
    if (sent > 0) pending_.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) {  // rank 0 has closed its stdin
      pending_.clear();
      has_ended_ = true;
    }
  }
  if (has_ended_ && pending_.empty()) to_rank_.reset();
}

}  // namespace hawser::run
