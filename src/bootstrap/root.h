// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The root: serves one communicator's ranks until each has been told of its partners, or why there will be none. One
// thread runs it; it never waits for any single connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "bootstrap/acceptor.h"
#include "bootstrap/deadline.h"
#include "bootstrap/roster.h"
#include "bootstrap/unique_id.h"

namespace hawser::bootstrap {

class Root {
 public:
  /// A root that listens already; serve() has to be called for anybody to be answered. kSystemError if the kernel lacks
  /// descriptors or random numbers.
  static Result<std::unique_ptr<Root>> create(Listener listener, const Secret& id_secret, RootKind kind);

  [[nodiscard]] const std::vector<SocketAddress>& addresses() const { return acceptor_.addresses(); }
  /// Returns when every rank has been told, when the limit of the ranks that have joined has passed, or soon after a
  /// stop is requested. Before the first rank joins it waits without limit: a program may make its id long before.
  void serve(const std::stop_token& stop);

 private:
  struct Guest {
    std::unique_ptr<Connection> connection;
    TimePoint since;
    std::optional<int> rank;  // once it has joined
    bool is_told = false;     // all that it is to be told is queued
  };

  Root(Acceptor acceptor, Fd wake, const Secret& nonce, RootKind kind);
  void turn();
  [[nodiscard]] TimePoint next_timer() const;
  void serve_guest(Guest& guest, const PollSet& polls);
  void take_frame(Guest& guest);
  void take_join(Guest& guest, const JoinRequest& request);
  void lose(Guest& guest, const std::string& why);
  void check_timers();
  void tell_tables();
  void refuse(Refusal refusal);
  void tell_refusal(Guest& guest);
  [[nodiscard]] bool is_done() const;

  Acceptor acceptor_;
  Fd wake_;  // an eventfd, written when a stop is requested
  Secret nonce_;
  RootKind kind_;
  Roster roster_;
  std::vector<Guest> guests_;
  std::optional<Refusal> refusal_;
  bool is_settled_ = false;             // all tables or a refusal are queued
  int told_ = 0;                        // ranks that have been told of the refusal
  TimePoint limit_ = TimePoint::max();  // for ranks to join; then for those that linger
  std::uint32_t limit_ms_ = 0;          // the setting that limit_ comes from
};

}  // namespace hawser::bootstrap
