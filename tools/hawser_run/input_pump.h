// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Passes a terminal's input on to rank 0. Ranks are background process groups, which may not read the terminal
// themselves; any other kind of stdin is simply inherited by rank 0.
#pragma once

#include <poll.h>

#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace hawser::run {

class InputPump {
 public:
  /// Does nothing unless stdin is a terminal. kSystemError if no pipe can be had.
  Status open();
  /// What rank 0 is to have as its stdin.
  [[nodiscard]] int rank_0_stdin() const { return for_rank_.is_open() ? for_rank_.get() : STDIN_FILENO; }
  /// Rank 0 has been started and holds its own end.
  void started() { for_rank_.reset(); }
  /// What to wait for; fd -1: nothing now.
  [[nodiscard]] pollfd interest() const;
  /// Moves what can be moved without blocking, after interest() has come true.
  void move();

 private:
  Fd to_rank_;
  Fd for_rank_;
  std::string pending_;
  bool has_ended_ = false;
};

}  // namespace hawser::run
