// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Finds a way to one peer among its addresses, by trying: one after the other with a short head start, all at once in
// the end; the first that passes the challenge wins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/connection.h"
#include "bootstrap/socket.h"

namespace hawser::bootstrap {

/// What it means that every address refuses.
enum class Refusals : std::uint8_t {
  kAreFinal,    ///< the peer is gone: it listened before its addresses were known
  kArePassing,  ///< the peer may not have started yet
};

class Dialer {
 public:
  Dialer(const std::vector<SocketAddress>& candidates, const Secret& key, Refusals refusals);

  /// Starts what is due and registers what is under way.
  void prepare(PollSet& polls);
  [[nodiscard]] TimePoint next_timer() const;
  /// Goes on without waiting. kRemoteError, with every address and what is wrong with it, when there is no hope left;
  /// kSystemError if no socket can be opened.
  Status service(const PollSet& polls);
  /// The connection, once one has passed the challenge.
  [[nodiscard]] std::unique_ptr<Connection> take() { return std::move(winner_); }
  /// "127.0.0.1:80 cannot be reached (connection refused); ...".
  [[nodiscard]] std::string describe() const;

 private:
  struct Attempt {
    SocketAddress to;
    std::unique_ptr<Connection> connection;  // while under way
    TimePoint due;                           // when to start, or to give up connecting
    Milliseconds pause{0};
    std::string failure;  // of the latest try
    Prospect prospect = Prospect::kMaybe;
  };

  void start(Attempt& attempt);
  Status advance(Attempt& attempt, const PollSet& polls);
  void give_up(Attempt& attempt, std::string why);
  void hurry();
  [[nodiscard]] bool is_hopeless() const;

  Secret key_;
  Refusals refusals_;
  TimePoint begun_ = Clock::now();
  std::vector<Attempt> attempts_;
  Status broken_;
  std::unique_ptr<Connection> winner_;
};

/// The addresses of a peer in the order in which to try them: loopback first if it is on this host, otherwise last, and
/// only if there is nothing else.
std::vector<SocketAddress> candidates_for(const std::vector<SocketAddress>& addresses, std::uint64_t peer_host,
                                          std::uint64_t own_host);

}  // namespace hawser::bootstrap
