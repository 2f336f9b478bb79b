// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The serving end of perf/common/run_protocol.h: a small key-value store and a gather, through which the ranks of one
// job pass on the unique id. No I/O: the supervisor feeds what ranks sent and writes what is due to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hawser::run {

/// Everything that arrives is parsed as hostile: a malformed frame fails, and the rank's connection is then to be
/// closed. One thread.
class Switchboard {
 public:
  explicit Switchboard(int ranks) : peers_(static_cast<std::size_t>(ranks)) {}

  /// Bytes that `rank` sent. kInvalidArgument, with a sentence for the user, if they are not what the protocol allows;
  /// call leave() then.
  Status receive(int rank, std::string_view bytes);
  /// The rank's connection has closed. Questions that only this rank could have answered are refused.
  void leave(int rank);
  /// Bytes due to `rank`; valid until the next call. wrote() drops what has been sent.
  [[nodiscard]] std::string_view due(int rank) const { return peer(rank).output; }
  /// The first `bytes` of due() have been sent. May take up a question that waited for room.
  Status wrote(int rank, std::size_t bytes);

 private:
  enum class Waiting : std::uint8_t { kNothing, kKey, kGather };
  struct Peer {
    std::string input;
    std::string output;
    std::string value;  ///< what it gave to the gather it waits in, or the key it waits for
    Waiting waiting = Waiting::kNothing;
    bool has_left = false;
  };

  [[nodiscard]] const Peer& peer(int rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  Status take_questions(Peer& asking);
  Status answer(Peer& asking, std::uint8_t verb, std::string_view body);
  Status put(Peer& asking, std::string_view body);
  Status get(Peer& asking, std::string_view body);
  Status gather(Peer& asking, std::string_view body);
  void finish_gather();
  void refuse_hopeless();

  std::vector<Peer> peers_;
  std::map<std::string, std::string, std::less<>> store_;
  std::size_t stored_bytes_ = 0;
};

}  // namespace hawser::run
