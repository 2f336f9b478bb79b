// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The door: takes connections from a listener and lets those through that pass the challenge. Whatever stands before it
// is bounded in number, memory and time, so that strangers cannot keep ranks out. Used by the root and by every rank.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "bootstrap/connection.h"
#include "bootstrap/socket.h"

namespace hawser::bootstrap {

/// Bounds of what strangers can occupy.
struct DoorLimits {
  std::size_t strangers = 512;                       ///< connections that have proved nothing; beyond it the oldest go
  Milliseconds patience = std::chrono::seconds(10);  ///< how long a stranger may take
};

class Acceptor {
 public:
  Acceptor(Listener listener, const Secret& key, DoorLimits limits = {})
      : listener_(std::move(listener)), key_(key), limits_(limits) {}

  [[nodiscard]] const std::vector<SocketAddress>& addresses() const { return listener_.addresses(); }
  void prepare(PollSet& polls);
  /// When service() has something to do even if nothing happens.
  [[nodiscard]] TimePoint next_timer() const;
  /// Accepts, challenges, drops, without waiting; gives the connections that have passed.
  std::vector<std::unique_ptr<Connection>> service(const PollSet& polls);
  [[nodiscard]] std::size_t strangers() const { return strangers_.size(); }
  /// Shuts the door: nothing is accepted any more, strangers are dropped.
  void close();

 private:
  struct Stranger {
    std::unique_ptr<Connection> connection;
    TimePoint since;
  };

  void accept_all();
  void greet(Incoming incoming);

  Listener listener_;
  Secret key_;
  DoorLimits limits_;
  std::deque<Stranger> strangers_;  // oldest first
  TimePoint paused_until_{};        // descriptors had run out
};

}  // namespace hawser::bootstrap
