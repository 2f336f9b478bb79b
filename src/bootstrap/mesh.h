// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A rank's connections to its neighbours at distance 2^k. Opened when first wanted; the rank that connects sends blocks,
// the rank that was connected to receives them; news of a failure and goodbyes go both ways.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "bootstrap/acceptor.h"
#include "bootstrap/deadline.h"
#include "bootstrap/dialer.h"
#include "bootstrap/messages.h"
#include "bootstrap/roster.h"

namespace hawser::bootstrap {

/// The key that connections to one rank's listener are challenged with.
Secret peer_key(const Secret& communicator_secret, const Member& acceptor);

/// Why a rank connects to a neighbour.
enum class Purpose : std::uint8_t {
  kBlocks,  ///< to send to it
  kProbe,   ///< to see whether it lives, since it has not connected itself; dropped when it does
};

class Mesh {
 public:
  /// `self` is where `listener` is.
  Mesh(const Member& self, const Secret& secret, const Table& table, Listener listener);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  /// Takes leave of the neighbours, without waiting.
  ~Mesh();

  /// Starts to connect to a neighbour if there is no connection yet. kRemoteError if it has left.
  Status open_way_to(int rank, Purpose purpose);
  /// The connection that carries blocks to a neighbour; null until it stands, and after the neighbour has left.
  [[nodiscard]] Connection* way_to(int rank) { return neighbors_.at(rank).out.get(); }
  /// Whether a neighbour has connected to this rank.
  [[nodiscard]] bool has_way_from(int rank) const { return neighbors_.at(rank).in != nullptr; }
  /// The next frame of a neighbour that connected to this rank, if one has arrived.
  Result<std::optional<Frame>> take_from(int rank);
  /// Waits once, until something happens, until `until` or the deadline's next look, and moves everything on.
  /// kRemoteError, naming the neighbour, when one dies or reports a failure.
  Status turn(const Deadline& deadline, TimePoint until);
  /// Tells all neighbours why this rank fails (what it has heard from another, if it has), and closes everything.
  void fail(const std::string& reason);

  [[nodiscard]] std::string describe_way_to(int rank) const;
  [[nodiscard]] std::string describe_way_from(int rank) const;

 private:
  struct Neighbor {
    Member member;
    std::unique_ptr<Dialer> dialer;  // while `out` is being made
    Purpose purpose = Purpose::kBlocks;
    std::unique_ptr<Connection> out;  // this rank connected
    std::unique_ptr<Connection> in;   // the neighbour connected
    bool has_left = false;
  };
  /// Has passed the challenge, has not said yet who it is.
  struct Newcomer {
    std::unique_ptr<Connection> connection;
    TimePoint since;
  };

  [[nodiscard]] TimePoint next_timer() const;
  void prepare(PollSet& polls);
  void serve_newcomers();
  void seat(std::unique_ptr<Connection> connection, const Frame& frame);
  Status serve_dialer(Neighbor& neighbor, const PollSet& polls);
  Status serve(Neighbor& neighbor, std::unique_ptr<Connection>& connection);
  Status heed(Neighbor& neighbor, std::unique_ptr<Connection>& connection);
  void close_all(FrameType last_word, const std::vector<std::byte>& payload);

  Member self_;
  Secret secret_;
  std::uint64_t host_;
  Acceptor acceptor_;
  PollSet polls_;
  std::vector<Newcomer> newcomers_;
  std::map<int, Neighbor> neighbors_;
  std::optional<Abort> heard_;  // the failure that a neighbour reported
};

}  // namespace hawser::bootstrap
